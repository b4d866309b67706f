"""Write Markdown from parsed blocks, with account of where each block is; captions of pictures, heads of tables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Final

from knowledge.text.merged_cells import MergedCell, written_spans
from knowledge.text.numbering import is_figure_caption
from knowledge.types.documents import Block, BlockKind, PageQuality, ParsedDocument, ParsedFigure
from knowledge.types.notices import Notice

_MAX_HEAD_ROWS = 4
_SEPARATOR = " / "

HeadRow = Mapping[int, tuple[str, int]]
"""The texts of a row by the column where each cell starts, with the last column that the cell reaches."""


class _FromAbove(str):
    __slots__ = ()


FROM_ABOVE: Final[str] = _FromAbove()
"""Stands, as an empty text, where a cell of a row above goes on; compare by identity."""


def column_names(rows: Sequence[HeadRow]) -> tuple[int, dict[int, str]]:
    """Return how many rows the head takes and the name of each column in it; 0 rows when one row alone is the head.

    A row belongs to the head when each of its cells is below one that spans several of them, and some cell of the
    head reaches down beside them: a first row of data has cells below all. So must empty cells be given, with ``""``.

    >>> column_names([{0: ("ID", 0), 1: ("権限", 2)}, {1: ("職員", 1), 2: ("市民", 2)}, {0: ("F-1", 0), 1: ("○", 1)}])
    (2, {0: 'ID', 1: '権限 / 職員', 2: '権限 / 市民'})
    """
    count = 1
    lowest = dict(rows[0]) if rows else {}
    while count < min(_MAX_HEAD_ROWS, len(rows) - 1) and (parted := _parted(lowest, rows[count])):
        lowest = {start: cell for start, cell in lowest.items() if start not in parted} | dict(rows[count])
        count += 1
    if count == 1:
        return 0, {}
    head = rows[:count]
    columns = sorted({column for row in head for column in row})
    return count, {column: _name(head, column) for column in columns}


def _parted(above: HeadRow, row: HeadRow) -> set[int]:
    """Return where the cells start that a row parts into several; empty when it goes on with no head."""
    below: dict[int, int] = {}
    for column in row:
        start = _over(above, column)
        if start is None:
            return set()
        below[start] = below.get(start, 0) + 1
    goes_on = bool(below) and min(below.values()) > 1 and len(below) < len(above)
    return set(below) if goes_on else set()


def _over(row: HeadRow, column: int) -> int | None:
    return next((start for start, (_, last) in row.items() if start <= column <= last), None)


def _name(head: Sequence[HeadRow], column: int) -> str:
    starts = [(row, _over(row, column)) for row in head]
    texts = [row[start][0].strip() for row, start in starts if start is not None]
    return _SEPARATOR.join(dict.fromkeys(text for text in texts if text))


def rows_under_one_head(rows: Sequence[HeadRow]) -> list[list[str]]:
    """Return the rows' texts; a cell that spans several places shows once, in the first of them.

    A head of several rows is one row of full column names. Where a cell goes on from above is ``FROM_ABOVE``.
    """
    own = [{column: cell for column, cell in row.items() if cell[0] is not FROM_ABOVE} for row in rows]
    head_rows, names = column_names(own)
    head = [{column: (name, column) for column, name in names.items()}] if head_rows else []
    widths = [(row, max((last + 1 for _, last in row.values()), default=0)) for row in [*head, *rows[head_rows:]]]
    return [[row[column][0] if column in row else "" for column in range(width)] for row, width in widths]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture's bytes and the alternative text its author gave it."""

    data: bytes
    media_type: str
    alt_text: str = ""


def placed_figures(
    markdown: str, blocks: Sequence[Block], pictures: Sequence[tuple[Block, Picture]]
) -> tuple[ParsedFigure, ...]:
    """Return of each picture where its block is and which caption is tied to it."""
    captions = figure_captions(markdown, blocks) if pictures else {}
    return tuple(
        ParsedFigure(
            data=picture.data,
            media_type=picture.media_type,
            start=block.start,
            end=block.end,
            caption=captions.get(block.start, ""),
            alt_text=picture.alt_text,
            page=block.page,
            sheet=block.sheet,
            cell=block.cell,
        )
        for block, picture in pictures
    )


def figure_captions(markdown: str, blocks: Sequence[Block]) -> dict[int, str]:
    """Map the start of a figure's block to its caption; figures without one are left out.

    Figures that follow each other share the caption. Whether captions are below or above is the document's habit:
    the side where more figures have one, below when in doubt.
    """
    runs = _runs(blocks)
    below = {run: following for run in runs if (following := _caption_at(markdown, blocks, run[1])) is not None}
    above = {run: leading for run in runs if (leading := _caption_at(markdown, blocks, run[0] - 1)) is not None}
    first, second = (below, above) if len(below) >= len(above) else (above, below)
    found: dict[int, str] = {}
    taken = set(first.values())
    for run in runs:
        caption = first.get(run)
        if caption is None and second.get(run) not in taken:
            caption = second.get(run)
        if caption is not None:
            block = blocks[caption]
            found.update((blocks[index].start, markdown[block.start : block.end]) for index in range(*run))
    return found


def _runs(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for is_figure, group in groupby(enumerate(blocks), key=lambda item: item[1].kind is BlockKind.FIGURE):
        indices = [index for index, _ in group]
        if is_figure:
            runs.append((indices[0], indices[-1] + 1))
    return runs


def _caption_at(markdown: str, blocks: Sequence[Block], index: int) -> int | None:
    if not 0 <= index < len(blocks) or blocks[index].kind is not BlockKind.CAPTION:
        return None
    text = markdown[blocks[index].start : blocks[index].end]
    return index if is_figure_caption(text) or text.lstrip("*_ ").startswith("図") else None


# What PostgreSQL (NUL) and UTF-8 (lone surrogates) refuse, and controls that mean nothing in text.
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_LINE_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_BLANKS = re.compile(r"[ \t\u00a0\u3000]+$", re.M)


def clean_text(text: str) -> str:
    """Remove what can't be stored, unify line ends, strip trailing blanks of lines and surrounding blank lines."""
    unified = _LINE_BREAKS.sub("\n", text)
    return _BLANKS.sub("", _UNSTORABLE.sub("", unified)).strip("\n")


def single_line(text: str) -> str:
    """Join lines and runs of white space with one space."""
    return " ".join(clean_text(text).split())


class MarkdownBuilder:
    """Collects blocks in document order, separated by a blank line, and records their exact spans."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._pictures: list[tuple[Block, Picture]] = []

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int | None = None,
        page: int | None = None,
        sheet: str | None = None,
        cell: str | None = None,
        rows: str | None = None,
        merged: str | None = None,
        pictures: Sequence[Picture] = (),
        glue: str | None = None,
        ocr: float | None = None,
    ) -> None:
        """Append one block; blank text is left out. Headings get their ``#`` marks here.

        ``glue`` is between this block and the one before it instead of a blank line: a paragraph that goes on
        over a page break is two blocks of one paragraph. ``ocr`` is the confidence of text that OCR read.
        """
        body = single_line(text) if kind is BlockKind.HEADING else textwrap.dedent(clean_text(text)).strip()
        if not body:
            return
        if kind is BlockKind.HEADING:
            level = min(max(level or 1, 1), 6)
            body = f"{'#' * level} {body}"
        if self._parts:
            self._append("\n\n" if glue is None else glue)
        start = self._length
        self._append(body)
        block = Block(
            kind=kind,
            start=start,
            end=self._length,
            level=level,
            page=page,
            sheet=sheet,
            cell=cell,
            rows=rows,
            merged=merged,
            ocr=ocr,
        )
        self._blocks.append(block)
        self._pictures.extend((block, picture) for picture in pictures)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._blocks)

    def markdown(self) -> str:
        """Return the whole text, ending in one newline unless it is empty."""
        return "".join([*self._parts, "\n"]) if self._parts else ""

    def document(
        self,
        format_name: str,
        *,
        title: str | None = None,
        pages: Sequence[PageQuality] = (),
        pages_count: int | None = None,
        notices: tuple[Notice, ...] = (),
        metadata: Mapping[str, str] = MappingProxyType({}),
    ) -> ParsedDocument:
        markdown = self.markdown()
        return ParsedDocument(
            format=format_name,
            markdown=markdown,
            blocks=self.blocks,
            figures=placed_figures(markdown, self._blocks, self._pictures),
            title=title,
            pages_count=pages_count,
            pages=tuple(pages),
            notices=notices,
            metadata=dict(metadata),
        )


def table_cell(text: str) -> str:
    """Write a cell's text on one line of a Markdown table."""
    lines = [" ".join(line.split()) for line in clean_text(text).split("\n")]
    return "<br>".join(line for line in lines if line).replace("|", "\\|")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableText:
    """A table in Markdown, and which of its cells reach into the lines below, as `Block.merged`."""

    text: str = ""
    merged: str | None = None


def render_table(rows: Sequence[Sequence[str]]) -> TableText:
    """Render rows of raw cell texts as a Markdown table whose header is the first row.

    Columns and rows without any text are dropped; the text is empty when nothing is left.
    """
    cells = [[text if text is FROM_ABOVE else table_cell(text) for text in row] for row in rows]
    kept = [at for at, row in enumerate(cells) if any(row)]
    width = max((len(row) for row in cells), default=0)
    used = [column for column in range(width) if any(column < len(row) and row[column] for row in cells)]
    shown = [[row[column] if column < len(row) else "" for column in used] for row in cells]
    lines = ["| " + " | ".join(shown[at]) + " |" for at in kept]
    if not lines:
        return TableText()
    text = "\n".join([lines[0], "|" + " --- |" * len(used), *lines[1:]])
    return TableText(text=text, merged=written_spans(_merged(shown, kept)))


def _merged(cells: Sequence[Sequence[str]], kept: Sequence[int]) -> Iterator[MergedCell]:
    """Yield the cells with text, those of the header left out, that reach into later ones of the rows that are kept."""
    line_of = {row: line for line, row in enumerate(kept)}
    for column in range(len(cells[0])):
        first = last = 0
        for row in range(len(cells)):
            if cells[row][column] is FROM_ABOVE:
                last = line_of.get(row, last)
                continue
            if first and last > first:
                yield column, first, last
            first = last = line_of.get(row, 0) if cells[row][column] else 0
        if first and last > first:
            yield column, first, last


def fence(code: str) -> str:
    """Wrap text in a code fence longer than any run of backticks inside it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}\n{clean_text(code)}\n{mark}"
