"""Where in the original a part of the stored text comes from: words of a page, cells of a sheet. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge.text.excerpts import is_ruler
from knowledge.text.quotes import unmarked_line, written_parts
from knowledge.text.sentences import lines_of
from knowledge.text.sheet_cells import RowCells
from knowledge.text.tables import cells_of
from knowledge.types.documents import Block, BlockKind

MOST_PIECES = 400
AROUND = 300  # characters on each side
_TO_A_PAGE = re.compile(r"…[ \t]{0,9}[0-9]{1,4}$")
_CELLS = re.compile(r"([A-Z]+)([0-9]+)(?::([A-Z]+)([0-9]+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """Pieces of a page's text in their order, and how far down that text they begin, from 0 to 1."""

    page: int
    pieces: tuple[str, ...]
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """Pieces of a document's text in their order, those with what is around them, and how far into the text, 0 to 1."""

    pieces: tuple[str, ...]
    around: tuple[str, ...]
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetPart:
    """Rows of a sheet, from 1 and inclusive, the texts that are cited of them, and the first of their cells."""

    sheet: str
    first_row: int
    last_row: int
    pieces: tuple[str, ...]
    anchor: str


def page_part(markdown: str, blocks: Sequence[Block], start: int, end: int) -> PagePart | None:
    """Give what is cited on the first page that the span is on; None where no page is known."""
    cited = [block for block in _inside(blocks, start, end) if block.page is not None]
    if not cited or cited[0].page is None:
        return None
    page = cited[0].page
    of_page = [block for block in blocks if block.page == page]
    length = sum(block.end - block.start for block in of_page) or 1
    before = sum(min(block.end, start) - block.start for block in of_page if block.start < start)
    pieces = [piece for block in cited if block.page == page for piece in _pieces(markdown, block, start, end)]
    return PagePart(page=page, pieces=tuple(pieces[:MOST_PIECES]), at=before / length) if pieces else None


def document_part(markdown: str, blocks: Sequence[Block], start: int, end: int) -> DocumentPart | None:
    """Give what is cited of a document without known pages, and what is around it; None for a span without words."""
    cited = _without_page_numbers(markdown, blocks, start, end)
    if not cited:
        return None
    around = _without_page_numbers(markdown, blocks, start - AROUND, end + AROUND)
    return DocumentPart(pieces=cited, around=around, at=start / (len(markdown) or 1))


def _without_page_numbers(markdown: str, blocks: Sequence[Block], start: int, end: int) -> tuple[str, ...]:
    """The pieces of a span; lines of a table of contents end before the number, which is another on pages made anew."""
    pieces = [piece for block in _inside(blocks, start, end) for piece in _pieces(markdown, block, start, end)]
    return tuple(_TO_A_PAGE.sub("", piece).rstrip() for piece in pieces[:MOST_PIECES])


def sheet_parts(markdown: str, blocks: Sequence[Block], start: int, end: int) -> list[SheetPart]:
    """Give what is cited of each sheet, in the order of the text; nothing where no cells are known."""
    found: dict[str, SheetPart] = {}
    for block in _inside(blocks, start, end):
        for cells, pieces in _cells(markdown, block, start, end):
            known = _CELLS.fullmatch(cells)
            if known is None or block.sheet is None:
                continue
            first, last = int(known[2]), int(known[4] or known[2])
            sheet = found.get(block.sheet)
            found[block.sheet] = SheetPart(
                sheet=block.sheet,
                first_row=min(first, sheet.first_row) if sheet else first,
                last_row=max(last, sheet.last_row) if sheet else last,
                pieces=((*sheet.pieces, *pieces) if sheet else tuple(pieces))[:MOST_PIECES],
                anchor=sheet.anchor if sheet else f"{known[1]}{known[2]}",
            )
    return list(found.values())


def _inside(blocks: Sequence[Block], start: int, end: int) -> list[Block]:
    return [block for block in blocks if block.start < end and start < block.end]


def _pieces(markdown: str, block: Block, start: int, end: int) -> Iterator[str]:
    """The words of a block within a span, as the page has them: without what the stored text marks them with."""
    first, last = max(block.start, start), min(block.end, end)
    for begun, stop in lines_of(markdown, first, last):
        line = markdown[begun:stop]
        if block.kind is BlockKind.TABLE:
            yield from () if is_ruler(line) else written_parts(cells_of(line))
        else:
            is_marked = block.kind in (BlockKind.HEADING, BlockKind.LIST)
            yield from written_parts([unmarked_line(line) if is_marked else line])


def _cells(markdown: str, block: Block, start: int, end: int) -> Iterator[tuple[str, list[str]]]:
    """The cells of a block that a span touches, line by line, with the texts that it touches of them."""
    if block.cell is None:
        return
    if block.kind is not BlockKind.TABLE:
        yield block.cell, list(_pieces(markdown, block, start, end))
        return
    rows = [line for line in lines_of(markdown, block.start, block.end) if not is_ruler(markdown[slice(*line)])]
    cells = RowCells(block, lines=len(rows))
    for number, (begun, stop) in enumerate(rows):
        if begun < end and start < stop and (of_row := cells.between(number, number)):
            yield of_row, list(written_parts(cells_of(markdown[max(begun, start) : min(stop, end)])))
