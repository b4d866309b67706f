"""Markdown pipe tables as cells with offsets; diagrams that are written as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from knowledge.text.structure import line_span
from knowledge.types.documents import Block, BlockKind

_DELIMITER_ROW = re.compile(r"^\s*+\|?+\s*+:?+-++:?+\s*+(?:\|\s*+:?+-++:?+\s*+)*+\|?+\s*+$")
# A pipe that is neither escaped nor inside a code span parts two cells.
_CELL_PART = re.compile(r"(?:\\.|`[^`\n]*`|[^|\\`]|[\\`])+")
_BORDER_CHARACTERS = " \t*_　"
_LINE_BREAK = "<br>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One table cell: its text without surrounding blanks and emphasis marks, and where that text is."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One table row, ``[start, end)`` being its line without the newline."""

    cells: tuple[Cell, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: the header row and the body rows, in document order."""

    header: Row
    rows: tuple[Row, ...]

    def column(self, pattern: re.Pattern[str]) -> int | None:
        matches = (index for index, cell in enumerate(self.header.cells) if pattern.search(cell.text))
        return next(matches, None)


@lru_cache(maxsize=8)
def read_tables(text: str, blocks: tuple[Block, ...]) -> tuple[Table, ...]:
    """Return the tables among ``blocks`` in document order; a block that is no pipe table is left out."""
    found = (read_table(text, block) for block in blocks if block.kind is BlockKind.TABLE)
    return tuple(table for table in found if table is not None)


def read_table(text: str, block: Block) -> Table | None:
    """Parse one table block, or return None if it has no header with a delimiter row below."""
    lines = list(_lines(text, block.start, block.end))
    for index in range(1, len(lines)):
        if _DELIMITER_ROW.match(text[slice(*lines[index])]):
            header = _row(text, *lines[index - 1])
            rows = tuple(_row(text, *line) for line in lines[index + 1 :] if text[slice(*line)].strip())
            return Table(header=header, rows=rows)
    return None


def cells_of(line: str) -> list[str]:
    """Return the texts of the cells of one line, or of what follows a place in it.

    >>> cells_of("| 項目 | `a|b` | **値** |")
    ['項目', '`a|b`', '値']
    """
    return [cell.text for cell in _row(line, 0, len(line)).cells]


def cell_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return from where to where the text goes that stands in the cells, or the lines of a cell, of a place in a row.

    >>> text = "| 登録 | 画面で行なう<br>即時 |"
    >>> text[slice(*cell_around(text, 10, 13))]
    '画面で行なう'
    """
    begin, stop = line_span(text, start, end)
    cells = _row(text, begin, stop).cells
    begin = max((cell.start for cell in cells if cell.start <= start), default=begin)
    stop = min((cell.end for cell in cells if cell.end >= end), default=stop)
    above, below = text.rfind(_LINE_BREAK, begin, start), text.find(_LINE_BREAK, end, stop)
    return begin if above < 0 else above + len(_LINE_BREAK), stop if below < 0 else below


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    position = start
    for line in text[start:end].splitlines(keepends=True):
        yield position, position + len(line.rstrip("\r\n"))
        position += len(line)


def _row(text: str, start: int, end: int) -> Row:
    inner_start, inner_end = start, end
    line = text[start:end]
    inner_start += len(line) - len(line.lstrip().removeprefix("|"))
    stripped = line.rstrip()
    if stripped.endswith("|") and not stripped.endswith("\\|"):
        inner_end = start + len(stripped) - 1
    return Row(cells=tuple(_cells(text, inner_start, max(inner_start, inner_end))), start=start, end=end)


def _cells(text: str, start: int, end: int) -> Iterator[Cell]:
    position = start
    while position <= end:
        part = _CELL_PART.match(text, position, end)
        cell_end = part.end() if part else position
        yield _trimmed(text, position, cell_end)
        position = cell_end + 1


def _trimmed(text: str, start: int, end: int) -> Cell:
    begun = text[start:end].lstrip(_BORDER_CHARACTERS)
    shown = begun.rstrip(_BORDER_CHARACTERS)
    begin = end - len(begun)
    return Cell(text=shown, start=begin, end=begin + len(shown))


_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[ \t]*(?P<language>[\w.+-]*)")
_LANGUAGES = frozenset(
    ["mermaid", "plantuml", "puml", "uml", "dot", "graphviz", "ditaa", "svgbob", "d2", "blockdiag", "seqdiag", "nwdiag"]
)
_MARKS = re.compile(
    r"^[^\S\n]*(?:@start(?:uml|mindmap|gantt|wbs|salt)|(?:strict\s+)?(?:di)?graph\s++(?:\w++\s*+)?\{|sequenceDiagram\b|classDiagram\b"
    r"|stateDiagram|erDiagram\b|gantt\b|flowchart\s+(?:TB|TD|BT|LR|RL)\b|graph\s+(?:TB|TD|BT|LR|RL)\b)",
    re.M,
)
# The top or bottom edge of a box; a directory tree (├──) has none.
_BOX_EDGE = re.compile(r"\+[-=]{2}[-=+]*\+|[┌┏╔╭][─━═┬┳╦]+[┐┓╗╮]|[└┗╚╰][─━═┴┻╩]+[┘┛╝╯]")
_MIN_EDGES = 2


def is_diagram(code: str) -> bool:
    """Return whether a code block draws something, by its language, by a diagram's opening words or by boxes.

    >>> is_diagram("```mermaid\\nflowchart LR\\n  受付 --> 審査\\n```"), is_diagram("```\\n├── src\\n└── docs\\n```")
    (True, False)
    """
    fence = _FENCE.match(code)
    if fence and fence["language"].lower() in _LANGUAGES:
        return True
    return _MARKS.search(code) is not None or len(_BOX_EDGE.findall(code)) >= _MIN_EDGES
