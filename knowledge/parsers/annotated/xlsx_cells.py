"""Which cell of a workbook a part of its stored text comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from knowledge.parsers.annotated.alignment import Moved, places_in
from knowledge.parsers.annotated.notes import Note, Placed
from knowledge.parsers.xlsx.reader import Sheet, split_reference
from knowledge.text.folding import fold_compact
from knowledge.text.sentences import lines_of
from knowledge.text.sheet_cells import row_numbers
from knowledge.types.documents import Block, BlockKind, ParsedDocument

_RULER = re.compile(r"[|\s:-]+")
_CELL = re.compile(r"(?:\\.|[^|\\])*")
_NOT_WORDS = re.compile(r"<br\s*/?>|\\|\||^#+ ", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlace:
    """A cell by row and column from 1, and whether it has the words of the note or is where they are at."""

    sheet: str
    row: int
    column: int
    placed: Placed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    """A part of the text that comes from one of some cells: ``(row, column)`` of each."""

    start: int
    end: int
    cells: tuple[tuple[int, int], ...]


class CellPlaces:
    """Finds the cells of one workbook. ``markdown`` is the stored text that notes are on."""

    def __init__(self, document: ParsedDocument, sheets: Mapping[str, Sheet], markdown: str) -> None:
        self._document = document
        self._sheets = sheets
        self._moved = Moved(markdown, document.markdown)
        self._stretches: dict[int, list[_Stretch]] = {}

    def find(self, note: Note) -> CellPlace | None:
        """Return the first cell that a note's words are in; None where the text has no such place any more."""
        span = self._moved.span(note.start, note.end)
        if span is None:
            return None
        text = self._document.markdown
        for block in self._document.blocks:
            if block.start >= span[1] or block.end <= span[0] or block.sheet is None:
                continue
            for stretch in self._of(block):
                start, end = max(stretch.start, span[0]), min(stretch.end, span[1])
                words = fold_compact(_NOT_WORDS.sub("", text[start:end]))
                if start < end and words and stretch.cells:
                    return self._cell(block.sheet, stretch.cells, words, is_quote=note.is_quote)
            return self._anchor(block)
        return None

    def _cell(self, sheet: str, cells: Sequence[tuple[int, int]], words: str, *, is_quote: bool) -> CellPlace:
        texts = self._sheets[sheet].cells
        having = [place for place in cells if words in fold_compact(texts.get(place, ""))]
        row, column = having[-1] if having else cells[-1]
        placed = Placed.EXACT if having and is_quote else Placed.NEAR
        return CellPlace(sheet=sheet, row=row, column=column, placed=placed)

    def _anchor(self, block: Block) -> CellPlace:
        """Return the first cell of a block: where a shape hangs, or of a sheet whose name is meant.

        Inside of a merged cell it is that one's first: Excel shows no note of the others.
        """
        sheet = block.sheet or ""
        row, column = split_reference(block.cell.partition(":")[0]) if block.cell else (1, 1)
        merged = self._sheets[sheet].merged if sheet in self._sheets else {}
        row, column = next(
            (one for one, last in merged.items() if one[0] <= row <= last[0] and one[1] <= column <= last[1]),
            (row, column),
        )
        return CellPlace(sheet=sheet, row=row, column=column, placed=Placed.NEAR)

    def _of(self, block: Block) -> list[_Stretch]:
        if block.start not in self._stretches:
            found = [] if block.cell is None or block.sheet not in self._sheets else list(self._read(block))
            self._stretches[block.start] = found
        return self._stretches[block.start]

    def _read(self, block: Block) -> Iterator[_Stretch]:
        first, _, last = (block.cell or "").partition(":")
        top, left = split_reference(first)
        bottom, right = split_reference(last or first)
        cells = self._sheets[block.sheet or ""].cells
        rows: dict[int, list[int]] = {}
        for row in range(top, bottom + 1):
            columns = [column for column in range(left, right + 1) if (row, column) in cells]
            if columns:
                rows[row] = columns
        if block.kind is BlockKind.TABLE:
            yield from self._table(block, rows)
        else:
            yield from self._lines(block, rows)

    def _table(self, block: Block, rows: Mapping[int, Sequence[int]]) -> Iterator[_Stretch]:
        text = self._document.markdown
        lines = [one for one in lines_of(text, block.start, block.end) if not _RULER.fullmatch(text[slice(*one)])]
        numbers = row_numbers(block.rows) if block.rows else sorted(rows)
        if len(numbers) != len(lines):
            numbers = self._rows_by_text(block, lines, rows)
        columns = sorted({column for found in rows.values() for column in found})
        for index, (start, end) in enumerate(lines):
            if numbers[index] not in rows:
                continue
            is_head = index == 0 and len(numbers) > 1
            of_line = [row for row in rows if numbers[0] <= row < numbers[1]] if is_head else [numbers[index]]
            parts = list(_cells_of_line(text, start, end))
            if len(parts) != len(columns):
                continue
            for column, (begun, stop) in zip(columns, parts, strict=True):
                places = tuple((row, column) for row in of_line if column in rows.get(row, ()))
                # A name over several columns stands in the first of them.
                over = [(row, max(left)) for row in of_line if (left := [one for one in rows[row] if one < column])]
                yield _Stretch(start=begun, end=stop, cells=places or (tuple(over) if is_head else ()))

    def _rows_by_text(
        self, block: Block, lines: Sequence[tuple[int, int]], rows: Mapping[int, Sequence[int]]
    ) -> list[int]:
        """Return the row of each line whose texts are the line's, in order; 0 for a line without one."""
        cells = self._sheets[block.sheet or ""].cells
        texts = {row: fold_compact("".join(cells[row, column] for column in columns)) for row, columns in rows.items()}
        waiting = iter(sorted(rows))
        found = []
        for start, end in lines:
            wanted = fold_compact(_NOT_WORDS.sub("", self._document.markdown[start:end]))
            left = list(waiting)
            at = next((place for place, row in enumerate(left) if texts[row] == wanted), None)
            found.append(left[at] if at is not None else 0)
            waiting = iter(left if at is None else left[at + 1 :])
        return found

    def _lines(self, block: Block, rows: Mapping[int, Sequence[int]]) -> Iterator[_Stretch]:
        text = self._document.markdown
        lines = list(lines_of(text, block.start, block.end))
        cells = self._sheets[block.sheet or ""].cells
        if len(lines) != len(rows):
            return
        for (start, end), (row, columns) in zip(lines, rows.items(), strict=True):
            at = start
            for column in columns:
                found = [place for place in places_in(text, cells[row, column], at, end) if place >= 0]
                if found:
                    yield _Stretch(start=found[0], end=found[-1] + 1, cells=((row, column),))
                    at = found[-1] + 1


def _cells_of_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the cells of a table's line stand, without the bars."""
    at = text.index("|", start, end) + 1
    while at < end:
        found = _CELL.match(text, at, end)
        stop = found.end() if found else at
        if stop >= end or text[stop] != "|":
            return
        yield at, stop
        at = stop + 1
