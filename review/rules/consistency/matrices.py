"""Tables of marks held against lists: what a row lists for R9 has a mark in the column R9."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.text.folding import fold_compact, narrow
from knowledge.text.outline import apparatus, inside
from knowledge.text.tables import Cell, Row, Table, read_tables
from knowledge.types.documents import Block, Section
from review.rules.consistency.contradictions import Contradiction
from review.types import Span

_IDENTIFIER = re.compile(r"[A-Za-z]{1,6}[-_]?[0-9]{1,4}")
_MARK = re.compile(r"[○◯〇●◎✓✔☑レxX*✕×1]")
# What a row of marks is named by stands before a colon, and may be several things.
_NAME = re.compile(r"^[^:：]{2,60}")
_BETWEEN = re.compile(r"[・/／、,，]")
_LONGEST_CELL = 1000
_FEWEST_COLUMNS, _FEWEST_MATCHED, _LEAST_AGREED = 3, 5, 0.8


@dataclass(frozen=True, slots=True)
class _Marked:
    """A row of a table of marks: what it is named, and the identifiers that it marks."""

    names: frozenset[str]
    identifiers: frozenset[str]
    cell: Cell


def marks_otherwise(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Contradiction]:
    """Yield what a list has beside an identifier and no table of marks has, where most of the lists and marks agree."""
    skipped = apparatus(text, sections)
    tables = [table for table in read_tables(text, blocks) if not inside(skipped, table.header.start)]
    marked = [row for table in tables for row in _marked_rows(table)]
    first: dict[str, Cell] = {}
    marks: dict[str, set[str]] = defaultdict(set)
    for row in marked:
        for name in row.names:
            first.setdefault(name, row.cell)
            marks[name] |= row.identifiers
    known = {head for row in marked for head in row.identifiers}
    for table in tables if marked else ():
        listed = [(identifier, member, cell) for identifier, member, cell in _listed(table, known) if member in first]
        lacking = [(identifier, member, cell) for identifier, member, cell in listed if identifier not in marks[member]]
        if len(listed) < _FEWEST_MATCHED or len(listed) - len(lacking) < _LEAST_AGREED * len(listed):
            continue
        for identifier, member, cell in lacking:
            named = first[member]
            yield Contradiction(
                kind="matrix",
                name=f"{identifier}と{named.text.partition('：')[0].strip('* ')}の対応",
                written=(cell.text, named.text),
                places=tuple(Span(start=each.start, end=each.end) for each in (cell, named)),
            )


def _marked_rows(table: Table) -> Iterator[_Marked]:
    columns = {at: narrow(cell.text) for at, cell in enumerate(table.header.cells)}
    columns = {at: head for at, head in columns.items() if _IDENTIFIER.fullmatch(head)}
    said = [row.cells[at].text for row in table.rows for at in columns if at < len(row.cells) and row.cells[at].text]
    if len(columns) < _FEWEST_COLUMNS or not said or not all(_MARK.fullmatch(mark) for mark in said):
        return
    for row in table.rows:
        cell = _named_cell(row, min(columns))
        if cell is None or len(cell.text) > _LONGEST_CELL:
            continue
        identifiers = frozenset(
            head for at, head in columns.items() if at < len(row.cells) and row.cells[at].text.strip()
        )
        yield _Marked(_names(cell), identifiers, cell)


def _named_cell(row: Row, before: int) -> Cell | None:
    """The last filled cell before the marks: what stands further left groups the rows."""
    return next((cell for cell in reversed(row.cells[:before]) if cell.text.strip()), None)


def _names(cell: Cell) -> frozenset[str]:
    found = _NAME.match(cell.text.replace("*", ""))
    name = found[0].strip() if found else ""
    return frozenset(fold_compact(part) for part in (name, *_BETWEEN.split(name)) if part)


def _listed(table: Table, known: set[str]) -> Iterator[tuple[str, str, Cell]]:
    """Yield what the cells of a row list, with the identifier that the row begins with."""
    for row in table.rows:
        identifier = narrow(row.cells[0].text).strip("* ") if row.cells else ""
        for cell in row.cells[1:] if identifier in known else ():
            members = _BETWEEN.split(cell.text)
            if len(members) > 1 and "。" not in cell.text and len(cell.text) <= _LONGEST_CELL:
                yield from ((identifier, fold_compact(member), cell) for member in (cell.text, *members))
