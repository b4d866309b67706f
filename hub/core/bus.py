"""The event bus over Valkey/Redis: one publisher, one subscriber helper.

Events are hints that something changed, never the change itself: PostgreSQL holds the truth, and a lost event costs
a reader one poll. Topics look like ``document:doc_…`` and ``review:rev_…``.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from functools import cache
from typing import Any

import redis
import redis.asyncio
from django.conf import settings

from hub.core.embedded import EmbeddedServerError
from hub.core.valkey import ensure_queue

logger = logging.getLogger(__name__)

CHANNEL_PREFIX = "hub:events:"
KEEP_ALIVE_S = 10.0


@cache
def _started() -> redis.Redis:
    ensure_queue()
    return _client()


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_CLIENT_URL, socket_timeout=2, socket_connect_timeout=2)


def publish(topic: str, event: dict[str, Any], *, wake: bool = True) -> bool:
    """Send a JSON-able event to everyone who listens to ``topic`` now; False (and a log line) when the bus is down.

    Without ``wake`` an embedded bus is not started: while it does not run nobody listens.
    """
    try:
        client = _started() if wake else _client()
        client.publish(CHANNEL_PREFIX + topic, json.dumps(event, ensure_ascii=False))
    except (redis.RedisError, EmbeddedServerError) as error:
        logger.log(logging.WARNING if wake else logging.INFO, "event on %s not published: %s", topic, error)
        return False
    return True


async def subscribe(
    *topics: str, keep_alive_s: float = KEEP_ALIVE_S
) -> AsyncGenerator[tuple[str, dict[str, Any]] | None, None]:
    """Yield ``(topic, event)`` as they come, and None after each ``keep_alive_s`` seconds of silence.

    ``*`` at the end of a topic matches any rest. Ends with redis.RedisError when the bus goes away.
    """
    client = redis.asyncio.Redis.from_url(settings.REDIS_CLIENT_URL)
    pubsub = client.pubsub()
    try:
        await pubsub.psubscribe(*(CHANNEL_PREFIX + topic for topic in topics))
        # redis-py swallows a cancellation that comes while it connects; asyncio keeps count of it
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise asyncio.CancelledError
        while True:
            message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=keep_alive_s)
            if message is None:
                yield None
                await asyncio.sleep(0)
                continue
            topic = message["channel"].decode().removeprefix(CHANNEL_PREFIX)
            yield topic, json.loads(message["data"])
    finally:
        await pubsub.aclose()  # type: ignore[no-untyped-call]
        await client.aclose()
