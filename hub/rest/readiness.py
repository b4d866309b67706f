"""Readiness: every part the hub needs is asked at the same time, each for at most two seconds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connections
from django.utils.translation import gettext_lazy as _
from redis.backoff import NoBackoff
from redis.retry import Retry

from hub.core.database import unavailable_by
from hub.core.errors import HubError, Unavailable
from hub.core.schema_version import refuse_newer_database

logger = logging.getLogger(__name__)

Check = Callable[[], None]

CHECK_TIMEOUT_S = 2.0
# A check that hangs keeps its thread until it ends; when all hang, probes fail at once, as they should.
MAX_THREADS = 16


def check_database() -> None:
    """:raises Unavailable: PostgreSQL does not answer a query, or has the tables of a newer version."""
    try:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT 1")
        refuse_newer_database()
    except DatabaseError as error:
        logger.warning("readiness: database: %s", error)
        raise Unavailable(_("PostgreSQL does not answer. See DATABASE_URL and the server's log.")) from error


def check_queue() -> None:
    """:raises Unavailable: Valkey or Redis does not answer."""
    client = redis.Redis.from_url(
        settings.REDIS_CLIENT_URL,
        socket_timeout=CHECK_TIMEOUT_S,
        socket_connect_timeout=CHECK_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        client.ping()
    except redis.RedisError as error:
        logger.warning("readiness: queue: %s", error)
        raise Unavailable(_("The queue (Valkey or Redis) does not answer. See REDIS_URL.")) from error
    finally:
        client.close()


BASE_CHECKS: tuple[tuple[str, Check], ...] = (("database", check_database), ("queue", check_queue))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=MAX_THREADS, thread_name_prefix="readiness")


def run_checks(
    checks: Sequence[tuple[str, Check]], *, timeout_s: float = CHECK_TIMEOUT_S
) -> tuple[bool, dict[str, dict[str, str]]]:
    """Run all checks side by side and say whether all passed, and {name: {status, detail}} in the given order.

    Status is ok or error; a check that is not done after ``timeout_s`` counts as error.
    """
    futures = {name: _threads().submit(_run, check) for name, check in checks}
    wait(futures.values(), timeout=timeout_s)
    problems = {name: _problem(future, timeout_s) for name, future in futures.items()}
    report = {name: {"status": "error" if text else "ok", "detail": text} for name, text in problems.items()}
    return not any(problems.values()), report


def _run(check: Check) -> HubError | None:
    try:
        check()
    except HubError as error:
        return error
    except Exception as error:  # the others still have something to say
        if (of_database := unavailable_by(error)) is not None:
            logger.warning("readiness: %s", error)
            return of_database
        logger.exception("readiness: a check is broken")
        return Unavailable(_("The check itself failed. See the log."))
    finally:
        connections.close_all()  # this thread's own; nobody else would
    return None


def _problem(future: Future[HubError | None], timeout_s: float) -> str:
    if not future.done():
        future.cancel()
        return str(Unavailable(_("No answer within {seconds} seconds."), seconds=timeout_s))
    error = future.result()
    return str(error) if error else ""
