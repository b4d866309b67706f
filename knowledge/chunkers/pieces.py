"""The smallest units of a chunk, how much of it they take, what is above them, and where a long one is cut."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from knowledge.text.merged_cells import merged_cells
from knowledge.text.sentences import SENTENCE_END, lines_of, sentence_spans
from knowledge.text.sheet_cells import RowCells
from knowledge.text.tables import cells_of
from knowledge.types.chunks import ChunkOptions, SizeUnit
from knowledge.types.documents import Block, BlockKind, Section

_SEPARATOR_ROW = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_BY_LINE = frozenset({BlockKind.LIST, BlockKind.CODE, BlockKind.FRONT_MATTER})
_REPEATABLE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST})


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A span of a block. ``header`` is the table header to repeat when a chunk starts with this piece. ``above`` are
    the texts, column by column, of the cells that go on into it from rows above; empty without any.
    """

    start: int
    end: int
    block: Block
    header: tuple[int, int] | None = None
    above: tuple[str, ...] = ()
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
    cells = RowCells(block, lines=len(rows) + 1)
    above = _rows_from_above(markdown, block, [header, *rows])
    head_end = rows[0][1] if rows else header[1]
    yield Piece(start=header[0], end=head_end, block=block, cell=cells.between(0, min(1, len(rows))))
    for row, (start, end) in enumerate(rows[1:], 2):
        cell = cells.between(row, row)
        yield Piece(start=start, end=end, block=block, header=header, cell=cell, above=above.get(row, ()))


def _rows_from_above(markdown: str, block: Block, lines: Sequence[tuple[int, int]]) -> dict[int, tuple[str, ...]]:
    """Map the lines of a table that cells from above go on into to a row of those cells alone; each is read once."""
    origins: dict[int, dict[int, int]] = {}
    for column, first, last in merged_cells(block.merged):
        for line in range(first + 1, min(last, len(lines) - 1) + 1):
            origins.setdefault(line, {})[column] = first
    if not origins:
        return {}
    header = cells_of(markdown[slice(*lines[0])].partition("\n")[0])
    begun = {first for cells in origins.values() for first in cells.values()}
    texts = {first: cells_of(markdown[slice(*lines[first])]) for first in begun}
    columns = range(len(header))
    return {
        line: tuple(texts[cells[column]][column] if column in cells else "" for column in columns)
        for line, cells in origins.items()
    }


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


# An ASCII character is about half as many tokens as a Japanese one in multilingual vocabularies; the estimate only
# saves calls, every chunk is counted.
_ASCII_WEIGHT = 0.45
_FAR_TOO_LONG = 16.0
_FIRST_TOKENS_PER_WEIGHT = 0.65


def weight(text: str) -> float:
    """Return a cheap measure that grows about like the number of tokens."""
    ascii_length = len(text.encode("ascii", "ignore"))
    return len(text) - ascii_length + _ASCII_WEIGHT * ascii_length


class Budget:
    """Measures texts as a share of what a chunk may hold: up to 1 fits.

    Sizes in characters may come with a ``token_limit`` besides, the embedding model's own.
    """

    def __init__(
        self, options: ChunkOptions, count_tokens: Callable[[str], int], *, token_limit: int | None = None
    ) -> None:
        self._count_tokens = count_tokens
        self._characters = options.size if options.unit is SizeUnit.CHARACTERS else None
        self._tokens = token_limit if self._characters is not None else min(options.size, token_limit or options.size)
        self._overlap = options.overlap
        self._rate = _FIRST_TOKENS_PER_WEIGHT
        self._last = ("", 0)

    def tokens(self, text: str) -> int:
        """Count tokens exactly and learn from it for the next estimate."""
        if text == self._last[0]:
            return self._last[1]
        count = self._count_tokens(text)
        self._last = (text, count)
        heavy = weight(text)
        if heavy >= 20:
            self._rate = count / heavy
        return count

    def share(self, text: str) -> float:
        """Measure a text exactly, as a share of the budget."""
        by_characters = len(text) / self._characters if self._characters else 0.0
        by_tokens = self.tokens(text) / self._tokens if self._tokens else 0.0
        return max(by_characters, by_tokens)

    def fits(self, text: str) -> bool:
        """Return whether a text fits, exactly."""
        if self._characters is not None and len(text) > self._characters:
            return False
        return self._tokens is None or self.tokens(text) <= self._tokens

    def estimate(self, text: str) -> float:
        """Guess a text's share of the budget without counting tokens; texts far too long are not even weighed."""
        if self.is_far_too_long(len(text)):
            return _FAR_TOO_LONG
        by_characters = len(text) / self._characters if self._characters else 0.0
        by_tokens = weight(text) * self._rate / self._tokens if self._tokens else 0.0
        return max(by_characters, by_tokens)

    def is_far_too_long(self, length: int) -> bool:
        """Return whether a text of so many characters need not even be put together."""
        return length > _FAR_TOO_LONG * (self._characters or self._tokens or 1)

    def likely_end(self, text: str, start: int, end: int) -> int:
        """Guess an end at which ``text[start:…]`` just fills the budget, or return ``end``."""
        length = 64
        while start + length < end and self.estimate(text[start : start + length]) < 1.0:
            length += max(length // 5, 64)
        return min(start + length, end)

    def within_overlap(self, text: str) -> bool:
        """Guess whether a text is short enough to be repeated in the next chunk."""
        size = len(text) if self._characters is not None else weight(text) * self._rate
        return size <= self._overlap


_SEPARATOR = " > "
_PATH_SHARE = 0.25
_HEADER_SHARE = 0.4


class SectionContext:
    def __init__(self, markdown: str, sections: Sequence[Section], budget: Budget) -> None:
        self._markdown = markdown
        self._sections = sections
        self._budget = budget

    def prefix(self, first: Piece) -> str:
        """Return the titles of the sections that began before the piece, then the header of the table it goes on with
        and the cells above that reach into it.

        Each part ends in a newline. The path is trimmed from the top to a quarter of the chunk; a header that would
        take over 2/5 of it is left out, those cells first.
        """
        titles = [section.title for section in self._sections if section.start < first.start and section.title]
        return self._path(titles) + self._header(first)

    def _path(self, titles: list[str]) -> str:
        while len(titles) > 1 and self._budget.estimate(_SEPARATOR.join(titles)) > _PATH_SHARE:
            titles = titles[1:]
        path = _SEPARATOR.join(titles)
        share = self._budget.estimate(path)
        if share > _PATH_SHARE:
            path = path[: int(len(path) * _PATH_SHARE / share)].rstrip()
        return f"{path}\n" if path else ""

    def _header(self, first: Piece) -> str:
        if first.header is None or self._budget.is_far_too_long(first.header[1] - first.header[0]):
            return ""
        header = self._markdown[slice(*first.header)].rstrip("\n") + "\n"
        candidates = [header]
        if first.above and not self._budget.is_far_too_long(sum(map(len, first.above))):
            candidates.insert(0, f"{header}| {' | '.join(first.above)} |\n")
        return next((text for text in candidates if self._budget.estimate(text) <= _HEADER_SHARE), "")

    def rest_of(self, piece: Piece, start: int) -> Piece:
        """Return what remains of a piece cut at ``start``; the rest of a table knows its header."""
        header = piece.header
        if header is None and piece.block.kind is BlockKind.TABLE:
            header = table_header(self._markdown, piece.block)
        if header is not None and header[1] > start:
            header = None
        return dataclasses.replace(piece, start=start, header=header)


# From the best place to cut to the worst; each pattern ends where the cut would be.
_BOUNDARIES = (
    re.compile(rf"{SENTENCE_END}|\n|<br>"),
    re.compile(r"\|\s|[、，；;]|[,.:](?=\s)"),
    re.compile(r"\s"),
)
_NEAR_END_SHARE = 0.5
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_SHRINK = 0.95


def longest_fit(text: str, start: int, end: int, *, lead: str, budget: Budget) -> int | None:
    """Find the best end of a first part of ``text[start:end]`` that fits behind ``lead``.

    Sentence and line ends are preferred, then commas, then blanks, if they are in the later half of what fits; else
    the cut is hard, but never inside a character with combining marks. None when not even one character fits.
    """
    room = budget.likely_end(text, start, end)
    while room > start:
        stop = _best_cut(text, start, room) if room < end else end
        share = budget.share(lead + text[start:stop])
        if share <= 1.0:
            return stop
        if stop - start == 1:
            return None
        # Scale by what was counted; the lead's share can't shrink, hence the loop.
        room = min(start + max(int((stop - start) * _SHRINK / share), 1), stop - 1)
    return None


def _best_cut(text: str, start: int, room: int) -> int:
    nearest = start + int((room - start) * _NEAR_END_SHARE)
    for boundary in _BOUNDARIES:
        ends = [match.end() for match in boundary.finditer(text, nearest, room)]
        if ends:
            return ends[-1]
    return _before_cluster(text, start, room)


def _before_cluster(text: str, start: int, cut: int) -> int:
    """Move a hard cut to the left while it would part a character from its marks, or a ``|`` from its backslash."""
    moved = cut
    while moved > start + 1 and _clings(text, moved):
        moved -= 1
    return moved if moved > start + 1 or not _clings(text, moved) else cut


def _clings(text: str, index: int) -> bool:
    if index >= len(text):
        return False
    before, after = text[index - 1], text[index]
    return bool(unicodedata.combining(after)) or after in _JOINERS or before == "\u200d" or before == "\\"
