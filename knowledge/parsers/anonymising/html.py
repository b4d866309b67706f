"""Replacing in HTML: in what a reader sees, across tags inside a line, in tables, attributes, comments and scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape, unescape

from knowledge.parsers.anonymising.slots import Replacer, Slot

_INLINE_NAMES = (
    "a abbr b bdi bdo big cite code data dfn em font i ins kbd label mark q rb rp rt ruby s samp small span strike "
    "strong sub sup time tt u var wbr"
)
_INLINE = frozenset(_INLINE_NAMES.split())
_CELL = ("td", "th")
_SPAN = re.compile(r"""\b(colspan|rowspan)\s{0,5}=\s{0,5}["']?(\d{1,3})""", re.IGNORECASE)
_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9:-]{0,30})")
_RAW = ("script", "style")


def replace_in_html(text: str, replacer: Replacer) -> str:
    """Replace in a page; everything else of it stays as it was written."""
    page = _Page(replacer)
    for is_markup, piece in _pieces(text):
        page.add_markup(piece) if is_markup else page.add_text(piece)
    return page.finish()


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    """Cut into markup (a tag, a comment, a script) and text, in linear time whatever is left open."""
    at, lower = 0, text.lower()
    no_end: set[str] = set()

    def end_of(mark: str, start: int) -> int:
        found = -1 if mark in no_end else lower.find(mark, start)
        if found < 0:
            no_end.add(mark)
            return len(text)
        return found + len(mark)

    while at < len(text):
        start = text.find("<", at)
        start = len(text) if start < 0 else start
        if start > at:
            yield False, text[at:start]
        if start == len(text):
            return
        name = found[1].lower() if (found := _NAME.match(text, start)) else ""
        if text.startswith("<!--", start):
            at = end_of("-->", start)
        elif name or text[start + 1 : start + 2] in ("!", "?"):
            at = end_of(">", start)
            if name in _RAW and text[start + 1] != "/":
                at = end_of(f"</{name}", at)
                at = end_of(">", at)
        else:
            at = start + 1
            yield False, text[start:at]
            continue
        yield True, text[start:at]


@dataclass(slots=True)
class _Table:
    rows: list[list[list[Slot]]] = field(default_factory=list)
    below: dict[int, int] = field(default_factory=dict)
    is_headed: bool = False


class _Page:
    """Collects the page's texts as paragraphs and tables. Tables inside tables are tables of their own."""

    def __init__(self, replacer: Replacer) -> None:
        self._replacer = replacer
        self._written: list[str | tuple[str, Slot]] = []
        self._paragraph: list[Slot] = []
        self._open: list[_Table] = []
        self._tables: list[_Table] = []
        self._paragraphs: list[list[Slot]] = []
        self._cells: list[list[Slot] | None] = [None]

    def add_text(self, piece: str) -> None:
        slot = Slot(unescape(piece))
        self._written.append((piece, slot))
        if self._cells[-1] is not None:
            self._cells[-1].append(slot)
        self._paragraph.append(slot)

    def add_markup(self, piece: str) -> None:
        self._written.append(piece)
        match = _NAME.match(piece)
        name, is_end = (match[1].lower() if match else ""), piece.startswith("</")
        if not name or name in _INLINE:
            return
        self._paragraphs.append(self._paragraph)
        self._paragraph = []
        if name == "table":
            self._end_table() if is_end else self._begin_table()
        elif self._open and name in (*_CELL, "tr"):
            self._cells[-1] = None
            if name == "tr" and not is_end:
                self._open[-1].rows.append([])
            elif name in _CELL and not is_end:
                self._begin_cell(self._open[-1], piece, is_head=name == "th")

    def _begin_table(self) -> None:
        table = _Table()
        self._open.append(table)
        self._tables.append(table)
        self._cells.append(None)

    def _end_table(self) -> None:
        if self._open:
            self._open.pop()
            self._cells.pop()

    def _begin_cell(self, table: _Table, piece: str, *, is_head: bool) -> None:
        if not table.rows:
            table.rows.append([])
        row = table.rows[-1]
        if len(table.rows) == 1:
            table.is_headed = is_head and (table.is_headed or not row)
        while table.below.get(len(row), 0) > 0:
            table.below[len(row)] -= 1
            row.append([])
        spans = {name.lower(): min(int(number), 100) for name, number in _SPAN.findall(piece)}
        cell: list[Slot] = []
        for extra in range(max(spans.get("colspan", 1), 1)):
            table.below[len(row)] = spans.get("rowspan", 1) - 1
            row.append(cell if extra == 0 else [])
        self._cells[-1] = cell

    def finish(self) -> str:
        """Replace, and give the page."""
        for table in self._tables:
            self._replacer.grid(table.rows, is_headed=table.is_headed)
        for paragraph in (*self._paragraphs, self._paragraph):
            self._replacer.line(paragraph)
        return "".join(map(self._as_written, self._written))

    def _as_written(self, piece: str | tuple[str, Slot]) -> str:
        if isinstance(piece, str):
            return self._replacer.text(piece)
        before, slot = piece
        return before if slot.text == unescape(before) else escape(slot.text, quote=False)
