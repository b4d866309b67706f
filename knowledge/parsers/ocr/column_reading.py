"""A column read lying on its side and as a row of upright characters, as far as one reading may lack something."""

from __future__ import annotations

import dataclasses

from knowledge.parsers.ocr.columns import Row
from knowledge.parsers.ocr.lines import ImageLines
from knowledge.parsers.ocr.numerals import with_zeros
from knowledge.parsers.ocr.recognition import LineText
from knowledge.parsers.ocr.two_readings import joined
from knowledge.types.ocr import Quad

# How sure a column, and each of its characters, must be read for one reading to be enough.
_SURE, _SURE_CHARACTER = 0.95, 0.7


def read_column(lines: ImageLines, quad: Quad) -> LineText:
    """Read a column lying on its side and, where that may lack a mark, as a row of upright characters."""
    lying, row = lines.read(quad, 90), lines.row(quad)
    read = None if row is None or _is_whole(lying, row) else lines.read_row(quad)
    if row is None or read is None:
        return with_zeros(lying)
    both = joined(lying, dataclasses.replace(read, centres=tuple(map(row.along_column, read.centres))))
    return with_zeros(both)


def _is_whole(lying: LineText, row: Row) -> bool:
    """Whether a column was read with as many characters as can be seen in it, and each for sure."""
    return len(lying.text) >= len(row.cells) and lying.confidence >= _SURE and min(lying.chances) >= _SURE_CHARACTER
