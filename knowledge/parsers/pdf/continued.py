"""Where tables of a PDF go on over a page break.

A table is read page by page, and Markdown knows no table without a head: the rows on the next page get the head of the
page before, or the row that happens to open a page would be taken for one. A row that the break cuts is one row, on
the page where it begins, and a merged cell that goes on over the break is named on the next page again.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from knowledge.parsers.pdf.page import Line, Page
from knowledge.parsers.pdf.tables import PdfTable, joint
from knowledge.parsers.render import FROM_ABOVE
from knowledge.text.folding import fold_compact

Rows: TypeAlias = tuple[tuple[str, ...], ...]

# In points: what edges of the same column differ by.
_SAME_EDGE = 2.0
# Shares of the page's height: what margins take at least, and what page breaks leave empty for other reasons.
_MARGIN = 0.07
_LOOSE = 0.05
_SAYS_SO = re.compile(r"続き|つづき|continued", re.I)
_MAX_REMARK = 40


def over_page_breaks(
    found: Mapping[int, tuple[PdfTable, ...]], pages: Sequence[Page], lines_by_page: Sequence[Sequence[Line]]
) -> dict[int, tuple[PdfTable, ...]]:
    """Return the tables by page number; one that goes on from the page before begins with that one's head.

    Its rows are empty when the page has only the rest of a row of that one. ``lines_by_page`` are the pages' lines
    without running headers and footers; a table of nothing but such lines that is at the same place elsewhere runs
    along with them, and is left out.
    """
    places = Counter(_place(table) for tables in found.values() for table in tables)
    settled: dict[int, list[PdfTable]] = {}
    above: PdfTable | None = None
    begun = before = 0
    for page, lines in zip(pages, lines_by_page, strict=True):
        all_tables = found.get(page.number, ())
        tables = [table for table in all_tables if places[_place(table)] == 1 or any(map(table.holds, lines))]
        is_rest = False
        if above is not None and tables and page.number == before + 1 and _opens(tables[0], lines):
            rows, tables[0] = _continued(above, tables[0], page.height)
            settled[begun][-1] = dataclasses.replace(settled[begun][-1], rows=rows)
            above = dataclasses.replace(above, rows=rows, bottom=tables[0].bottom)
            is_rest = not tables[0].rows
        kept = [table for table in tables if table.is_table or not table.rows]
        settled[page.number] = kept
        before = page.number
        if not kept or not _closes(kept[-1], lines):
            above = None
        elif not (is_rest and len(kept) == 1):
            above, begun = kept[-1], page.number
    return {number: tuple(tables) for number, tables in settled.items()}


def _place(table: PdfTable) -> tuple[int, ...]:
    return tuple(map(round, (table.left, table.top, table.right, table.bottom)))


def _opens(table: PdfTable, lines: Sequence[Line]) -> bool:
    """Return whether nothing is above the table on its page, but for a remark that it goes on."""
    return not any(line.bottom <= table.top + _SAME_EDGE and not _is_remark(line) for line in lines)


def _is_remark(line: Line) -> bool:
    return len(line.text) <= _MAX_REMARK and _SAYS_SO.search(line.text) is not None


def _closes(table: PdfTable, lines: Sequence[Line]) -> bool:
    return not any(line.top >= table.bottom - _SAME_EDGE and not _is_remark(line) for line in lines)


def _continued(above: PdfTable, table: PdfTable, page_height: float) -> tuple[Rows, PdfTable]:
    """Return the rows of the table on the page before, and those of the one that may go on with it, below its head."""
    if not _same_columns(above, table) or not _is_full(above, table, page_height):
        return above.rows, table
    repeats_head = _folded(table.rows[0]) == _folded(above.rows[0])
    if not repeats_head and (_has_own_head(above, table) or not _is_head(above)):
        return above.rows, table
    rows, body = above.rows, table.rows[1:] if repeats_head else table.rows
    if _begins_with_rest(rows, body):
        rows, body = (*rows[:-1], _joined_row(rows[-1], body[0])), body[1:]
    body = _with_merged_cells(rows, body)
    head = table.rows[:1] if repeats_head else rows[:1]
    whole = (*head, *body) if body else ()
    return rows, dataclasses.replace(table, rows=whole, has_carried_head=not repeats_head)


def _begins_with_rest(above: Rows, body: Rows) -> bool:
    """Return whether the first row on a page is the rest of the last one on the page before.

    A column that no other row leaves empty, such as that of the numbers, is empty in it, and it has text only where
    that row has.
    """
    others = [*above[1:], *body[1:]]
    if not body or len(above) < 2 or len(others) < 2:
        return False
    first = list(enumerate(body[0]))
    lacks = [column for column, text in first if not text and not _reaches_down(body, column)]
    has = [column for column, text in first if text]
    return bool(has) and all(above[-1][at] for at in has) and any(all(row[at] for row in others) for at in lacks)


def _reaches_down(body: Rows, column: int) -> bool:
    return len(body) > 1 and body[1][column] is FROM_ABOVE


def _joined_row(above: Sequence[str], rest: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        f"{begun}{joint(begun, going_on)}{going_on}" if going_on else begun
        for begun, going_on in zip(above, rest, strict=True)
    )


def _with_merged_cells(above: Rows, body: Rows) -> Rows:
    """Write the text of merged cells on the page before into those without text that go on below the break."""
    if not body:
        return body
    first = tuple(
        _last_text(above, column) if not text and _goes_on(above, body, column) else text
        for column, text in enumerate(body[0])
    )
    return (first, *body[1:])


def _goes_on(above: Rows, body: Rows, column: int) -> bool:
    """Return whether an empty first cell is the rest of a merged one: it is merged itself, or the last row of that
    one is all that was left, in a column that leaves no other cell empty.
    """
    if _reaches_down(body, column):
        return True
    own = [row[column] for row in (*above, *body[1:]) if row[column] is not FROM_ABOVE]
    return above[-1][column] is FROM_ABOVE and all(own)


def _last_text(rows: Rows, column: int) -> str:
    return next((row[column] for row in reversed(rows[1:]) if row[column] is not FROM_ABOVE), "")


def _same_columns(above: PdfTable, table: PdfTable) -> bool:
    pairs = [*zip(above.edges, table.edges, strict=False), (above.right, table.right)]
    return len(above.edges) == len(table.edges) and all(abs(one - other) <= _SAME_EDGE for one, other in pairs)


def _is_full(above: PdfTable, table: PdfTable, page_height: float) -> bool:
    """Return whether the row that opens the page did not fit below the table on the page before."""
    margin = max(_MARGIN * page_height, min(table.top, page_height / 4))
    return page_height - margin - above.bottom <= table.row_height + _LOOSE * page_height


def _has_own_head(above: PdfTable, table: PdfTable) -> bool:
    """Return whether another head is in the place of the one above: its colour shows it."""
    color, below = above.fills[:1], above.fills[1:]
    return color != (None,) and color != below and table.fills[:1] == color


def _folded(row: Sequence[str]) -> list[str]:
    return [fold_compact(cell) for cell in row]


def _is_head(table: PdfTable) -> bool:
    """Return whether the first row looks otherwise than those below: a table of items F-1, F-2 … may have no head."""
    shapes = [_shape(row) for row in table.rows]
    return not any("#" in cell and cell == other[at] for other in shapes[1:] for at, cell in enumerate(shapes[0]))


def _shape(row: Sequence[str]) -> list[str]:
    return [re.sub(r"[0-9]+", "#", fold_compact(cell)) for cell in row]
