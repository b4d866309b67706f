"""The example of a correction: what to write for some words, with what stands around them."""

from __future__ import annotations

from knowledge.text.structure import line_span
from knowledge.text.tables import cell_around
from knowledge.types.documents import BlockKind
from review.types import RuleInput

_WIDTH = 20
_LEFT_OUT = "…"


def corrected(target: RuleInput, start: int, end: int, replacement: str) -> str:
    """Return ``replacement`` with up to 20 characters of the line, or of the table's cell, before and after a place."""
    text = target.text
    is_cell = any(block.kind is BlockKind.TABLE and block.start <= start < block.end for block in target.blocks)
    begin, stop = cell_around(text, start, end) if is_cell else line_span(text, start, end)
    before, after = max(begin, start - _WIDTH), min(stop, end + _WIDTH)
    head, tail = _LEFT_OUT if before > begin else "", _LEFT_OUT if after < stop else ""
    return f"{head}{text[before:start]}{replacement}{text[end:after]}{tail}"
