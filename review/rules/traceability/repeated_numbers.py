"""Columns that number or identify the rows of a table, and what two rows of one have alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from knowledge.text.folding import narrow
from knowledge.text.identifier_shapes import Family, Mention
from knowledge.text.tables import Cell, Row, Table
from review.rules.traceability.across import home

_NUMBERING_HEAD = re.compile(
    r"(?:機能|画面|帳票|要件|要求|テスト|テスト?ケース|試験|シナリオ|バッチ|処理|テーブル|メッセージ|課題|リスク|API|IF)\s*(?:ID|番号)",
    re.IGNORECASE,
)
_ROW_HEAD = re.compile(r"(?:No\.?|#|項番|番号|連番|(?:テスト?)?ケース\s*No\.?|ケース番号)", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"[0-9]{1,6}")
# 59-1-3, the third case of 59-1.
_PARTED_NUMBER = re.compile(r"(?P<of>[0-9]{1,4}(?:[-.][0-9]{1,4}){0,2})[-.](?P<last>[0-9]{1,4})")
# 項目ID beside 項目名: what an identifier is of is told in the same row.
_ID_HEAD = re.compile(r"(?P<of>[一-龯々ァ-ヴーA-Za-z]{2,10}?)(?:ID|番号|コード)")
_FEWEST_NUMBERED, _LEAST_DISTINCT, _MOSTLY_DISTINCT = 4, 0.8, 0.7
_FEWEST_SAID = 2
_WRITTEN_ID = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9_-]{3,40}")
_LISTED_ID = re.compile(r"[A-Za-z]{1,6}[-_]?[0-9]{2,6}(?:[-_][0-9]{1,4})?")


def repeated_numbers(tables: tuple[Table, ...]) -> Iterator[tuple[str, dict[str, list[Cell]]]]:
    """Yield each column of plain numbers that are identifiers (機能ID), with those that several rows have.

    A column in which many repeat groups its rows and identifies none.
    """
    for table in tables:
        blank = {row.cells[0].start for row in table.rows if _is_blank(row)}
        in_blank = {cell.start for row in table.rows if row.cells[0].start in blank for cell in row.cells}
        for head, doubled in _repeated(table):
            told = {name: [cell for cell in cells if cell.start not in in_blank] for name, cells in doubled.items()}
            yield head, {name: cells for name, cells in told.items() if len(cells) > 1}


def _is_blank(row: Row) -> bool:
    """Tell whether of the row's cells only the number says something: one of a form that is still to be filled in."""
    return len(row.cells) > 1 and sum(bool(cell.text.strip()) for cell in row.cells) < _FEWEST_SAID


def _repeated(table: Table) -> Iterator[tuple[str, dict[str, list[Cell]]]]:
    yield from _numbered_rows(table)
    yield from _parted_rows(table)
    yield from _beside_names(table)
    for at, head in enumerate(table.header.cells[:2]):
        cells = [row.cells[at] for row in table.rows if at < len(row.cells)]
        if not _NUMBERING_HEAD.fullmatch(head.text) or len(cells) < _FEWEST_NUMBERED:
            continue
        if not all(_PLAIN_NUMBER.fullmatch(cell.text) for cell in cells):
            yield from _listed_ids(head.text, cells)
            continue
        places: dict[str, list[Cell]] = {}
        for cell in cells:
            places.setdefault(cell.text, []).append(cell)
        if len(places) >= _LEAST_DISTINCT * len(cells):
            yield head.text, {number: those for number, those in places.items() if len(those) > 1}


def without_grouped_rows(family: Family, tables: tuple[Table, ...]) -> dict[str, list[Mention]]:
    """Return the definitions of a family by name, without those in tables whose rows the identifiers group.

    The items of screens, each with the screen's identifier, define no screens.
    """
    homes = [(mention, home(mention, tables)[0]) for places in family.defined.values() for mention in places]
    names: dict[int, list[str]] = {}
    for mention, table in homes:
        if table is not None:
            names.setdefault(table.header.start, []).append(mention.id)
    grouping = {start for start, each in names.items() if _groups_rows(each)}
    kept: dict[str, list[Mention]] = {}
    for mention, table in homes:
        if table is None or table.header.start not in grouping:
            kept.setdefault(mention.id, []).append(mention)
    return kept


def _groups_rows(names: Sequence[str]) -> bool:
    """Return whether so many of the names in a column repeat that it groups its rows, and identifies none."""
    return len(names) >= _FEWEST_NUMBERED and len(set(names)) < _MOSTLY_DISTINCT * len(names)


def _listed_ids(head: str, cells: list[Cell]) -> Iterator[tuple[str, dict[str, list[Cell]]]]:
    """Yield the identifiers of a column that two rows apart have; rows that follow each other are about one thing."""
    filled = [cell for cell in cells if cell.text]
    places: dict[str, list[int]] = {}
    for at, cell in enumerate(filled):
        places.setdefault(cell.text, []).append(at)
    if len(filled) < _FEWEST_NUMBERED or not all(_LISTED_ID.fullmatch(cell.text) for cell in filled):
        return
    doubled = {name: found for name, found in places.items() if len(found) > 1}
    if len(places) >= _MOSTLY_DISTINCT * len(filled) and not any(
        second - first == 1 for found in doubled.values() for first, second in pairwise(found)
    ):
        yield head, {name: [filled[at] for at in found] for name, found in doubled.items()}


def _parted_rows(table: Table) -> Iterator[tuple[str, dict[str, list[Cell]]]]:
    """Yield the numbers in parts that two rows in a row have, where the next row's shows that one was left out."""
    cells = [row.cells[0] for row in table.rows if row.cells and row.cells[0].text]
    read = [(cell, _PARTED_NUMBER.fullmatch(narrow(cell.text))) for cell in cells]
    parted = [(cell, found["of"], int(found["last"])) for cell, found in read if found]
    if len(parted) < _FEWEST_NUMBERED or len(parted) < _LEAST_DISTINCT * len(cells):
        return
    doubled = {
        cell.text: [cell, other]
        for (cell, of, last), (other, *same), (_, *after) in zip(parted, parted[1:], parted[2:], strict=False)
        if same == [of, last] and after == [of, last + 2]
    }
    yield table.header.cells[0].text, doubled


def _beside_names(table: Table) -> Iterator[tuple[str, dict[str, list[Cell]]]]:
    """Yield the identifiers that two rows have under different names, 項目ID beside 項目名, if few repeat."""
    heads = [narrow(cell.text) for cell in table.header.cells]
    for at, head in enumerate(heads):
        found = _ID_HEAD.fullmatch(head)
        named = next((column for column, each in enumerate(heads) if found and each == f"{found['of']}名"), None)
        if named is None:
            continue
        pairs = [
            (row.cells[at], row.cells[named].text)
            for row in table.rows
            if max(at, named) < len(row.cells) and _WRITTEN_ID.fullmatch(narrow(row.cells[at].text))
        ]
        places: dict[str, list[tuple[Cell, str]]] = {}
        for cell, name in pairs:
            places.setdefault(cell.text, []).append((cell, name))
        if len(pairs) >= _FEWEST_NUMBERED and len(places) >= _LEAST_DISTINCT * len(pairs):
            doubled = {key: [cell for cell, _ in each] for key, each in places.items() if len({n for _, n in each}) > 1}
            yield head, doubled


def _numbered_rows(table: Table) -> Iterator[tuple[str, dict[str, list[Cell]]]]:
    """Yield the numbers of a table's rows, if they count up, with those that two rows in a row have.

    A list that a sheet continues has no header, so that its first row stands there.
    """
    rows = [table.header, *table.rows]
    cells = [row.cells[0] for row in rows if row.cells]
    if cells and not _PLAIN_NUMBER.fullmatch(narrow(cells[0].text)):
        if not _ROW_HEAD.fullmatch(cells[0].text):
            return
        cells = cells[1:]
    numbers = [narrow(cell.text) for cell in cells]
    if len(cells) < _FEWEST_NUMBERED or not all(map(_PLAIN_NUMBER.fullmatch, numbers)):
        return
    steps = [int(second) - int(first) for first, second in pairwise(numbers)]
    if steps.count(1) < _LEAST_DISTINCT * len(steps):
        return
    doubled: dict[str, list[Cell]] = {}
    for (number, first), (_, second), step in zip(
        zip(numbers, cells, strict=True), zip(numbers[1:], cells[1:], strict=True), steps, strict=False
    ):
        if step == 0:
            doubled[number] = [first, second]
    yield "No.", doubled
