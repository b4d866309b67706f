"""Signs of life of beat: each piece of scheduled work that it sends, since a process that lives may send nothing.

While none comes nothing is swept, sealed, kept or alerted. The moments are of the queue's clock, which all ask.
"""

from __future__ import annotations

import logging
import math
from contextlib import suppress

import redis
from django.conf import settings

from hub.core.valkey import client_of

logger = logging.getLogger(__name__)

# Both go when the queue is emptied; five seconds later the first is there again, or beat sends nothing.
SENT_KEY = "hub:beat:sent"
MISSED_KEY = "hub:beat:missed"
GONE_AFTER_S = 60.0


def give_sign() -> None:
    """Keep that scheduled work was sent just now; where that can't be kept, the log says so."""
    client = client_of(settings.REDIS_CLIENT_URL)
    try:
        client.set(SENT_KEY, _now(client))
        client.delete(MISSED_KEY)
    except redis.RedisError as error:
        logger.warning("beat's sign of life could not be written: %s", error)


def sent_seconds_ago() -> float | None:
    """Give how long ago beat sent something; None when it never has, or the queue was emptied since.

    What is kept and is no moment until now says nothing either.

    :raises redis.RedisError: Valkey is away.
    """
    return _seconds_since(SENT_KEY, client_of(settings.REDIS_CLIENT_URL))


def silent_seconds() -> float:
    """Give how long nothing has been heard of beat: since it sent something, or since that was first missed.

    :raises redis.RedisError: Valkey is away.
    """
    ago = sent_seconds_ago()
    if ago is not None:
        return ago
    client = client_of(settings.REDIS_CLIENT_URL)
    missed = _seconds_since(MISSED_KEY, client)
    if missed is None:
        client.set(MISSED_KEY, _now(client))
    return missed or 0.0


def _seconds_since(key: str, client: redis.Redis) -> float | None:
    """How long ago the moment was that is kept there; None for none, and for what is no finite number or to come."""
    kept, ago = client.get(key), math.nan
    if kept is None:
        return None
    with suppress(ValueError):
        ago = _now(client) - float(kept)
    return ago if 0 <= ago < math.inf else None


def _now(client: redis.Redis) -> float:
    seconds, microseconds = client.time()
    return float(seconds) + float(microseconds) / 1_000_000
