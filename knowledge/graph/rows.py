"""Inserting many rows of the graph in few statements."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

_BATCH = 1000
# Rows go as one JSON text: writing them as arrays, each value on its own, costs the client several times as much.
_INSERT = """
INSERT INTO {table} ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::{table}, %s)
ON CONFLICT DO NOTHING RETURNING {returning}
"""


def insert_new(
    model: type[Model], rows: Sequence[Mapping[str, Any]], *, returning: Sequence[str] = ("id",)
) -> list[tuple[Any, ...]]:
    """Insert rows in their order, all with the same columns; gives ``returning`` of those that were not there yet.

    Nothing is told of the others: a unique constraint names what is there. One statement for each 1,000 rows.
    """
    made: list[tuple[Any, ...]] = []
    with connection.cursor() as cursor:
        for start in range(0, len(rows), _BATCH):
            columns = ", ".join(f'"{column}"' for column in rows[start])
            statement = _INSERT.format(table=model._meta.db_table, columns=columns, returning=", ".join(returning))
            cursor.execute(statement, [json.dumps(rows[start : start + _BATCH], ensure_ascii=False)])
            made += cursor.fetchall()
    return made
