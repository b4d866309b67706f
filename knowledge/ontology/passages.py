"""The pieces of text that may state something on a topic, and what says nothing: placeholders and drawings."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from knowledge.text.folding import normalise
from knowledge.text.structure import without_comments
from knowledge.types.documents import Block, BlockKind

_PLACEHOLDER = re.compile(
    r"(?:TBD|T\.B\.D\.?|TODO|N/?A|未定|未記載|未作成|未着手|未確定|要?検討中?|調整中|協議中|確認中|作成中|準備中|執筆中"
    r"|(?:追記|記載|作成)予定|省略|略|空欄|\W*|x{2,}"
    r"|.{0,25}(?:後日|今後|追って|別途|後ほど|次版で)[^。]{0,20}(?:記載|追記|作成|検討|定め|整理|記述|協議|調整|決定|確定|策定|提示)\S{0,12})[。.]?",
    re.I,
)
# Put off to a document that is named: what it says is there.
_DEFERRED = re.compile(
    r"(?:「[^」\n]{2,40}」|[\w.-]{1,60}\.(?:xlsx?|docx?|pptx?|pdf|md|csv))[」』]?[^。\n]{0,6}(?:に記載|に示す|に定め|を参照|のとおり|による)"
    r"(?!予定)"
)
# What a matrix says of a row and a column.
_MARK = re.compile("[○◯〇●◎×✕✓✔☑△▲]")
_DRAWING = re.compile(r"[\u2500-\u257f]")
_TABLE_RULE = re.compile(r"[\s|:\-]+")
_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)]|>|□|☐|■|●|・)?\s*(?:\[[ xX]\]\s*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A paragraph, list item or table row outside headings, code and the contents list.

    ``header`` are the cells of the table's header row, ``labels`` the names with a statement behind them, ``sentences``
    those of running text. ``in_apparatus``: in a table of contents or change history.
    """

    start: int
    end: int
    text: str
    kind: BlockKind
    in_glossary: bool
    in_apparatus: bool = False
    header: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()


def has_substance(source: str, kind: BlockKind) -> bool:
    """Return whether a block states anything: not blank, no placeholder such as TBD or 後日記載, no empty table."""
    if kind is BlockKind.HEADING or kind is BlockKind.FRONT_MATTER:
        return False
    if kind in (BlockKind.CODE, BlockKind.FIGURE):
        return bool(re.sub(r"^[`~].*$|\s", "", source, flags=re.MULTILINE))
    plain = without_comments(normalise(source))
    lines = [line for line in plain.splitlines() if not _TABLE_RULE.fullmatch(line)]
    if kind is BlockKind.TABLE and not plain.lstrip().startswith("<"):
        cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines[1:]]
        said = (cell for row in cells for cell in (row[1:] or row))
        return any(not _PLACEHOLDER.fullmatch(cell) or _MARK.fullmatch(cell) for cell in said)
    stated = (_LIST_MARK.sub("", line).strip(" *_()[]<>") for line in lines)
    return any(not _PLACEHOLDER.fullmatch(line) or _DEFERRED.search(line) for line in stated)


def without_list_mark(line: str) -> str:
    """Return a line of a list without its bullet, number and check box.

    >>> without_list_mark("- [ ] 目的"), without_list_mark("2. 背景")
    ('目的', '背景')
    """
    return _LIST_MARK.sub("", line)


def is_placeholder(content: str) -> bool:
    """Return whether the text only holds a place: TBD, 未定, 後日記載, a dash."""
    return bool(_PLACEHOLDER.fullmatch(content))


def is_drawn(piece: str) -> bool:
    """Return whether the piece is part of a drawing made of characters, or a table's rule."""
    return bool(_DRAWING.search(piece) or _TABLE_RULE.fullmatch(piece))


def pieces(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """Yield table rows and list items one by one; an item keeps its continuation lines, a paragraph is whole."""
    if block.kind is BlockKind.PARAGRAPH:
        yield block.start, block.end
        return
    starts = [
        block.start + match.start() for match in re.finditer(_ITEM_START[block.kind], text[block.start : block.end])
    ]
    starts = starts or [block.start]
    for start, following in zip(starts, [*starts[1:], block.end], strict=True):
        yield start, start + len(text[start:following].rstrip())


_ITEM_START = {
    BlockKind.LIST: re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])(?:[ \t]|$)", re.MULTILINE),
    BlockKind.TABLE: re.compile(r"^[^\n]+", re.MULTILINE),
}


def header_cells(text: str, block: Block) -> tuple[str, ...]:
    """Return the cells of a table's header row as written."""
    return row_cells(text[block.start : block.end].partition("\n")[0])


def row_cells(row: str) -> tuple[str, ...]:
    """Return the cells of a table row without emphasis marks."""
    return tuple(cell.strip(" *_") for cell in row.strip().removeprefix("|").removesuffix("|").split("|"))


def has_content(text: str, blocks: Sequence[Block], start: int, end: int) -> bool:
    """Return whether anything but headings and placeholders begins in ``[start, end)``."""
    first = bisect_left(blocks, start, key=lambda block: block.start)
    inside = takewhile(lambda block: block.start < end, islice(blocks, first, None))
    return any(has_substance(text[block.start : block.end], block.kind) for block in inside)
