"""Cells that are empty where the other rows of their table say something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from knowledge.text.merged_cells import merged_cells
from knowledge.text.outline import apparatus, inside
from knowledge.text.tables import Row, Table, read_table
from knowledge.types.documents import Block, BlockKind
from review.rules.content.unfilled import Unfilled, are_marks
from review.types import RuleInput, Span

# Columns in which most rows have nothing to say, though the others of this table do; and marks, where nothing is no.
_OPTIONAL = re.compile(
    r"備考|注記?$|補足|摘要|メモ|コメント|特記|理由|初期値|既定値|デフォルト|例$|必須|任意|有無|可否|フラグ|キー|key|単位|note|remark",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"(?:(?:総)?合計|総計|小計|計)(?:\s*[(（].*)?")
# What is left over, and notes below a table.
_OTHERS = re.compile(r"その他|不明|[※*＊]|注[0-9０-９:：]")
# A day, or a line with a value, is no name of a column.
_NO_HEAD = re.compile(r"[:：]|[0-9０-９]年|。")
_WORDS = re.compile(r"[^\W\d_]")
DASH = re.compile(r"[-－‐―—–ー]")
_FEWEST_FILLED, _NEIGHBOURS, _NAMED_WITHIN, _MANY_DASHES = 3, 2, 3, 3
_FEWEST_OF_A_ROW, _LEAST_OF_A_ROW, _MOST_DASHES = 2, 0.5, 0.33


def blank_cells(target: RuleInput) -> Iterator[Unfilled]:
    """Yield of each table the cells that alone are empty in their column, or between rows that are filled alike."""
    skipped = apparatus(target.text, target.sections)
    for block in target.blocks:
        if block.kind is not BlockKind.TABLE or inside(skipped, block.start):
            continue
        table = read_table(target.text, block)
        found = {} if table is None else _blank(table, block)
        if found:
            yield Unfilled(
                titles=tuple(title for title, _ in found.values()),
                spans=tuple(Span(start=row.start, end=row.end) for _, row in found.values()),
                texts="cells",
            )


def _blank(table: Table, block: Block) -> dict[tuple[int, int], tuple[str, Row]]:
    """Return such cells by line and column: the names of row and column, and the row."""
    grid = [[cell.text.strip() for cell in row.cells] for row in (table.header, *table.rows)]
    first = _first_entry(grid)
    heads = _heads(grid[:first])
    entries = [(line, texts) for line, texts in _entries(grid, first) if len(texts) >= len(heads)]
    # What a cell above reaches into is said there.
    reached = {(line, column) for column, top, last in merged_cells(block.merged) for line in range(top + 1, last + 1)}
    said = [[texts[column] for _, texts in entries if texts[column]] for column in range(len(heads))]
    is_marked = [are_marks(texts) for texts in said]
    found: dict[tuple[int, int], tuple[str, Row]] = {}
    for line, column in sorted({*_alone(entries, len(heads)), *_between(entries)} - reached):
        texts, head = grid[line], heads[column]
        before = texts[: min(column, _NAMED_WITHIN)]
        name = next(filter(_WORDS.search, before), next(filter(None, before), ""))
        is_named = name and head and not _NO_HEAD.search(head)
        if is_named and not (_OPTIONAL.search(head) or is_marked[column] or _is_put_aside(texts)):
            found[line, column] = f"{name}・{head}", table.rows[line - 1]
    return found


def _entries(grid: list[list[str]], first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that say as much as most do: no line that heads others, and no total."""
    usual = median(sum(map(bool, texts)) for texts in grid[first:]) if grid[first:] else 0
    for line, texts in enumerate(grid):
        is_full = sum(map(bool, texts)) >= max(_FEWEST_OF_A_ROW, _LEAST_OF_A_ROW * usual)
        if line >= first and is_full and not any(map(_TOTAL.fullmatch, texts)):
            yield line, texts


def _alone(entries: list[tuple[int, list[str]]], width: int) -> Iterator[tuple[int, int]]:
    """Yield the cells that are the only empty ones of their column."""
    for column in range(1, width):
        blank = [line for line, texts in entries if not texts[column]]
        if len(blank) == 1 and len(entries) - 1 >= _FEWEST_FILLED:
            yield blank[0], column


def _between(entries: list[tuple[int, list[str]]]) -> Iterator[tuple[int, int]]:
    """Yield the cells whose row has all that the rows before and behind it have, which are filled alike, but this."""
    shapes = [frozenset(column for column, text in enumerate(texts) if text) for _, texts in entries]
    for at in range(_NEIGHBOURS, len(entries) - _NEIGHBOURS):
        around = {*shapes[at - _NEIGHBOURS : at], *shapes[at + 1 : at + 1 + _NEIGHBOURS]}
        lacking = next(iter(around)) - shapes[at]
        if len(around) == 1 and len(lacking) == 1 and shapes[at] < next(iter(around)):
            yield entries[at][0], next(iter(lacking))


def _is_put_aside(texts: list[str]) -> bool:
    """Whether much of a row does not apply, as its dashes say, or it is of what is left over."""
    dashes = sum(map(bool, map(DASH.fullmatch, texts)))
    return any(map(_OTHERS.match, texts)) or (dashes >= _MANY_DASHES and dashes > _MOST_DASHES * sum(map(bool, texts)))


def _first_entry(grid: list[list[str]]) -> int:
    """Return the first line that is no header: a sheet's header may have several, whose first cell is empty.

    Below a title that leaves most of its line empty the names of the columns fill theirs.
    """
    first = next((line for line in range(1, len(grid)) if grid[line] and grid[line][0]), len(grid))
    if grid[0] and grid[0][0]:
        return first
    is_titled = all(2 * sum(map(bool, texts)) < len(texts) for texts in grid[:first])
    has_names = is_titled and first + 1 < len(grid) and all(map(_WORDS.search, grid[first]))
    return first + has_names


def _heads(lines: list[list[str]]) -> list[str]:
    """Return each column's name: the lowest that a line of the header has."""
    width = max(map(len, lines))
    return [
        next((texts[column] for texts in reversed(lines) if column < len(texts) and texts[column]), "")
        for column in range(width)
    ]
