"""Signs of life of beat: each piece of scheduled work that it sends, since a process that lives may send nothing.

While none comes nothing is swept, sealed, kept or alerted. The moments are of the queue's clock, which all ask.
"""

from __future__ import annotations

import logging

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

    :raises redis.RedisError: Valkey is away.
    """
    client = client_of(settings.REDIS_CLIENT_URL)
    sent = client.get(SENT_KEY)
    return max(0.0, _now(client) - float(sent)) if sent else None


def silent_seconds() -> float:
    """Give how long nothing has been heard of beat: since it sent something, or since that was first missed.

    :raises redis.RedisError: Valkey is away.
    """
    ago = sent_seconds_ago()
    if ago is not None:
        return ago
    client = client_of(settings.REDIS_CLIENT_URL)
    now = _now(client)
    client.set(MISSED_KEY, now, nx=True)
    return max(0.0, now - float(client.get(MISSED_KEY) or now))


def _now(client: redis.Redis) -> float:
    seconds, microseconds = client.time()
    return float(seconds) + float(microseconds) / 1_000_000
