"""The test database as migrations left it, put back after each test that commits.

Django's flush empties all tables, most of which no test filled, and sends the signal of migrations again, which loads
the shipped masters anew: a second, and 650 statements, after each such test. Here their rows are copied once, and
tables that changed since are emptied and get theirs back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pytest
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.test import TransactionTestCase

State = tuple[int, int]
"""How many rows a table has, and the newest transaction that wrote one of them."""


@dataclass(slots=True, kw_only=True)
class MigratedRows:
    """All rows of a database: by table, its columns that can be written, and their values as COPY writes them.

    Tables that are only added to can't be emptied row by row; they are among the ``only_truncated``.
    """

    tables: Sequence[str]
    only_truncated: Sequence[str]
    copies: dict[str, tuple[str, bytes]]
    states: dict[str, State] = field(default_factory=dict)

    @classmethod
    def of_today(cls, *, only_truncated: Sequence[str]) -> MigratedRows:
        tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
        with connection.cursor() as cursor:
            states = _states(cursor, tables)
            filled = [table for table, (rows, _newest) in states.items() if rows]
            copies = {table: _copied(cursor, table) for table in filled}
        return cls(tables=tables, only_truncated=only_truncated, copies=copies, states=states)

    def put_back(self) -> None:
        """Empty the tables that changed, and write their rows again. Sequences go on, as with Django's flush.

        References between tables are looked at when the transaction ends, so that the order is of no matter.
        """
        with transaction.atomic(), connection.cursor() as cursor:
            now = _states(cursor, self.tables)
            changed = [table for table in self.tables if now[table] != self.states[table]]
            if not changed:
                return
            if any(table in self.only_truncated for table in changed):
                cursor.execute(f"TRUNCATE {', '.join(map(connection.ops.quote_name, self.only_truncated))}")
            for table in changed:
                if now[table][0] and table not in self.only_truncated:
                    cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")  # noqa: S608 (a name of Django's)
            for table in changed:
                if table in self.copies:
                    _write(cursor, table, *self.copies[table])
            self.states |= _states(cursor, changed)

    def instead_of_flush(self, patch: pytest.MonkeyPatch) -> None:
        """Let tests of the default database alone end with ``put_back``."""
        flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # Django's own, without a type

        def teardown(test: TransactionTestCase) -> None:
            names = test._databases_names(include_mirrors=False)  # type: ignore[attr-defined]
            if set(names) == {connection.alias} and test.available_apps is None:
                self.put_back()
            else:
                flush(test)

        patch.setattr(TransactionTestCase, "_fixture_teardown", teardown)


def _states(cursor: CursorWrapper, tables: Iterable[str]) -> dict[str, State]:
    """Look at many tables in one statement."""
    looks = (
        f"SELECT '{table}', count(*), coalesce(max(xmin::text::bigint), 0)"  # noqa: S608 (names of Django's)
        f" FROM {connection.ops.quote_name(table)}"
        for table in tables
    )
    cursor.execute(" UNION ALL ".join(looks))
    return {table: (rows, newest) for table, rows, newest in cursor.fetchall()}


def _copied(cursor: CursorWrapper, table: str) -> tuple[str, bytes]:
    cursor.execute(
        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
        [connection.ops.quote_name(table)],
    )
    (columns,) = cursor.fetchone()
    with cursor.copy(f"COPY {connection.ops.quote_name(table)} ({columns}) TO STDOUT") as copy:
        return columns, b"".join(copy)


def _write(cursor: CursorWrapper, table: str, columns: str, data: bytes) -> None:
    with cursor.copy(f"COPY {connection.ops.quote_name(table)} ({columns}) FROM STDIN") as copy:
        copy.write(data)
