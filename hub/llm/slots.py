"""The slots for requests to language models: LLM_MAX_CONCURRENCY of them for all processes of a hub together.

A slot is a member of a sorted set in Valkey/Redis, with the time until which it is held as its score. Its holder
renews it while its request is under way; who is killed stops renewing, and its slot is free again after LEASE_S. Times
are Valkey's own. Without Valkey each process counts its own requests only, which a warning in the log says.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import redis
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.core.embedded import EmbeddedServerError
from hub.core.ids import new_id
from hub.core.processes import PerProcess
from hub.core.valkey import client_of, ensure_queue
from hub.llm.errors import LlmUnavailable

logger = logging.getLogger(__name__)

KEY = "hub:llm-places"
LEASE_S = 15.0
RENEWALS_PER_LEASE = 5
LOOK_AGAIN_S = 0.1
PAUSE_AFTER_FAILURE_S = 10.0  # a Valkey that hangs (its socket timeout is 1 s) must not hold up every request

_NOW = "local time = redis.call('TIME') local now = time[1] + time[2] / 1000000 "
TAKE = (
    _NOW
    + """
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
return 1
"""
)
"""Take a slot under the name ARGV[3] for ARGV[2] seconds if fewer than ARGV[1] are taken; 1 when it was."""
RENEW = (
    _NOW
    + """
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
return 1
"""
)
"""Hold the slots ARGV[2…] for ARGV[1] seconds from now on, those too that an emptied Valkey has forgotten."""


@contextmanager
def held_slot() -> Iterator[None]:
    """Wait for a slot, for up to LLM_TIMEOUT_S seconds, and hold it. Raises LlmUnavailable (llm_busy)."""
    config = settings.CONFIG
    until = time.monotonic() + config.llm_timeout_s
    own = _own_slots(config.llm_max_concurrency)
    if not own.acquire(timeout=config.llm_timeout_s):
        raise _busy()
    try:
        slot = _shared.get().wait_for_one(until)
        try:
            yield
        finally:
            _shared.get().give_back(slot)
    finally:
        own.release()


@cache
def _own_slots(limit: int) -> threading.BoundedSemaphore:
    """What this process alone may have under way: without Valkey nothing else limits it."""
    return threading.BoundedSemaphore(limit)


def _busy() -> LlmUnavailable:
    return LlmUnavailable(
        _("All {limit} places for requests to the language model are taken (LLM_MAX_CONCURRENCY). Try again."),
        code="llm_busy",
        limit=settings.CONFIG.llm_max_concurrency,
    )


class SharedSlots:
    """This process's slots among those of all, and the thread that renews them. Safe for threads."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._lock = threading.Lock()
        self._has_some = threading.Event()
        self._keeper: threading.Thread | None = None
        self._resume_at = 0.0
        self._is_away = False

    def wait_for_one(self, until: float) -> str:
        """Take a slot and give its name, waiting until ``until`` (monotonic seconds). Raises LlmUnavailable."""
        slot = new_id("slot")
        while not self._is_taken(slot):
            if time.monotonic() >= until:
                raise _busy()
            time.sleep(LOOK_AGAIN_S)
        self._keep(slot)
        return slot

    def give_back(self, slot: str) -> None:
        """Free a slot; when Valkey does not answer it frees itself."""
        with self._lock:  # not while it is being renewed, which would take it anew
            self._held.discard(slot)
        self._ask(lambda valkey: valkey.zrem(KEY, slot))

    def renew(self) -> None:
        """Hold this process's slots for another LEASE_S."""
        with self._lock:
            if self._held:
                self._ask(lambda valkey: valkey.eval(RENEW, 1, KEY, str(LEASE_S), *self._held))
            else:
                self._has_some.clear()

    def _is_taken(self, slot: str) -> bool:
        """Try to take a slot; without Valkey there is always one, and only the process's own limit holds."""
        limit = str(settings.CONFIG.llm_max_concurrency)
        taken = self._ask(lambda valkey: valkey.eval(TAKE, 1, KEY, limit, str(LEASE_S), slot))
        return taken is None or bool(taken)

    def _ask(self, question: Callable[[redis.Redis], object]) -> object | None:
        """What Valkey answers; None while it is away."""
        if time.monotonic() < self._resume_at:
            return None
        try:
            answer = question(_client())
        except (redis.RedisError, EmbeddedServerError) as error:
            self._resume_at = time.monotonic() + PAUSE_AFTER_FAILURE_S
            if not self._is_away:  # once, and not again with every request
                logger.warning("LLM_MAX_CONCURRENCY holds for each process alone until Valkey answers again: %s", error)
            self._is_away = True
            return None
        self._is_away = False
        return answer

    def _keep(self, slot: str) -> None:
        with self._lock:
            self._held.add(slot)
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._renew_on, name="llm-places", daemon=True)
                self._keeper.start()
        self._has_some.set()

    def _renew_on(self) -> None:
        while True:
            self._has_some.wait()
            time.sleep(LEASE_S / RENEWALS_PER_LEASE)
            self.renew()


@cache
def _client() -> redis.Redis:
    ensure_queue()
    return client_of(settings.REDIS_CLIENT_URL)


_shared = PerProcess(SharedSlots)
