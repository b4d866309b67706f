"""Ruled tables that go on over a page: the rows on the next page get the head of the page before.

A table is read page by page, and Markdown knows no table without a head: without this, the row that happens to open
a page would be taken for one, and the passages of that page would not tell what their columns are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from knowledge.parsers.pdf.page import Line, Page
from knowledge.parsers.pdf.tables import PdfTable
from knowledge.text.folding import fold_compact

# In points: what edges of the same column differ by.
_SAME_EDGE = 2.0
# Shares of the page's height: what margins take at least, and what page breaks leave empty for other reasons.
_MARGIN = 0.07
_LOOSE = 0.05
_SAYS_SO = re.compile(r"続き|つづき|continued", re.I)
_MAX_REMARK = 40


def with_carried_heads(
    found: Mapping[int, tuple[PdfTable, ...]], pages: Sequence[Page], lines_by_page: Sequence[Sequence[Line]]
) -> dict[int, tuple[PdfTable, ...]]:
    """Return the tables by page number; one that goes on from the page before begins with that one's head.

    ``lines_by_page`` are the pages' lines without running headers and footers; a table of nothing but such lines that
    stands at the same place elsewhere runs along with them, and is left out.
    """
    places = Counter(_place(table) for tables in found.values() for table in tables)
    settled: dict[int, tuple[PdfTable, ...]] = {}
    above: PdfTable | None = None
    before = 0
    for page, lines in zip(pages, lines_by_page, strict=True):
        all_tables = found.get(page.number, ())
        tables = [table for table in all_tables if places[_place(table)] == 1 or any(map(table.holds, lines))]
        if above is not None and tables and page.number == before + 1 and _opens(tables[0], lines):
            tables[0] = _continued(above, tables[0], page.height)
        kept = tuple(table for table in tables if table.is_table)
        settled[page.number] = kept
        above = kept[-1] if kept and _closes(kept[-1], lines) else None
        before = page.number
    return settled


def _place(table: PdfTable) -> tuple[int, ...]:
    return tuple(map(round, (table.left, table.top, table.right, table.bottom)))


def _opens(table: PdfTable, lines: Sequence[Line]) -> bool:
    """Tell whether nothing stands above the table on its page, but for a remark that it goes on."""
    return not any(line.bottom <= table.top + _SAME_EDGE and not _is_remark(line) for line in lines)


def _is_remark(line: Line) -> bool:
    return len(line.text) <= _MAX_REMARK and _SAYS_SO.search(line.text) is not None


def _closes(table: PdfTable, lines: Sequence[Line]) -> bool:
    return not any(line.top >= table.bottom - _SAME_EDGE and not _is_remark(line) for line in lines)


def _continued(above: PdfTable, table: PdfTable, page_height: float) -> PdfTable:
    """Return the table below the head of the one on the page before, if it goes on with that one without its head."""
    head = above.rows[0]
    if not _same_columns(above, table) or not _is_full(above, table, page_height):
        return table
    if _has_own_head(above, table) or not _is_head(above):
        return table
    return table.with_head(head)


def _same_columns(above: PdfTable, table: PdfTable) -> bool:
    pairs = [*zip(above.edges, table.edges, strict=False), (above.right, table.right)]
    return len(above.edges) == len(table.edges) and all(abs(one - other) <= _SAME_EDGE for one, other in pairs)


def _is_full(above: PdfTable, table: PdfTable, page_height: float) -> bool:
    """Tell whether the row that opens the page did not fit below the table on the page before."""
    margin = max(_MARGIN * page_height, min(table.top, page_height / 4))
    return page_height - margin - above.bottom <= table.row_height + _LOOSE * page_height


def _has_own_head(above: PdfTable, table: PdfTable) -> bool:
    """Tell whether the head is repeated, or another one stands in its place: its colour shows it."""
    if _folded(table.rows[0]) == _folded(above.rows[0]):
        return True
    color, below = above.fills[:1], above.fills[1:]
    return color != (None,) and color != below and table.fills[:1] == color


def _folded(row: Sequence[str]) -> list[str]:
    return [fold_compact(cell) for cell in row]


def _is_head(table: PdfTable) -> bool:
    """Tell whether the first row looks otherwise than those below: a table of items F-1, F-2 … may have no head."""
    shapes = [_shape(row) for row in table.rows]
    return not any("#" in cell and cell == other[at] for other in shapes[1:] for at, cell in enumerate(shapes[0]))


def _shape(row: Sequence[str]) -> list[str]:
    return [re.sub(r"[0-9]+", "#", fold_compact(cell)) for cell in row]
