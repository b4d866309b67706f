"""Rate limits: fixed windows of one minute, counted in the cache (Valkey or Redis) for all processes together."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from django.conf import settings
from django.core.cache import cache, caches
from django.core.cache.backends.base import BaseCache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from redis import RedisError
from redis.asyncio import Redis

from hub.access.principals import Principal
from hub.core.errors import RateLimited
from hub.core.valkey import SharedPool

logger = logging.getLogger(__name__)

WINDOW_S = 60
PAUSE_AFTER_FAILURE_S = 10.0
MOST_IN_BLOCK = 10
MOST_BLOCKS = 10_000
# In one command, which costs the client a quarter of two; kept for two windows, so that no key expires inside its own.
_INCREMENT = """
local used = redis.call('INCRBY', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return used
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateWindow:
    """What is left of the running minute; ``reset_s`` is the number of whole seconds (at least 1) until the next."""

    limit: int
    used: int
    reset_s: int

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)

    @property
    def is_exceeded(self) -> bool:
        return self.used > self.limit


class RateLimiter:
    """Counts calls by subject.

    They are counted in blocks of a hundredth of the limit (10 at most), so that most calls ask the cache nothing. No
    call is served beyond the limit; where several processes serve a caller, each may refuse a block too early.

    A cache that is down must not take the API down with it: the call goes on uncounted, a warning is logged, and
    the cache is left alone for 10 s, so that a hanging cache (its socket timeout is 2 s) does not slow every call.
    """

    def __init__(self) -> None:
        self._resume_at = 0.0
        self._lock = threading.Lock()
        self._minute = 0
        self._blocks: dict[str, list[range]] = {}  # numbers of this minute's calls that are counted and not made yet
        self._asked_for: set[str] = set()  # subjects for which a block is on its way

    def hit(self, subject: str, *, now: float | None = None) -> RateWindow | None:
        """Count one call of ``subject`` at ``now`` (seconds since the epoch); None while the cache is down."""
        minute, reset_s = _minute_at(time.time() if now is None else now)
        used = self._take(subject, minute, 1)
        if used is None and not self._is_resting():
            try:
                with self._asking(subject, 1) as size:
                    used = self._keep(subject, minute, _increment(_key(subject, minute), size), size - 1)
            except RedisError as error:
                self._rest(error)
        return None if used is None else _window(used, reset_s)

    async def hit_on_loop(self, subject: str, client: Redis, *, calls: int = 1) -> RateWindow | None:
        """The same for an event loop, with its own client of the cache: a thread would cost three times as much.

        One that costs as much as several counts as so many ``calls``.
        """
        minute, reset_s = _minute_at(time.time())
        used = self._take(subject, minute, calls)
        if used is None and not self._is_resting():
            try:
                with self._asking(subject, calls) as size:
                    last = await client.eval(_INCREMENT, 1, _key(subject, minute), str(2 * WINDOW_S), str(size))
                    used = self._keep(subject, minute, int(last), size - calls)
            except RedisError as error:
                self._rest(error)
        return None if used is None else _window(used, reset_s)

    @contextmanager
    def _asking(self, subject: str, calls: int) -> Iterator[int]:
        """How many calls to count at once: a block, or these alone while another call of the subject gets a block."""
        with self._lock:
            is_first = subject not in self._asked_for
            self._asked_for.add(subject)
        try:
            yield _block_size(calls) if is_first else calls
        finally:
            if is_first:
                with self._lock:
                    self._asked_for.discard(subject)

    def _take(self, subject: str, minute: int, calls: int) -> int | None:
        """Give the number of the last of so many calls out of a block; None where it has not as many."""
        with self._lock:
            if minute != self._minute or len(self._blocks) > MOST_BLOCKS:
                self._minute, self._blocks = minute, {}
            blocks = self._blocks.get(subject)
            if not blocks or len(blocks[-1]) < calls:
                return None
            block = blocks.pop()
            if len(block) > calls:
                blocks.append(block[calls:])
            return block[calls - 1]

    def _keep(self, subject: str, minute: int, last: int, left: int) -> int:
        """Keep what is left of a block of calls for the next ones; gives the number of the call that asked for it."""
        with self._lock:
            if left and minute == self._minute:
                self._blocks.setdefault(subject, []).append(range(last - left + 1, last + 1))
        return last - left

    def _is_resting(self) -> bool:
        return time.monotonic() < self._resume_at

    def _rest(self, error: RedisError) -> None:
        self._resume_at = time.monotonic() + PAUSE_AFTER_FAILURE_S
        logger.warning("calls are not counted, the cache does not answer: %s", error)


def client_for_loop() -> Redis:
    """Make a client of the cache for one event loop, to be closed there; it connects when it is first asked."""
    config: Any = settings.CACHES["default"]
    patience = {name: config["OPTIONS"][name] for name in ("socket_timeout", "socket_connect_timeout")}
    return Redis.from_url(config["LOCATION"], **patience)


def _minute_at(now: float) -> tuple[int, int]:
    """The minute in which a call is counted at a time, and the seconds until the next."""
    minute, second = divmod(int(now), WINDOW_S)
    return minute, WINDOW_S - second


def _block_size(calls: int) -> int:
    return max(calls, min(MOST_IN_BLOCK, settings.CONFIG.hub_rate_limit_per_minute // 100))


def _window(used: int, reset_s: int) -> RateWindow:
    return RateWindow(limit=settings.CONFIG.hub_rate_limit_per_minute, used=used, reset_s=reset_s)


def _key(subject: str, minute: int) -> str:
    # Of a cache object that is made once: Django makes one for each task of an event loop.
    return _cache().make_key(f"rate:{subject}:{minute}")


@functools.cache
def _cache() -> BaseCache:
    return caches.create_connection("default")


def _increment(key: str, calls: int) -> int:
    # The cache's own way asks three times, and makes a client for each.
    pool: SharedPool = cast(Any, cache)._cache._get_connection_pool(write=True)  # there is no public way to it
    return int(pool.client.eval(_INCREMENT, 1, key, 2 * WINDOW_S, calls))


rate_limiter = RateLimiter()


def check_rate(request: HttpRequest, subject: str) -> None:
    """Count this call of ``subject`` (a token, or an address without one) and refuse it beyond the limit.

    :raises RateLimited: more than HUB_RATE_LIMIT_PER_MINUTE calls in this minute.
    """
    window = rate_limiter.hit(subject)
    if window is not None:
        request.rate_window = window  # type: ignore[attr-defined]  # read back by add_rate_headers
    refuse_beyond(window)


def subject_of(principal: Principal) -> str:
    """By which name the calls of a caller are counted, at all doors together."""
    return f"token:{principal.token_id}" if principal.token_id else f"user:{principal.user_id}"


def stranger_subject(address: str | None) -> str:
    """By which name calls with refused tokens are counted."""
    return f"address:{address}"


def refuse_beyond(window: RateWindow | None) -> None:
    """Refuse a call that was counted beyond the limit; None, while the cache is down, never is.

    :raises RateLimited: more than HUB_RATE_LIMIT_PER_MINUTE calls in this minute.
    """
    if window is not None and window.is_exceeded:
        raise RateLimited(
            _("More than {limit} calls in a minute (HUB_RATE_LIMIT_PER_MINUTE). Come back in {retry_after_s} seconds."),
            limit=window.limit,
            retry_after_s=window.reset_s,
        )


def add_rate_headers(request: HttpRequest, response: HttpResponseBase) -> None:
    """Add RateLimit-Limit, -Remaining and -Reset when this call was counted."""
    window: RateWindow | None = getattr(request, "rate_window", None)
    if window is not None:
        response["RateLimit-Limit"] = str(window.limit)
        response["RateLimit-Remaining"] = str(window.remaining)
        response["RateLimit-Reset"] = str(window.reset_s)
