"""Lay HTML table cells out on a grid."""

from __future__ import annotations

from collections.abc import Callable

from bs4 import Tag

_MAX_SPAN = 1000


def table_rows(table: Tag, text_of: Callable[[Tag], str]) -> list[list[str]]:
    """Return the rows' texts; a cell that spans several places shows once, in the first of them."""
    taken: set[tuple[int, int]] = set()
    rows: list[list[str]] = []
    for row_index, row in enumerate(table.find_all("tr")):
        texts: list[str] = []
        for cell in row.find_all(["td", "th"], recursive=False):
            while (row_index, len(texts)) in taken:
                texts.append("")
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            column = len(texts)
            taken.update((row_index + down, column + right) for down in range(1, height) for right in range(width))
            texts.extend([text_of(cell), *[""] * (width - 1)])
        rows.append(texts)
    return rows


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1").strip()
    return min(max(int(value), 1), _MAX_SPAN) if value.isdecimal() else 1
