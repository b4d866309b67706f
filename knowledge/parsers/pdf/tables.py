"""Tables drawn with rules, by pdfplumber, on the pages that have rules at all; also where they go on over a page.

A table is read page by page, and Markdown knows no table without a head: the rows on the next page get the head of the
page before, or the row that happens to open a page would be taken for one.
"""

from __future__ import annotations

import dataclasses
import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pdfplumber
from pdfminer.pdfexceptions import PDFException
from pdfplumber.utils.exceptions import PdfminerException

from knowledge.parsers.pdf.page import Line, Page, between, with_whole_kanji
from knowledge.parsers.render import column_names, render_table
from knowledge.text.folding import fold_compact

# As wide as one Japanese character: what a full line may lack.
_SLACK = 2
_WIDE_CLASSES = "WFA"
_SENTENCE_END = ("。", "！", "？", ":", "：")
_ITEM = re.compile(r"[-*•・●○◆■□▪※]|[(（]?[0-9０-９]{1,2}[.)）．](?![0-9])|[①-⑳]|[(（][ア-ン][)）]")

Box = tuple[float, float, float, float]


def table_texts(rows: Sequence[Sequence[str | None]], boxes: Sequence[Sequence[Box | None]]) -> list[list[str]]:
    """Return the rows of a table as they are to be written; None where a merged cell goes on.

    ``boxes`` are the cells' (left, top, right, bottom), in the same places.
    """
    texts = [[None if cell is None else with_whole_kanji(cell) for cell in row] for row in rows]
    widths = [max(map(_width, _lines(column)), default=0) for column in zip(*texts, strict=True)]
    texts = [[_joined(cell, width) for cell, width in zip(row, widths, strict=True)] for row in texts]
    lefts = [min((box[0] for box in column if box), default=0.0) for column in zip(*boxes, strict=True)]
    grid = [
        {
            column: (cell, max(other for other, left in enumerate(lefts) if other == column or left < box[2] - 1))
            for column, (cell, box) in enumerate(zip(row, row_boxes, strict=True))
            if cell is not None and box is not None
        }
        for row, row_boxes in zip(texts, boxes, strict=True)
    ]
    head_rows, names = column_names(grid)
    head = [[names.get(column, "") for column in range(len(widths))]] if head_rows else []
    return head + [[cell or "" for cell in row] for row in texts[head_rows:]]


def _lines(cells: Iterable[str | None]) -> list[str]:
    return [line for cell in cells if cell for line in cell.split("\n")]


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in _WIDE_CLASSES else 1 for char in line.strip())


def _joined(cell: str | None, column_width: int) -> str | None:
    """Join the lines that are full and go on in the next: a column is as wide as the widest line in it."""
    if not cell:
        return cell
    lines = [line.strip() for line in cell.split("\n") if line.strip()]
    text = lines[0] if lines else ""
    for above, line in pairwise(lines):
        full = _width(above) >= column_width - _SLACK
        ends = above.endswith(_SENTENCE_END) or _ITEM.match(line) is not None
        text += ("\n" if ends or not full else between(above, line)) + line
    return text


# It warns of every font that it has to guess at, on a stream that is kept for the reason of a crash.
logging.getLogger("pdfminer").setLevel(logging.ERROR)

_MAX_PATHS = 3000
_MIN_FILLED = 0.4
_BROKEN = (PDFException, PdfminerException, ValueError, KeyError, TypeError, IndexError, AssertionError)


_WHITE = frozenset({(1.0,), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 0.0)})

Color = tuple[float, ...]
"""Grey, RGB or CMYK, as many numbers as that needs, from 0 to 1."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PdfTable:
    """The texts of a table, head first, and its box in points from the page's top left corner.

    ``edges`` are where its columns begin, from the left. ``row_height`` is that of the first row in points, ``fills``
    are the colours behind the first two rows, None where the paper is seen. A carried head stands on an earlier page.
    """

    rows: tuple[tuple[str, ...], ...]
    left: float
    top: float
    right: float
    bottom: float
    edges: tuple[float, ...]
    row_height: float
    fills: tuple[Color | None, ...] = ()
    has_carried_head: bool = False

    @property
    def markdown(self) -> str:
        return render_table(self.rows)

    @property
    def is_table(self) -> bool:
        """Whether cells hold text in at least two rows and columns: frames and diagrams don't."""
        columns = sum(1 for column in zip(*self.rows, strict=True) if any(cell.strip() for cell in column))
        lines = sum(1 for row in self.rows if any(cell.strip() for cell in row))
        filled = sum(1 for row in self.rows for cell in row if cell.strip())
        return columns >= 2 and lines >= 2 and filled >= _MIN_FILLED * columns * lines

    def with_head(self, head: tuple[str, ...]) -> PdfTable:
        return dataclasses.replace(self, rows=(head, *self.rows), has_carried_head=True)

    def holds(self, line: Line) -> bool:
        x, y = (line.left + line.right) / 2, (line.top + line.bottom) / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom


def find_tables(source: Path | BytesIO, pages: list[Page]) -> Mapping[int, tuple[PdfTable, ...]]:
    """Find what is ruled like a table, by page number, from the top; the caller asks each whether it is one.

    Pages with no rules, or with drawings instead of tables, are not opened. A page that pdfplumber can't read has no
    tables: its text is there from PDFium all the same.
    """
    candidates = {page.number: page for page in pages if page.ruled and page.paths <= _MAX_PATHS and page.lines}
    if not candidates:
        return {}
    found: dict[int, tuple[PdfTable, ...]] = {}
    try:
        with pdfplumber.open(source, pages=sorted(candidates)) as document:
            for page in document.pages:
                found[page.page_number] = tuple(_page_tables(page, candidates[page.page_number]))
                page.close()
    except _BROKEN:
        return found
    return found


def _page_tables(page: pdfplumber.page.Page, read: Page) -> list[PdfTable]:
    # A cropped page has other coordinates in pdfplumber than in PDFium.
    if abs(page.width - read.width) > 1 or abs(page.height - read.height) > 1:
        return []
    return [_table(page, table) for table in sorted(page.find_tables(), key=lambda table: table.bbox[1])]


def _table(page: pdfplumber.page.Page, table: pdfplumber.table.Table) -> PdfTable:
    left, top, right, bottom = table.bbox
    boxes = [row.cells for row in table.rows]
    return PdfTable(
        rows=tuple(map(tuple, table_texts(table.extract(), boxes))),
        left=left,
        top=top,
        right=right,
        bottom=bottom,
        edges=tuple(sorted({cell[0] for cell in table.cells})),
        row_height=min((cell[3] - cell[1] for cell in boxes[0] if cell), default=0.0),
        fills=tuple(_fill(page, [cell for cell in row if cell]) for row in boxes[:2]),
    )


def _fill(page: pdfplumber.page.Page, cells: Sequence[Box]) -> Color | None:
    colors = [_color_at(page, (left + right) / 2, (top + bottom) / 2) for left, top, right, bottom in cells]
    shaded = [color for color in colors if color is not None]
    return shaded[0] if 2 * len(shaded) > len(cells) else None


def _color_at(page: pdfplumber.page.Page, x: float, y: float) -> Color | None:
    for area in reversed(page.rects):
        if area["fill"] and area["x0"] <= x <= area["x1"] and area["top"] <= y <= area["bottom"]:
            color = _color(area["non_stroking_color"])
            return None if color in _WHITE else color
    return None


def _color(value: object) -> Color | None:
    """Read a colour as pdfplumber gives it: one number or several; None for patterns."""
    numbers = value if isinstance(value, tuple | list) else (value,)
    return tuple(map(float, numbers)) if all(isinstance(number, int | float) for number in numbers) else None


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
    is at the same place elsewhere runs along with them, and is left out.
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
    """Return whether nothing is above the table on its page, but for a remark that it goes on."""
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
    """Return whether the row that opens the page did not fit below the table on the page before."""
    margin = max(_MARGIN * page_height, min(table.top, page_height / 4))
    return page_height - margin - above.bottom <= table.row_height + _LOOSE * page_height


def _has_own_head(above: PdfTable, table: PdfTable) -> bool:
    """Return whether the head is repeated, or another one is in its place: its colour shows it."""
    if _folded(table.rows[0]) == _folded(above.rows[0]):
        return True
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
