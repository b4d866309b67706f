"""The smallest units that a chunk is made of: sentences, list items, table rows, lines of code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from knowledge.text.sentences import lines_of, sentence_spans
from knowledge.types.documents import Block, BlockKind

_SEPARATOR_ROW = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_RANGE = re.compile(r"(?P<left>[A-Z]+)(?P<top>[0-9]+):(?P<right>[A-Z]+)(?P<bottom>[0-9]+)")
_BY_LINE = frozenset({BlockKind.LIST, BlockKind.CODE, BlockKind.FRONT_MATTER})
_REPEATABLE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST})


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A span of a block. ``header`` is the table header to repeat when a chunk starts with this piece."""

    start: int
    end: int
    block: Block
    header: tuple[int, int] | None = None
    cell: str | None = None

    @property
    def is_heading(self) -> bool:
        return self.block.kind is BlockKind.HEADING

    @property
    def repeatable(self) -> bool:
        """Whether the piece may overlap into the next chunk: prose does, tables and code don't."""
        return self.block.kind in _REPEATABLE


def block_pieces(markdown: str, block: Block) -> Iterator[Piece]:
    """Cut one block into its pieces, in order and without gaps."""
    if block.kind is BlockKind.TABLE:
        yield from _table_pieces(markdown, block)
        return
    if block.kind in _BY_LINE:
        spans = list(lines_of(markdown, block.start, block.end))
    elif block.kind is BlockKind.PARAGRAPH:
        spans = list(sentence_spans(markdown, block.start, block.end))
    else:
        spans = [(block.start, block.end)]
    for start, end in spans:
        yield Piece(start=start, end=end, block=block, cell=block.cell)


def table_header(markdown: str, block: Block) -> tuple[int, int] | None:
    """Return the span of a table's header and separator rows with their line ends; None for a table without them."""
    lines = islice(lines_of(markdown, block.start, block.end), 2)
    head, rule = next(lines, None), next(lines, None)
    if head is None or rule is None or not _SEPARATOR_ROW.fullmatch(markdown[slice(*rule)].strip()):
        return None
    return head[0], rule[1]


def _table_pieces(markdown: str, block: Block) -> Iterator[Piece]:
    """Yield the header with the first row, then row by row."""
    header = table_header(markdown, block)
    if header is None:
        for start, end in lines_of(markdown, block.start, block.end):
            yield Piece(start=start, end=end, block=block, cell=block.cell)
        return
    rows = list(lines_of(markdown, header[1], block.end))
    cells = _RowCells(block, lines=len(rows) + 1)
    head_end = rows[0][1] if rows else header[1]
    yield Piece(start=header[0], end=head_end, block=block, cell=cells.between(0, min(1, len(rows))))
    for row, (start, end) in enumerate(rows[1:], 2):
        yield Piece(start=start, end=end, block=block, header=header, cell=cells.between(row, row))


class _RowCells:
    def __init__(self, block: Block, *, lines: int) -> None:
        self._cell = block.cell
        self._rows: Sequence[int] = ()
        self._match = _RANGE.fullmatch(block.cell or "")
        if self._match is None:
            return
        top, bottom = int(self._match["top"]), int(self._match["bottom"])
        self._rows = _row_numbers(block.rows) if block.rows else range(top, bottom + 1)
        if len(self._rows) != lines:
            self._match = None

    def between(self, first: int, last: int) -> str | None:
        if self._match is None:
            return self._cell
        return f"{self._match['left']}{self._rows[first]}:{self._match['right']}{self._rows[last]}"


def _row_numbers(ranges: str) -> list[int]:
    """Read ``3,5-7`` as 3, 5, 6, 7."""
    ends = (part.partition("-") for part in ranges.split(","))
    return [row for first, _, last in ends for row in range(int(first), int(last or first) + 1)]


def cell_range(pieces: list[Piece]) -> str | None:
    """Return the range that holds the cells of all pieces; None without cells.

    >>> block = Block(kind=BlockKind.TABLE, start=0, end=1)
    >>> cell_range([Piece(start=0, end=1, block=block, cell=c) for c in ("B2:D3", "A5")])
    'A2:D5'
    """
    corners = [corner for piece in pieces if piece.cell for corner in piece.cell.split(":")]
    if not corners:
        return None
    columns = [corner.rstrip("0123456789") for corner in corners]
    rows = [int(corner[len(column) :]) for corner, column in zip(corners, columns, strict=True)]
    by_width = sorted(columns, key=lambda column: (len(column), column))
    first, last = f"{by_width[0]}{min(rows)}", f"{by_width[-1]}{max(rows)}"
    return first if first == last else f"{first}:{last}"
