"""Items that two tables describe and give different types, and rows that say the same twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from knowledge.text.folding import fold_compact
from knowledge.text.outline import apparatus, inside
from knowledge.text.tables import Cell, Row, Table, read_tables
from knowledge.types.documents import Block, Section
from review.rules.consistency.contradictions import Contradiction
from review.rules.consistency.fact_names import folded_name, is_specific
from review.types import Span

_ITEM_HEAD = re.compile(
    r"(?:項目|カラム|列|フィールド|属性|パラメータ)名?(?:[(（]?(?:論理名?|日本語名?|和名)[)）]?)?|論理名|項目名称|物理名|カラム|column|field|name",
    re.IGNORECASE,
)
_TYPE_HEAD = re.compile(r"(?:データ)?(?:型|タイプ)(?:[・/(（].*)?|type", re.IGNORECASE)
_FAMILIES = (
    ("text", r"n?(?:var)?char|string|text|文字|clob|全角|半角|uuid"),
    ("number", r"(?:big|small|tiny)?int|number|numeric|decimal|float|double|real|数値|整数|小数|long|serial"),
    ("time", r"date|time|timestamp|日付|日時|時刻|年月日"),
    ("boolean", r"bool|真偽|論理|bit"),
)
_KEY = re.compile(r"(?:ID|コード|番号|キー|[_]id|code|_no)$", re.IGNORECASE)
_SHORTEST_NAME, _FEWEST_SHARED, _PAIR = 3, 2, 2
_NUMBERED = re.compile(r"[\s0-9A-Za-z()（）.\-_#№]*")
_FEWEST_CELLS, _SHORTEST_SAID = 2, 24
_CASES = re.compile(r"手順|操作|テスト|確認|期待|条件|内容|概要|説明|要件")


def types_otherwise(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Contradiction]:
    """Yield an item that two tables give types of different families: 会員番号 as string and as int.

    Tables of other columns describe the same items from two sides; in tables of one form only keys are the same thing.
    """
    skipped = apparatus(text, sections)
    typed = [
        (table, items)
        for table in read_tables(text, blocks)
        if not inside(skipped, table.header.start) and (items := _typed_items(table))
    ]
    by_name: dict[str, list[tuple[Table, Row, Cell, str]]] = defaultdict(list)
    for table, items in typed:
        for name, (row, cell, family) in items.items():
            by_name[name].append((table, row, cell, family))
    for name, found in by_name.items():
        for (one, row, cell, family), (other, other_row, other_cell, other_family) in pairwise(found):
            is_form = _is_one_form(one, other)
            if family == other_family or (not _KEY.search(name) and (is_form or not _describe_the_same(one, other))):
                continue
            places = tuple(Span(start=each.start, end=each.end) for each in (row, other_row))
            written = tuple(f"{name}: {each.text}" for each in (cell, other_cell))
            yield Contradiction(kind="type", name=name, written=written, places=places)
            break


def _is_one_form(one: Table, other: Table) -> bool:
    """Whether two tables have most columns in common: records of one form, each of another thing."""
    here, there = ({fold_compact(cell.text) for cell in table.header.cells} for table in (one, other))
    return 2 * len(here & there) > max(len(here), len(there))


def _describe_the_same(one: Table, other: Table) -> bool:
    """Whether two tables agree on the types of other items, so that they are about one thing."""
    here, there = _typed_items(one), _typed_items(other)
    return any(here[name][2] == there[name][2] for name in here.keys() & there.keys())


def _typed_items(table: Table) -> dict[str, tuple[Row, Cell, str]]:
    names = [at for at, head in enumerate(table.header.cells) if _ITEM_HEAD.fullmatch(head.text.strip())]
    type_at = table.column(_TYPE_HEAD)
    if not names or type_at is None:
        return {}
    found: dict[str, tuple[Row, Cell, str]] = {}
    for row in table.rows:
        if max(*names, type_at) >= len(row.cells):
            continue
        family = next((f for f, words in _FAMILIES if re.search(words, row.cells[type_at].text, re.IGNORECASE)), "")
        for at in names:
            name = fold_compact(row.cells[at].text.strip("`*"))
            if family and len(name) >= _SHORTEST_NAME and is_specific(folded_name(name)):
                found.setdefault(name, (row, row.cells[type_at], family))
    return found


def rows_twice(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Contradiction]:
    """Yield rows of a list that say the same in every cell but their numbers: one was meant to say something else."""
    skipped = apparatus(text, sections)
    for table in read_tables(text, blocks):
        if inside(skipped, table.header.start) or table.column(_CASES) is None:
            continue
        said: dict[tuple[str, ...], list[Row]] = defaultdict(list)
        for row in table.rows:
            words = tuple("" if _NUMBERED.fullmatch(cell.text) else fold_compact(cell.text) for cell in row.cells)
            filled = [word for word in words if word]
            if len(filled) >= _FEWEST_CELLS and sum(map(len, filled)) >= _SHORTEST_SAID:
                said[words].append(row)
        for rows in said.values():
            if len(rows) == _PAIR and _say_differently(rows) and not _is_parted(table, *rows):
                spans = tuple(Span(start=row.start, end=row.end) for row in rows)
                names = [_number(row) for row in rows]
                shown = tuple(f"{name} {_longest(row)}" for name, row in zip(names, rows, strict=True))
                yield Contradiction(kind="twice", name="、".join(names), written=shown, places=spans)


def _say_differently(rows: list[Row]) -> bool:
    """Whether two rows have nothing but a number of their own: figures in other cells tell them apart."""
    one, other = ([fold_compact(cell.text) for cell in row.cells] for row in rows)
    return all(first == second for first, second in zip(one[2:], other[2:], strict=False)) and one[:1] != other[:1]


def _is_parted(table: Table, one: Row, other: Row) -> bool:
    """Whether a row from the second on has a name where both leave it empty, 最大長, 最小長: they are of two groups."""
    columns = range(1, min(len(one.cells), len(other.cells)))
    empty = [at for at in columns if not one.cells[at].text.strip() and not other.cells[at].text.strip()]
    between = [row for row in table.rows if one.start < row.start < other.start]
    return any(at < len(row.cells) and row.cells[at].text.strip() for row in between for at in empty)


def _number(row: Row) -> str:
    texts = [cell.text.strip() for cell in row.cells[:2]]
    return next((text for text in reversed(texts) if text and _NUMBERED.fullmatch(text)), texts[0])


def _longest(row: Row) -> str:
    return max((cell.text for cell in row.cells), key=len)[:40]
