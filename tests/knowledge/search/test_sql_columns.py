"""Rows of numbers come from PostgreSQL as columns."""

from __future__ import annotations

import pytest

from knowledge.search.database import BOOLEAN, FLOAT, INTEGER, read_columns

pytestmark = pytest.mark.django_db
KINDS = {"number": INTEGER, "share": FLOAT, "is_half": BOOLEAN}


def test_numbers_come_exactly_and_in_the_order_of_the_rows() -> None:
    sql = """
    SELECT number, share, share = 0.5 AS is_half
    FROM unnest(%s::bigint[], %s::float8[]) AS given (number, share) ORDER BY share DESC
    """
    columns = read_columns(sql, [[-(2**63), 2**63 - 1, 7], [0.5, 1e300, -1 / 3]], KINDS)
    assert columns["number"].tolist() == [2**63 - 1, -(2**63), 7]
    assert columns["share"].tolist() == [1e300, 0.5, -1 / 3]
    assert columns["is_half"].tolist() == [False, True, False]


def test_no_row_gives_empty_columns() -> None:
    columns = read_columns("SELECT 1 AS number, 0.5 AS share, true AS is_half WHERE false", [], KINDS)
    assert {name: column.tolist() for name, column in columns.items()} == {"number": [], "share": [], "is_half": []}
