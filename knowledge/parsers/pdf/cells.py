"""Cells of ruled PDF tables: their lines re-joined, and a head of several rows as one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

from knowledge.parsers.pdf.text import with_whole_kanji
from knowledge.parsers.table_head import column_names

# As wide as one Japanese character: what a full line may lack.
_SLACK = 2
_WIDE_CLASSES = "WFA"
_SENTENCE_END = ("。", "！", "？", ":", "：")
_ITEM = re.compile(r"[-*•・●○◆■□▪※]|[(（]?[0-9０-９]{1,2}[.)）．](?![0-9])|[①-⑳]|[(（][ア-ン][)）]")
_JAPANESE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")

Box = tuple[float, float, float, float]


def table_texts(rows: Sequence[Sequence[str | None]], boxes: Sequence[Sequence[Box | None]]) -> list[list[str]]:
    """Return the rows of a table as they are to be written; None stands where a merged cell goes on.

    ``boxes`` are the cells' (left, top, right, bottom), in the same places.
    """
    texts = [[None if cell is None else with_whole_kanji(cell) for cell in row] for row in rows]
    widths = [max(map(_width, _lines(column)), default=0) for column in zip(*texts, strict=True)]
    texts = [[_joined(cell, width) for cell, width in zip(row, widths, strict=True)] for row in texts]
    lefts = [min((box[0] for box in column if box), default=0.0) for column in zip(*boxes, strict=True)]
    grid = [
        {
            column: (cell, max(other for other, left in enumerate(lefts) if other == column or left < box[2] - 1))
            for column, (cell, box) in enumerate(zip(row, row_boxes, strict=True))
            if cell is not None and box is not None
        }
        for row, row_boxes in zip(texts, boxes, strict=True)
    ]
    head_rows, names = column_names(grid)
    head = [[names.get(column, "") for column in range(len(widths))]] if head_rows else []
    return head + [[cell or "" for cell in row] for row in texts[head_rows:]]


def _lines(cells: Iterable[str | None]) -> list[str]:
    return [line for cell in cells if cell for line in cell.split("\n")]


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in _WIDE_CLASSES else 1 for char in line.strip())


def _joined(cell: str | None, column_width: int) -> str | None:
    """Join the lines that are full and go on in the next: a column is as wide as the widest line in it."""
    if not cell:
        return cell
    lines = [line.strip() for line in cell.split("\n") if line.strip()]
    text = lines[0] if lines else ""
    for above, line in pairwise(lines):
        full = _width(above) >= column_width - _SLACK
        ends = above.endswith(_SENTENCE_END) or _ITEM.match(line) is not None
        text += ("\n" if ends or not full else _between(above, line)) + line
    return text


def _between(above: str, line: str) -> str:
    return "" if _JAPANESE.match(above[-1]) or _JAPANESE.match(line[0]) else " "
