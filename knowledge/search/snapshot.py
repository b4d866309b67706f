"""One view of the database for all queries of a search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from psycopg import IsolationLevel


@contextmanager
def one_snapshot() -> Iterator[None]:
    """Let all queries see the database as it is at the first one: a set that is dropped meanwhile still answers whole.

    Inside a caller's transaction its own isolation holds.
    """
    if connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    driver = connection.connection
    before = driver.isolation_level
    driver.isolation_level = IsolationLevel.REPEATABLE_READ  # said by BEGIN, without a statement of its own
    try:
        with transaction.atomic():
            yield
    finally:
        if not driver.closed:
            driver.isolation_level = before
