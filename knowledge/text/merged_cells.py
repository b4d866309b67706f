"""Which cells of a stored table reach down into the lines below them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

MergedCell: TypeAlias = tuple[int, int, int]
"""A cell's column, its line and the last line that it reaches, all from 0; the header is line 0, its rule is none."""


def written_spans(cells: Iterable[MergedCell]) -> str | None:
    """Write merged cells as a block keeps them; None without any.

    >>> written_spans([(0, 1, 3), (1, 2, 3)])
    '0:1-3,1:2-3'
    """
    return ",".join(f"{column}:{first}-{last}" for column, first, last in cells) or None


def merged_cells(spans: str | None) -> list[MergedCell]:
    """Read what `written_spans` wrote."""
    found = []
    for span in filter(None, (spans or "").split(",")):
        column, _, lines = span.partition(":")
        first, _, last = lines.partition("-")
        found.append((int(column), int(first), int(last)))
    return found
