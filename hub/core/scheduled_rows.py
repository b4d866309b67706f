"""Scheduled work over many rows: what fails at one is logged and kept for the alerts, and the next has its turn."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import time as clock
from typing import Generic, TypeVar

import redis
from django.conf import settings

from hub.core.database import is_connection_lost
from hub.core.valkey import client_of

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

FAILURES_AT_MOST = 100
NAMED_AT_MOST = 5
KEPT_S = 48 * 3600
KEY = "hub:scheduled:failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[R]):
    """What was done: the results of the rows that went well, and the names of those that failed."""

    done: tuple[R, ...]
    failed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingTask:
    """A task whose last run failed at ``count`` rows; ``rows`` names the first few."""

    task: str
    count: int
    rows: tuple[str, ...]


def for_each_row(task: str, rows: Iterable[T], work: Callable[[T], R], *, name: Callable[[T], str]) -> Outcome[R]:
    """Do ``work`` for each row as :func:`try_each_row` does, and keep for the alerts what failed."""
    outcome = try_each_row(task, rows, work, name=name)
    keep_failures(task, outcome.failed)
    return outcome


def try_each_row(task: str, rows: Iterable[T], work: Callable[[T], R], *, name: Callable[[T], str]) -> Outcome[R]:
    """Do ``work`` for each row, past any error of one; a hundred failed rows end the run.

    Each failure is logged with the row's name and its traceback. Only a lost connection to the database, at which
    every row would fail, is raised.
    """
    done: list[R] = []
    failed: list[str] = []
    for row in rows:
        try:
            done.append(work(row))
        except Exception as error:
            if is_connection_lost(error):
                raise
            failed.append(name(row))
            logger.exception("%s failed at %s; the other rows go on", task, failed[-1])
            if len(failed) >= FAILURES_AT_MOST:
                break
    if failed:
        logger.error("%s failed at %d rows and did %d", task, len(failed), len(done))
    return Outcome(done=tuple(done), failed=tuple(failed))


def keep_failures(task: str, failed: Sequence[str]) -> None:
    """Keep for the alerts at which rows the last run of ``task`` failed; none takes back what was kept."""
    try:
        if failed:
            client_of(settings.REDIS_CLIENT_URL).hset(
                KEY, task, json.dumps([clock(), len(failed), list(failed[:NAMED_AT_MOST])])
            )
        else:
            client_of(settings.REDIS_CLIENT_URL).hdel(KEY, task)
    except redis.RedisError as error:
        logger.warning("the alerts do not learn how %s went: Valkey does not answer (%s)", task, error)


def failing_tasks() -> list[FailingTask]:
    """List the tasks that failed at some rows when they last ran, within two days, by name.

    Raises redis.RedisError when Valkey is away.
    """
    kept: dict[bytes, bytes] = client_of(settings.REDIS_CLIENT_URL).hgetall(KEY)  # type: ignore[assignment]
    found = []
    for task, text in sorted(kept.items()):
        at, count, rows = json.loads(text)
        if at >= clock() - KEPT_S:
            found.append(FailingTask(task=task.decode(), count=count, rows=tuple(rows)))
    return found
