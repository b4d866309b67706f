"""Who is connected over MCP, and what went wrong last: each server process tells it, any process can list it.

Kept in Valkey, under one key for each process that vanishes by itself when the process does. It is for people to look
at: nothing rests on it, and a call never waits for it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

import redis
from django.conf import settings

from hub.access.principals import HubRight, Principal
from hub.core.ids import new_id
from mcp_bridge.threads import in_thread

logger = logging.getLogger(__name__)

KEY_PREFIX = "hub:mcp:connections:"
PUBLISH_EVERY_S = 3.0
REFRESH_S = 20.0
KEPT_S = 60
LIVE_WITHIN_S = 90.0  # a client of 2026-07-28 has no session: it counts as connected for this long after a request
FORGOTTEN_AFTER_S = 3600.0
MOST_CLIENTS = 200  # of one process
MOST_ERROR_CHARS = 300
Transport = Literal["http", "stdio"]


@dataclass(slots=True, kw_only=True)
class Connection:
    """One client of one server as one process knows it. Times are seconds since 1970; ``open`` requests run now."""

    server: str
    transport: Transport
    protocol: str
    client: str
    user: str
    user_id: int | None
    address: str
    process: str = ""
    first_seen: float = 0.0
    last_seen: float = 0.0
    requests: int = 0
    open: int = 0
    errors: int = 0
    last_error: str = ""
    last_error_at: float = 0.0

    @property
    def is_refused(self) -> bool:
        """Whether it never came as far as the protocol: no valid token, a body that is too large."""
        return not self.protocol

    @property
    def is_live(self) -> bool:
        """Whether something runs, the client's own process is there (stdio), or it asked something lately."""
        if self.is_refused:
            return False
        return self.transport == "stdio" or self.open > 0 or time.time() - self.last_seen < LIVE_WITHIN_S

    @property
    def last_seen_at(self) -> datetime:
        return datetime.fromtimestamp(self.last_seen, UTC)

    @property
    def failed_at(self) -> datetime | None:
        return datetime.fromtimestamp(self.last_error_at, UTC) if self.last_error else None

    def __str__(self) -> str:
        # What a client says of itself may hold anything: a line break must not begin a line of the log.
        who = f"{self.client!r} of {self.user or 'nobody known'}"
        return f"{who} at {self.address or 'this machine'}, {self.transport} to {self.server} {self.protocol}".rstrip()

    def fail(self, message: str) -> None:
        """Remember what went wrong, and log it."""
        self.errors += 1
        logger.info("failed: %s: %r", self, message[:MOST_ERROR_CHARS])
        self.last_error, self.last_error_at = message[:MOST_ERROR_CHARS], time.time()


class ConnectionLog:
    """What this process knows of its clients; :meth:`telling` keeps the others informed."""

    def __init__(self) -> None:
        self._process = f"{socket.gethostname()}:{os.getpid()}"
        self._key = KEY_PREFIX + new_id("prc")
        self._clients: dict[tuple[object, ...], Connection] = {}
        self._is_changed = False

    @contextmanager
    def request_of(self, client: Connection) -> Iterator[Connection]:
        """Count a request for as long as it runs; gives the kept row of this client, to :meth:`Connection.fail` on."""
        kept = self._kept(client)
        kept.open += 1
        kept.requests += 1
        self._touch(kept)
        try:
            yield kept
        finally:
            kept.open -= 1
            self._touch(kept)

    def _kept(self, client: Connection) -> Connection:
        key = (client.server, client.transport, client.protocol, client.client, client.user_id, client.address)
        if key not in self._clients:
            self._make_room()
            client.process, client.first_seen = self._process, time.time()
            self._clients[key] = client
            if not client.is_refused:
                logger.info("connected: %s", client)
        return self._clients[key]

    def _make_room(self) -> None:
        now = time.time()
        idle = [key for key, one in self._clients.items() if not one.open and now - one.last_seen > FORGOTTEN_AFTER_S]
        for key in idle:
            logger.info("not seen for an hour: %s", self._clients.pop(key))
        if len(self._clients) >= MOST_CLIENTS:
            del self._clients[min(self._clients, key=lambda key: self._clients[key].last_seen)]

    def _touch(self, client: Connection) -> None:
        client.last_seen = time.time()
        self._is_changed = True

    @asynccontextmanager
    async def published(self) -> AsyncIterator[None]:
        """Publish the list to other processes while the block runs: changes within three seconds."""
        task = asyncio.create_task(self._publish_forever(), name="mcp-connections")
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await in_thread(self.forget)

    async def _publish_forever(self) -> None:
        published_at = 0.0
        while True:
            await asyncio.sleep(PUBLISH_EVERY_S)
            if self._clients and (self._is_changed or time.monotonic() - published_at > REFRESH_S):
                self._is_changed = False
                published_at = time.monotonic()
                await in_thread(self.publish)

    def publish(self) -> None:
        """Put this process's clients into the list as they are now; only a log line where Valkey is away."""
        text = json.dumps([asdict(one) for one in list(self._clients.values())])
        try:
            _client().set(self._key, text, ex=KEPT_S)
        except redis.RedisError as error:
            logger.info("the list of MCP connections is not published: %s", error)

    def forget(self) -> None:
        """Take this process's clients out of the list."""
        if self._clients:
            with suppress(redis.RedisError):
                _client().delete(self._key)


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_CLIENT_URL, socket_timeout=2, socket_connect_timeout=2)


def list_connections(principal: Principal) -> list[Connection]:
    """The clients of all processes, those seen last first: the caller's own, for some everybody's.

    Operators and administrators of people are given those of everybody, and what was refused before anybody knew whose
    it was, such as an expired token. Raises
    redis.RedisError when Valkey is away.
    """
    client = _client()
    keys = sorted(client.scan_iter(match=KEY_PREFIX + "*", count=500))
    texts: list[Any] = client.mget(keys) if keys else []
    everyone = [Connection(**row) for text in texts if text for row in json.loads(text)]
    sees_all = principal.may_any(HubRight.PEOPLE, HubRight.OPERATION)
    mine = [one for one in everyone if sees_all or (one.user_id is not None and one.user_id == principal.user_id)]
    return sorted(mine, key=lambda one: one.last_seen, reverse=True)
