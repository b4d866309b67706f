"""Reads that may lag, at replicas (hot standbys) of PostgreSQL.

`ask_replica` runs a function that only reads at a replica that serves, or says that none does. A replica proposes, as
an index does: the caller then lets the primary decide, by id, whether all that was found may be shown (ADR 0032).

A replica serves while it answers, is at most HUB_REPLICA_MAX_LAG_S behind, and has replayed what the reader wrote: the
place in the log after an account's last write is kept in the cache for longer than a replica that serves may lag.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from itertools import count as counter
from time import monotonic
from typing import TypeVar

import redis
from django.conf import settings
from django.core.cache import cache
from django.db import Error, connection, connections, transaction

from hub.core.database import in_one_line, is_connection_lost
from hub.core.database_urls import REPLICA
from hub.core.errors import HubError
from hub.core.measures import REPLICA_READS, Point, count
from hub.core.routing import ReplicaFailed, reading_from

logger = logging.getLogger(__name__)
T = TypeVar("T")

# How long a process goes by what it last heard of a replica; and by one not answering, which may take seconds to hear.
ASK_EVERY_S = 1.0
PAUSE_S = 5.0
# What was written is remembered for so much longer than a replica that serves may lag.
_REMEMBERED_LONGER_S = 60
_NO_ACCOUNT = 0

_PRIMARY = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn, clock_timestamp()"
_REPLICA = """
SELECT pg_is_in_recovery(), coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn, 0), pg_last_xact_replay_timestamp(),
  current_setting('hot_standby_feedback')::boolean
"""
_WRITTEN = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"


class ReplicaProblem(StrEnum):
    """Why a replica does not serve."""

    AWAY = "away"
    BEHIND = "behind"
    PROMOTED = "promoted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaState:
    """A replica as it was when it was asked: the place in the log (bytes) that it replayed, and how far behind it is.

    ``lag_s`` is None where nothing was replayed yet; both lags and ``has_feedback`` are None of one that is away.
    """

    alias: str
    replayed: int = 0
    lag_bytes: int | None = None
    lag_s: float | None = None
    has_feedback: bool | None = None
    problem: ReplicaProblem | None = None
    reason: str = ""

    @property
    def number(self) -> str:
        """Which of DATABASE_REPLICA_URLS it is, from 1."""
        return self.alias.removeprefix(REPLICA)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    state: ReplicaState
    until: float


_known: dict[str, _Known] = {}
_turns = counter()


def replica_aliases() -> list[str]:
    return [alias for alias in connections if alias.startswith(REPLICA)]


def replica_states() -> list[ReplicaState]:
    """Ask the primary and each replica now. :raises django.db.Error: the primary can't be asked."""
    return [_look_at(alias) for alias in replica_aliases()]


def ask_replica(find: Callable[[], T], *, reader: int | None) -> T | None:
    """Return what ``find`` reads at a replica; None where none serves, or where it failed there: ask the primary then.

    ``reader`` is the account for whom it reads, None for nobody's. What the primary should say in its own way, such
    as that something is not there, is None too. Inside a transaction it is always None: what was written in it is not
    at a replica, and both would be two states. No permissions are applied but those that ``find`` applies to what
    the replica has.
    """
    if connection.in_atomic_block or (alias := _serving(reader)) is None:
        return None
    try:
        with reading_from(alias):
            found = find()
    except HubError:
        outcome, found = "left", None
    except (ReplicaFailed, Error) as error:
        outcome, found = "failed", None
        cause = error.__cause__ if isinstance(error, ReplicaFailed) and error.__cause__ else error
        logger.warning("%s failed, and the primary is asked: %s", alias, in_one_line(cause))
        if is_connection_lost(cause):
            connections[alias].close()
            away = ReplicaState(alias=alias, problem=ReplicaProblem.AWAY, reason=in_one_line(cause))
            _known[alias] = _Known(state=away, until=monotonic() + PAUSE_S)
    else:
        outcome = "answered"
    count(Point(family=REPLICA_READS, labels=(alias.removeprefix(REPLICA), outcome), value=1))
    return found


def note_write(account: int | None) -> None:
    """Remember, once the running transaction is committed, that an account's next reads must see it.

    Nothing without replicas. While the cache is away nothing is remembered, and nobody reads at a replica either.
    """
    if replica_aliases():
        transaction.on_commit(partial(_keep_place, account))


def _keep_place(account: int | None) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute(_WRITTEN)
            place = int(cursor.fetchone()[0])
        cache.set(_key(account), place, settings.CONFIG.hub_replica_max_lag_s + _REMEMBERED_LONGER_S)
    except (Error, redis.RedisError) as error:
        # The write itself is done and must not be told to have failed.
        logger.warning("a write could not be noted; replicas may show it late: %s", error)


def _key(account: int | None) -> str:
    return f"written:{account or _NO_ACCOUNT}"


def _serving(reader: int | None) -> str | None:
    """Name a replica that serves, by turns; None without one. A few queries once a second, else none."""
    aliases = replica_aliases()
    if not aliases:
        return None
    try:
        needed: int = cache.get(_key(reader), 0)
    except redis.RedisError as error:
        logger.warning("the primary is asked, as what was written is not known: %s", error)
        return None
    first = next(_turns) % len(aliases)
    return next((alias for alias in aliases[first:] + aliases[:first] if _serves(alias, needed)), None)


def _serves(alias: str, needed: int) -> bool:
    known = _known.get(alias)
    is_old = known is None or monotonic() >= known.until
    if known is None or is_old or (known.state.problem is None and known.state.replayed < needed):
        state = _look_at(alias)
        pause = PAUSE_S if state.problem is ReplicaProblem.AWAY else ASK_EVERY_S
        known = _known[alias] = _Known(state=state, until=monotonic() + pause)
    return known.state.problem is None and known.state.replayed >= needed


def _look_at(alias: str) -> ReplicaState:
    """Ask the primary where its log ends, and then a replica how far it is; both moments are by the primary's clock."""
    with connection.cursor() as cursor:
        cursor.execute(_PRIMARY)
        end, now = cursor.fetchone()
    there = connections[alias]
    try:
        there.close_if_health_check_failed()
        with there.cursor() as cursor:
            cursor.execute(_REPLICA)
            return _state(alias, int(end), now, *cursor.fetchone())
    except Error as error:
        there.close()
        return ReplicaState(alias=alias, problem=ReplicaProblem.AWAY, reason=in_one_line(error))


def _state(
    alias: str, end: int, now: datetime, is_standby: bool, replayed: int, last: datetime | None, has_feedback: bool
) -> ReplicaState:
    behind = max(end - int(replayed), 0)
    lag_s = 0.0 if not behind else None if last is None else max((now - last).total_seconds(), 0.0)
    problem = None
    if not is_standby:
        problem = ReplicaProblem.PROMOTED
    elif lag_s is None or lag_s > settings.CONFIG.hub_replica_max_lag_s:
        problem = ReplicaProblem.BEHIND
    return ReplicaState(
        alias=alias,
        replayed=int(replayed),
        lag_bytes=behind,
        lag_s=lag_s,
        has_feedback=has_feedback,
        problem=problem,
    )
