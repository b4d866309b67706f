"""The embedded queue, and connections to the cache that last longer than a request."""

from __future__ import annotations

import json
from functools import cache, cached_property
from typing import Any, Self

from django.conf import settings
from redis import ConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from hub.core.embedded import shared_valkey


def ensure_queue() -> None:
    """Have a queue to talk to: starts the embedded Valkey when nobody has yet. Safe to call again at any time."""
    if settings.EMBEDDED_QUEUE:
        shared_valkey(settings.HUB_DATA_DIR / "valkey").ensure()


class SharedPool(ConnectionPool):
    """The ``pool_class`` of CACHES: one pool in a process for the same address and options, for all its threads.

    Under ASGI Django makes a cache object for every request, and each would have connections of its own: connecting
    took longer than what was asked of Valkey. A forked process connects anew, and so does a connection that the server
    closed.
    """

    @classmethod
    @cache
    def from_url(cls, url: str, **options: Any) -> Self:  # noqa: ANN401 - as its base has it
        """Give the pool of an address; all options can be hashed."""
        return super().from_url(url, **options)

    @cached_property
    def client(self) -> Redis:
        """A client of the pool: making one, as Django does for each command, takes longer than most commands."""
        return Redis(connection_pool=self)


class JsonValues:
    """The ``serializer`` of CACHES: values are JSON. Reading a pickle, as Django does, runs what who wrote it likes."""

    def dumps(self, value: object) -> bytes | int:
        """Write a value; whole numbers as they are, so that the server can count with them."""
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:  # noqa: ANN401 (any JSON)
        """Read a value. :raises ValueError: it is no JSON."""
        return json.loads(data)


@cache
def client_of(url: str) -> Redis:
    """This process's client that gives up at once: by default it would try again for seconds, with the work waiting."""
    once = Retry(NoBackoff(), 0)
    return Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1, retry=once)
