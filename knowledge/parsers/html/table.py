"""Lay HTML table cells out on a grid."""

from __future__ import annotations

from collections.abc import Callable

from bs4 import Tag

from knowledge.parsers.table_head import column_names

_MAX_SPAN = 1000


def table_rows(table: Tag, text_of: Callable[[Tag], str]) -> list[list[str]]:
    """Return the rows' texts; a cell that spans several places shows once, in the first of them.

    A head of several rows is one row of full column names.
    """
    taken: set[tuple[int, int]] = set()
    rows: list[dict[int, tuple[str, int]]] = []
    for row_index, row in enumerate(table.find_all("tr")):
        cells: dict[int, tuple[str, int]] = {}
        column = 0
        for cell in row.find_all(["td", "th"], recursive=False):
            while (row_index, column) in taken:
                column += 1
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            taken.update((row_index + down, column + right) for down in range(1, height) for right in range(width))
            cells[column] = text_of(cell), column + width - 1
            column += width
        rows.append(cells)
    head_rows, names = column_names(rows)
    head = [_row({column: (name, column) for column, name in names.items()})] if head_rows else []
    return head + [_row(cells) for cells in rows[head_rows:]]


def _row(cells: dict[int, tuple[str, int]]) -> list[str]:
    width = max((last + 1 for _, last in cells.values()), default=0)
    return [cells[column][0] if column in cells else "" for column in range(width)]


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1").strip()
    return min(max(int(value), 1), _MAX_SPAN) if value.isdecimal() else 1
