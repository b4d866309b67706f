"""Signs of life of beat, which starts scheduled work: while it is dead, nothing is swept, sealed, kept or alerted."""

from __future__ import annotations

import logging
import threading
from time import time as clock

import redis
from django.conf import settings

from hub.core.valkey import client_of

logger = logging.getLogger(__name__)

KEY = "hub:beat:seen"
EVERY_S = 10.0
GONE_AFTER_S = 60.0
# Emptied with the queue; a minute later it is there again, or beat is away.
_stopping = threading.Event()


def give_signs() -> None:
    """Write a sign every few seconds, from a thread of its own, as long as this process lives."""
    threading.Thread(target=_give, name="beat-signs", daemon=True).start()


def _give() -> None:
    while not _stopping.is_set():
        try:
            client_of(settings.REDIS_CLIENT_URL).set(KEY, clock())
        except redis.RedisError as error:
            logger.warning("beat's sign of life could not be written: %s", error)
        _stopping.wait(EVERY_S)


def seen_seconds_ago() -> float | None:
    """Give how long ago beat gave its last sign; None when it never has, or the queue was emptied.

    :raises redis.RedisError: Valkey is away.
    """
    value = client_of(settings.REDIS_CLIENT_URL).get(KEY)
    return max(0.0, clock() - float(value)) if value else None
