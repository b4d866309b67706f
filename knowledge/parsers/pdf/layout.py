"""Put a PDF's lines together to paragraphs, lists, captions, headings, and tables without rules."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from knowledge.parsers.pdf.headings import HeadingJudge
from knowledge.parsers.pdf.page import WIDE, Line, Part, between
from knowledge.parsers.render import Picture, render_table
from knowledge.text.folding import normalise
from knowledge.text.numbering import heading_number, is_caption
from knowledge.types.documents import BlockKind

_MIN_COLUMNS = 3
_MIN_ROWS = 3
# In font sizes: how far apart the edges or middles of a column's cells are at most, and lines below each other.
_ALIGNED = 1.0
_MAX_PITCH = 3.5


def grids(lines: Sequence[Line]) -> Iterator[tuple[list[Line], bool]]:
    """Yield the lines in stretches, in order, and whether each is a table.

    Two parts to a line are no proof: an item and its text have as many.
    """
    rest: list[Line] = []
    run: list[Line] = []
    for line in lines:
        if run and not _continues(run, line):
            yield from _ended(rest, run)
            rest, run = ([], []) if len(run) >= _MIN_ROWS else (rest + run, [])
        if len(line.parts) >= _MIN_COLUMNS:
            run.append(line)
        else:
            rest.append(line)
    yield from _ended(rest, run)
    if len(run) < _MIN_ROWS and rest + run:
        yield rest + run, False


def _ended(rest: list[Line], run: list[Line]) -> Iterator[tuple[list[Line], bool]]:
    if len(run) >= _MIN_ROWS:
        if rest:
            yield rest, False
        yield run, True


def _continues(run: Sequence[Line], line: Line) -> bool:
    above = run[-1]
    near = 0 < line.bottom - above.bottom <= _MAX_PITCH * line.size
    if not near or len(line.parts) != len(above.parts):
        return False
    return all(_in_column(run, index, line) for index in range(len(line.parts))) and _apart([*run, line])


def _in_column(run: Sequence[Line], index: int, line: Line) -> bool:
    """Return whether a part lines up with those above at the left, at the right or in the middle.

    The first line may be the head, which is often set otherwise.
    """
    limit, own = _ALIGNED * line.size, _places(line.parts[index])
    others = [_places(other.parts[index]) for other in run[1:]]
    return any(all(abs(own[at] - other[at]) <= limit for other in others) for at in range(len(own)))


def _places(part: Part) -> tuple[float, float, float]:
    return part.left, part.right, (part.left + part.right) / 2


def _apart(rows: Sequence[Line]) -> bool:
    columns = list(zip(*(row.parts for row in rows), strict=True))
    return all(max(cell.right for cell in one) < min(cell.left for cell in other) for one, other in pairwise(columns))


# Bullets set in a symbol font arrive as private-use characters.
_SYMBOL_BULLET = re.compile(r"[\uf000-\uf0ff]\s*")
_ITEM = re.compile(
    r"(?:[-*•・●○◆■□▪◦※►➢–]|\(?[0-9]{1,2}[.)](?![0-9])|[①-⑳]|\([0-9a-zA-Zア-ン]{1,2}\)|[a-zA-Zア-ン][.)])\s*\S"
)
_LEADER = re.compile(r"(?<![.．・…‥])[.．・…‥]{4,}+\s*+[0-9]{1,4}$")
_SENTENCE_END = ("。", "！", "？", ".", "!", "?", ":", "：")
_CLOSERS = "」』）)】〕》〉］”’\"'"
_DEFAULT_PITCH = 1.5
# In font sizes: how near to the right edge a full line ends, and how far a new paragraph is indented.
_NEAR_EDGE = 1.6
_INDENT = 0.6
# Fewer characters are a label.
_MIN_FULL_LINE = 10
_LOOSER = 1.3
# A line with more wide gaps in it is no running text.
_MAX_PARTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """A block of a page before it is written as Markdown.

    ``lines`` are those of a paragraph. ``glue`` joins it to the block before, whose paragraph it goes on with.
    ``merged`` are the cells of a table that go on in the lines below. ``ocr`` is the mean confidence of lines that OCR
    read.
    """

    kind: BlockKind
    text: str
    page: int
    level: int | None = None
    picture: Picture | None = None
    lines: tuple[Line, ...] = ()
    glue: str | None = None
    merged: str | None = None
    ocr: float | None = None


def read_confidence(lines: Sequence[Line]) -> float | None:
    """The mean confidence of lines that OCR read, by their characters; None where none was."""
    read = [(line.ocr, len(line.text)) for line in lines if line.ocr is not None]
    total = sum(length for _confidence, length in read)
    return round(sum(confidence * length for confidence, length in read) / total, 4) if total else None


class Layout:
    """Groups lines to blocks, by the document's own line pitch and the right edge of each column."""

    def __init__(self, pages: Iterable[Sequence[Line]], judge: HeadingJudge) -> None:
        self._judge = judge
        self._edges: dict[Line, float] = {}
        pitches: Counter[float] = Counter()
        for lines in pages:
            self._edges.update(_right_edges(lines))
            for above, line in pairwise(lines):
                pitch = round((line.bottom - above.bottom) / max(line.size, 1.0), 1)
                if above.size == line.size and 1.0 <= pitch <= 3.0 and not self._ends_early(above, line):
                    pitches[pitch] += 1
        # Of equally frequent pitches the wider one, so that no paragraph falls apart.
        self._pitch = max(pitches, key=lambda pitch: (pitches[pitch], pitch), default=_DEFAULT_PITCH)

    def blocks(self, lines: Sequence[Line]) -> Iterator[TextBlock]:
        for stretch, is_table in grids(lines):
            if is_table:
                text = render_table([[part.text for part in line.parts] for line in stretch]).text
                yield TextBlock(kind=BlockKind.TABLE, text=text, page=stretch[0].page, ocr=read_confidence(stretch))
            else:
                yield from self._grouped(stretch)

    def _grouped(self, lines: Iterable[Line]) -> Iterator[TextBlock]:
        group: list[Line] = []
        group_level: int | None = None
        for line in lines:
            level = self._judge.level(line)
            joins = level == group_level and bool(group)
            if joins and level is not None:
                is_close = 0 < line.bottom - group[-1].bottom < 2.2 * line.size
                joins = is_close and group[-1].size == line.size and heading_number(line.text) is None
            elif joins:
                joins = not self._starts_block(group[-1], line)
            if not joins:
                yield from self._finished(group, group_level)
                group, group_level = [], level
            group.append(line)
        yield from self._finished(group, group_level)

    def _starts_block(self, above: Line, line: Line) -> bool:
        """Return whether a line begins a new block: a gap, another size, an item, or the line above ended early."""
        pitch = (line.bottom - above.bottom) / max(above.size, line.size, 1.0)
        if pitch > self._pitch * _LOOSER or pitch < -0.5 or abs(above.size - line.size) > 0.2 * line.size:
            return True
        if is_caption(line.text) or is_caption(above.text):
            return True
        ended = above.text.endswith(_SENTENCE_END) and self._ends_early(above, line)
        return ended and not (is_item(above.text) and is_item(line.text))

    def _ends_early(self, above: Line, line: Line) -> bool:
        """Return whether the start of ``line`` would have fitted behind ``above``: that line end was written."""
        first_word = 1 if WIDE.match(line.text) else len(line.text.split(maxsplit=1)[0])
        character = (line.right - line.left) / max(len(line.text), 1)
        return self._edges[above] - above.right > (first_word + 1) * character + 0.5 * above.size

    def _finished(self, group: list[Line], level: int | None) -> Iterator[TextBlock]:
        if not group:
            return
        page = group[0].page
        if level is not None:
            text = self._join(group).replace("\n", " ")
            yield TextBlock(kind=BlockKind.HEADING, text=text, page=page, level=level, ocr=read_confidence(group))
        elif any(is_item(line.text) for line in group):
            yield from self._items(group)
        else:
            text = self._join(group)
            kind = BlockKind.CAPTION if is_caption(text) else BlockKind.PARAGRAPH
            yield TextBlock(kind=kind, text=text, page=page, lines=tuple(group), ocr=read_confidence(group))

    def with_continuations(self, blocks: Iterable[TextBlock]) -> Iterator[TextBlock]:
        """Mark the paragraphs that go on with the one before over the end of a page or column."""
        before: TextBlock | None = None
        for block in blocks:
            if before is not None and self._goes_on(before, block):
                above, line = before.lines[-1], block.lines[0]
                block = dataclasses.replace(block, glue="" if above.ends_in_hyphen else between(above.text, line.text))
            yield block
            before = block

    def _goes_on(self, before: TextBlock, block: TextBlock) -> bool:
        if not (before.kind is block.kind is BlockKind.PARAGRAPH and before.lines and block.lines):
            return False
        above, line = before.lines[-1], block.lines[0]
        next_page = line.page == above.page + 1
        next_column = line.page == above.page and line.bottom < above.top and len(before.lines) > 1
        filled = self._edges[above] - above.right <= _NEAR_EDGE * above.size
        indented = line.left - min(other.left for other in block.lines) > _INDENT * line.size
        ended = above.text.rstrip(_CLOSERS).endswith(_SENTENCE_END)
        if not (next_page or next_column) or not filled or len(above.text) < _MIN_FULL_LINE:
            return False
        return not indented and not ended and above.size == line.size

    def _items(self, group: list[Line]) -> Iterator[TextBlock]:
        """Yield the text before the first item as a paragraph and the items as one list, wrapped lines re-joined."""
        starts = [index for index, line in enumerate(group) if is_item(line.text)]
        page = group[0].page
        if starts[0] > 0:
            lead = group[: starts[0]]
            yield TextBlock(kind=BlockKind.PARAGRAPH, text=self._join(lead), page=page, ocr=read_confidence(lead))
        ends = [*starts[1:], len(group)]
        items = [self._join(group[start:end]) for start, end in zip(starts, ends, strict=True)]
        confidence = read_confidence(group[starts[0] :])
        yield TextBlock(kind=BlockKind.LIST, text="\n".join(items), page=page, ocr=confidence)

    def _join(self, lines: list[Line]) -> str:
        """Join lines: nothing between Japanese characters, a blank between words, no soft hyphen."""
        text = _SYMBOL_BULLET.sub("- ", lines[0].text, count=1) if is_item(lines[0].text) else lines[0].text
        for above, line in pairwise(lines):
            if above.ends_in_hyphen:
                separator = ""
            elif self._ends_early(above, line) or _LEADER.search(above.text) or len(above.parts) > _MAX_PARTS:
                separator = "\n"
            else:
                separator = between(text, line.text)
            text += separator + line.text
        return text


def _right_edges(lines: Sequence[Line]) -> dict[Line, float]:
    """Find for each line how far right the lines of its column reach: those of its size that start near it."""
    edges: dict[Line, float] = {}
    for line in lines:
        reach = 6 * line.size
        edges[line] = max(
            other.right
            for other in lines
            if (other.size, other.column) == (line.size, line.column) and abs(other.left - line.left) <= reach
        )
    return edges


def is_item(text: str) -> bool:
    if _LEADER.search(text) or _SYMBOL_BULLET.match(text):
        return True
    return _ITEM.match(normalise(text)) is not None
