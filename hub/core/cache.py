"""Connections to the cache that last longer than a request.

Under ASGI Django makes a cache object for every request, and each would have connections of its own: connecting to
Valkey took longer than what was asked of it.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, Self

from redis import ConnectionPool, Redis


class SharedPool(ConnectionPool):
    """The ``pool_class`` of CACHES: one pool in a process for the same address and options, for all its threads.

    A forked process connects anew, and so does a connection that the server closed.
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
