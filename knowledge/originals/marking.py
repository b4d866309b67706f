"""Finding the words of a span on pages, and its cells in sheets. Pure: somebody else asks a parser child."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from knowledge.originals.places import SheetPart, document_part, page_part, sheet_parts
from knowledge.text.folding import fold_compact
from knowledge.types.documents import Block

FIND_TASK = "knowledge.parsers.pdf.picture:find_words"
SEEK_TASK = "knowledge.parsers.pdf.seeking:find_in_document"
GRID_TASK = "knowledge.parsers.xlsx.grid:show_cells"
ROWS_AROUND = 6
MOST_ROWS = 80
WIDEST = 80  # characters; Excel's own is 255, which is wider than any page
# Less than this share of the words found on a page is not worth boxes.
LEAST_SHARE = 0.5
_LEAST_PART = 3


class Ask(Protocol):
    """Has a parser child do a task with the original; gives the JSON object that it gives."""

    def __call__(self, task: str, /, **arguments: object) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPage:
    """A page and where the cited words stand on it: boxes as (left, top, width, height), and its size, in points."""

    page: int
    width: float
    height: float
    boxes: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCell:
    """A cell of a sheet: its column from 1, how many columns and rows it spans, and whether it is cited."""

    column: int
    text: str
    columns: int
    rows: int
    is_cited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetWindow:
    """Some rows of a sheet. ``columns`` are names and widths in characters (None where the file has none).

    ``beside`` is the cell where the cited text stands in a shape, and in no cell; else empty.
    """

    sheet: str
    columns: tuple[tuple[str, float | None], ...]
    rows: tuple[tuple[int, tuple[ShownCell, ...]], ...]
    is_cut: bool
    beside: str = ""


def mark_pages(ask: Ask, markdown: str, blocks: Sequence[Block], start: int, end: int) -> list[MarkedPage]:
    """Find the words of a span on its page, and of one that goes on, on the next; nothing where they are not found."""
    part = page_part(markdown, blocks, start, end)
    if part is None:
        return []
    return _marked(ask(FIND_TASK, page=part.page, pieces=list(part.pieces), at=part.at))


def mark_document(ask: Ask, markdown: str, blocks: Sequence[Block], start: int, end: int) -> list[MarkedPage]:
    """As `mark_pages`, in a document whose stored text does not know pages."""
    part = document_part(markdown, blocks, start, end)
    if part is None:
        return []
    return _marked(ask(SEEK_TASK, pieces=list(part.pieces), around=list(part.around), at=part.at))


def _marked(found: dict[str, Any]) -> list[MarkedPage]:
    if found["share"] < LEAST_SHARE:
        return []
    return [
        MarkedPage(
            page=one["page"],
            width=one["width"],
            height=one["height"],
            boxes=tuple((left, top, right - left, bottom - top) for left, top, right, bottom in one["boxes"]),
        )
        for one in found["pages"]
    ]


def mark_cells(ask: Ask, markdown: str, blocks: Sequence[Block], start: int, end: int) -> list[SheetWindow]:
    """Show the first sheet that a span is on, with its cells marked and some rows around; nothing without cells."""
    return [_window(ask, part) for part in sheet_parts(markdown, blocks, start, end)[:1]]


def _window(ask: Ask, part: SheetPart) -> SheetWindow:
    first = max(part.first_row - ROWS_AROUND, 1)
    last = min(part.last_row + ROWS_AROUND, first + MOST_ROWS - 1)
    found = ask(GRID_TASK, sheet=part.sheet, first_row=first, last_row=last)
    cited = {fold_compact(piece) for piece in part.pieces}

    def is_cited(number: int, spans: int, text: str) -> bool:
        is_in_rows = number <= part.last_row and part.first_row < number + spans
        return is_in_rows and any(_has(fold_compact(text), piece) for piece in cited)

    rows = tuple(
        (
            number,
            tuple(
                ShownCell(column=column, text=text, columns=columns, rows=spans, is_cited=is_cited(number, spans, text))
                for column, text, columns, spans in cells
            ),
        )
        for number, cells in found["rows"]
    )
    columns = tuple((name, width and min(max(width, 1), WIDEST)) for name, width in found["columns"])
    is_found = any(cell.is_cited for _number, cells in rows for cell in cells)
    return SheetWindow(
        sheet=part.sheet,
        columns=columns,
        rows=rows,
        is_cut=bool(found["is_cut"]),
        beside="" if is_found else part.anchor,
    )


def _has(cell: str, piece: str) -> bool:
    """Whether a cell has a cited text, or is a part of it. Short ones have to be the same."""
    if min(len(cell), len(piece)) < _LEAST_PART:
        return bool(cell) and cell == piece
    return piece in cell or cell in piece
