"""Write Markdown from parsed blocks while keeping account of where each block stands."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from knowledge.parsers.figures import Picture, placed_figures
from knowledge.types.documents import Block, BlockKind, ParsedFigure

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
        pictures: Sequence[Picture] = (),
        glue: str | None = None,
    ) -> None:
        """Append one block; blank text is left out. Headings get their ``#`` marks here.

        ``glue`` stands between this block and the one before it instead of a blank line: a paragraph that goes on
        over a page break is two blocks of one paragraph.
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
            kind=kind, start=start, end=self._length, level=level, page=page, sheet=sheet, cell=cell, rows=rows
        )
        self._blocks.append(block)
        self._pictures.extend((block, picture) for picture in pictures)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks added so far."""
        return tuple(self._blocks)

    def markdown(self) -> str:
        """Return the whole text, ending in one newline unless it is empty."""
        return "".join([*self._parts, "\n"]) if self._parts else ""

    def figures(self) -> tuple[ParsedFigure, ...]:
        """Return the pictures of the blocks added so far, each with its caption."""
        return placed_figures(self.markdown(), self._blocks, self._pictures)


def table_cell(text: str) -> str:
    """Write a cell's text on one line of a Markdown table."""
    lines = [" ".join(line.split()) for line in clean_text(text).split("\n")]
    return "<br>".join(line for line in lines if line).replace("|", "\\|")


def render_table(rows: Sequence[Sequence[str]]) -> str:
    """Render rows of raw cell texts as a Markdown table whose header is the first row.

    Columns and rows without any text are dropped; the result is empty when nothing is left.
    """
    cells = [[table_cell(text) for text in row] for row in rows]
    cells = [row for row in cells if any(row)]
    width = max((len(row) for row in cells), default=0)
    used = [column for column in range(width) if any(column < len(row) and row[column] for row in cells)]
    lines = ["| " + " | ".join(row[column] if column < len(row) else "" for column in used) + " |" for row in cells]
    if not lines:
        return ""
    return "\n".join([lines[0], "|" + " --- |" * len(used), *lines[1:]])


def fence(code: str) -> str:
    """Wrap text in a code fence longer than any run of backticks inside it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}\n{clean_text(code)}\n{mark}"
