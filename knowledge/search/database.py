"""How a search reads the database: in one snapshot, with a savepoint for what fails, and numbers as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from django.db import Error, transaction
from numpy.typing import NDArray
from psycopg import IsolationLevel

from hub.core.database import database_down
from hub.core.routing import raise_if_at_replica, read_connection

# All parts that a search can do without go back to the same savepoint; it ends with the transaction.
SAVEPOINT = "search_parts"


@contextmanager
def one_snapshot() -> Iterator[None]:
    """Let all queries see the database as it is at the first one: a set that is dropped meanwhile still answers whole.

    Inside a caller's transaction its own isolation holds.
    """
    connection = read_connection()
    if connection.in_atomic_block:
        with transaction.atomic(using=connection.alias):
            yield
        return
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    driver = connection.connection
    before = driver.isolation_level
    driver.isolation_level = IsolationLevel.REPEATABLE_READ  # said by BEGIN, without a statement of its own
    try:
        with transaction.atomic(using=connection.alias):
            yield
    finally:
        if not driver.closed:
            driver.isolation_level = before


def set_savepoint() -> None:
    with read_connection().cursor() as cursor:
        cursor.execute(f"SAVEPOINT {SAVEPOINT}")


@contextmanager
def going_back() -> Iterator[None]:
    """Undo what a statement that fails has broken, so that the search can go on without it; the error passes.

    Back to ``SAVEPOINT``, which must have been set.

    :raises ReplicaFailed: it failed at a replica.
    :raises Unavailable: there is nothing to go back to, for the connection is gone.
    """
    try:
        yield
    except Error as error:
        raise_if_at_replica(error)
        try:
            transaction.savepoint_rollback(SAVEPOINT)
        except Error as gone:
            raise database_down() from gone
        raise


INTEGER, FLOAT, BOOLEAN = "bigint", "double precision", "boolean"
_KINDS = {INTEGER: (">i8", "int8send"), FLOAT: (">f8", "float8send"), BOOLEAN: ("?", "boolsend")}


def read_columns(sql: str, params: Sequence[Any], columns: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """Run a SELECT of ``columns``, by name INTEGER, FLOAT or BOOLEAN; never NULL, and in the order of its rows.

    PostgreSQL packs all rows into one value, each number as it is sent in binary.
    """
    packed = " || ".join(f"{_KINDS[kind][1]}({name}::{kind})" for name, kind in columns.items())
    with read_connection().cursor() as cursor:
        cursor.execute(f"SELECT string_agg({packed}, '') FROM ({sql}) AS row", params)  # noqa: S608 (both are code)
        value = cursor.fetchone()[0]
    rows = np.frombuffer(value or b"", [(name, _KINDS[kind][0]) for name, kind in columns.items()])
    return {name: rows[name].astype(rows.dtype[name].newbyteorder("=")) for name in columns}
