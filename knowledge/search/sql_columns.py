"""Reading hundreds of rows of numbers from PostgreSQL as columns, without an object for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

INTEGER, FLOAT, BOOLEAN = "bigint", "double precision", "boolean"
_KINDS = {INTEGER: (">i8", "int8send"), FLOAT: (">f8", "float8send"), BOOLEAN: ("?", "boolsend")}


def read_columns(sql: str, params: Sequence[Any], columns: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """Run a SELECT of ``columns``, by name INTEGER, FLOAT or BOOLEAN; never NULL, and in the order of its rows.

    PostgreSQL packs all rows into one value, each number as it is sent in binary.
    """
    packed = " || ".join(f"{_KINDS[kind][1]}({name}::{kind})" for name, kind in columns.items())
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT string_agg({packed}, '') FROM ({sql}) AS row", params)  # noqa: S608 (both are code)
        value = cursor.fetchone()[0]
    rows = np.frombuffer(value or b"", [(name, _KINDS[kind][0]) for name, kind in columns.items()])
    return {name: rows[name].astype(rows.dtype[name].newbyteorder("=")) for name in columns}
