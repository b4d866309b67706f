"""Tables drawn with rules, by pdfplumber, on the pages that have rules at all, page by page."""

from __future__ import annotations

import dataclasses
import logging
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pdfplumber
from pdfminer.pdfexceptions import PDFException
from pdfplumber.utils.exceptions import PdfminerException

from knowledge.parsers.pdf.page import Line, Page, between, with_whole_kanji
from knowledge.parsers.render import FROM_ABOVE, column_names

# As wide as one Japanese character: what a full line may lack.
_SLACK = 2
_WIDE_CLASSES = "WFA"
_SENTENCE_END = ("。", "！", "？", ":", "：")
_ITEM = re.compile(r"[-*•・●○◆■□▪※]|[(（]?[0-9０-９]{1,2}[.)）．](?![0-9])|[①-⑳]|[(（][ア-ン][)）]")

Box = tuple[float, float, float, float]


def table_texts(rows: Sequence[Sequence[str | None]], boxes: Sequence[Sequence[Box | None]]) -> list[list[str]]:
    """Return the rows of a table as they are to be written, ``FROM_ABOVE`` where a cell of a row above goes on.

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
    return head + _with_reached(texts, boxes)[head_rows:]


def _with_reached(texts: Sequence[Sequence[str | None]], boxes: Sequence[Sequence[Box | None]]) -> list[list[str]]:
    written: list[list[str]] = []
    lowest: dict[int, float] = {}
    for row, row_boxes in zip(texts, boxes, strict=True):
        top = min((box[1] for box in row_boxes if box), default=0.0)
        written.append(
            [
                (cell or "") if box else FROM_ABOVE if lowest.get(column, 0.0) > top + 1 else ""
                for column, (cell, box) in enumerate(zip(row, row_boxes, strict=True))
            ]
        )
        lowest |= {column: box[3] for column, box in enumerate(row_boxes) if box}
    return written


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
        text += (joint(above, line) if full else "\n") + line
    return text


def joint(above: str, line: str) -> str:
    """Return what is between the end of a full line in a cell and the line that follows it."""
    ends = above.endswith(_SENTENCE_END) or _ITEM.match(line) is not None
    return "\n" if ends else between(above, line)


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
    def is_table(self) -> bool:
        """Whether cells hold text in at least two rows and columns: frames and diagrams don't."""
        columns = sum(1 for column in zip(*self.rows, strict=True) if any(cell.strip() for cell in column))
        lines = sum(1 for row in self.rows if any(cell.strip() for cell in row))
        filled = sum(1 for row in self.rows for cell in row if cell.strip())
        return columns >= 2 and lines >= 2 and filled >= _MIN_FILLED * columns * lines

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
