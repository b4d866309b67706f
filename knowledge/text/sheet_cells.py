"""Which cells of a sheet the lines of a stored table are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.types.documents import Block

_RANGE = re.compile(r"(?P<left>[A-Z]+)(?P<top>[0-9]+):(?P<right>[A-Z]+)(?P<bottom>[0-9]+)")


class RowCells:
    """The cells of a table's lines, the header first and no line under it; all of them where that is not known."""

    def __init__(self, block: Block, *, lines: int) -> None:
        self._cell = block.cell
        self._rows: Sequence[int] = ()
        self._match = _RANGE.fullmatch(block.cell or "")
        if self._match is None:
            return
        top, bottom = int(self._match["top"]), int(self._match["bottom"])
        self._rows = row_numbers(block.rows) if block.rows else range(top, bottom + 1)
        if len(self._rows) != lines:
            self._match = None

    def between(self, first: int, last: int) -> str | None:
        if self._match is None:
            return self._cell
        return f"{self._match['left']}{self._rows[first]}:{self._match['right']}{self._rows[last]}"


def row_numbers(ranges: str) -> list[int]:
    """Read ``3,5-7`` as 3, 5, 6, 7."""
    ends = (part.partition("-") for part in ranges.split(","))
    return [row for first, _, last in ends for row in range(int(first), int(last or first) + 1)]
