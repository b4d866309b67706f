"""A column of vertical text laid out as a row of upright characters, which the network reads better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Ink = NDArray[np.bool_]
Cell = tuple[int, int]
# In sizes of a character: what belongs to one, and how far apart they are laid.
_ONE_CHARACTER, _PITCH, _MARGIN = 1.02, 1.12, 1.05
_LEAST_SIZE = 8
# Percent of a column's pixels that may be darker than its ink; how far around a pixel others of its stroke are.
_DARKEST, _AROUND = 1, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The picture of the row, and of each cell in it where it was in the column, from 0 to 1."""

    image: Image.Image
    cells: tuple[tuple[float, float], ...]

    def along_column(self, place: float) -> float:
        """Where in the column a place of the row (0 to 1) was."""
        position = min(max(place, 0.0), 1.0) * len(self.cells)
        number = min(int(position), len(self.cells) - 1)
        begin, end = self.cells[number]
        return begin + (end - begin) * (position - number)


def as_row(column: Image.Image) -> Row | None:
    """Cut a column between its characters and lay them in a row; None where there is no ink."""
    ink = _ink(np.asarray(column))
    inked = np.nonzero(ink.any(0))[0]
    if not len(inked):
        return None
    size = max(float(_LEAST_SIZE), float(inked[-1] - inked[0] + 1) * _MARGIN)
    cells = _cells(ink, size)
    side = int(size * _PITCH)
    row = Image.new("L", (side * len(cells), side), 255)
    for number, cell in enumerate(cells):
        _lay(row, column, ink, cell, size=size, at=number * side)
    return Row(image=row, cells=tuple((begin / column.height, end / column.height) for begin, end in cells))


def _ink(pixels: NDArray[np.uint8]) -> Ink:
    """What is darker than half way to the paper, without specks: around a stroke's pixel a stroke goes on."""
    dark = pixels < (int(np.percentile(pixels, _DARKEST)) + int(np.percentile(pixels, 90))) // 2
    sums = np.pad(dark, (_AROUND + 1, _AROUND)).cumsum(0).cumsum(1)
    side = 2 * _AROUND + 1
    around = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    return np.asarray(dark & (around >= side), np.bool_)


def _cells(ink: Ink, size: float) -> list[Cell]:
    steps = np.diff(np.concatenate([[0], ink.any(1).astype(int), [0]]))
    pieces: list[list[int]] = []
    for begin, end in zip(np.nonzero(steps == 1)[0].tolist(), np.nonzero(steps == -1)[0].tolist(), strict=True):
        if pieces and end - pieces[-1][0] <= size * _ONE_CHARACTER:
            pieces[-1][1] = end
        else:
            pieces.append([begin, end])
    return [cell for begin, end in pieces for cell in _parted(begin, end, max(1, round((end - begin) / size)))]


def _parted(begin: int, end: int, count: int) -> Sequence[Cell]:
    """Cut what hangs together into as many characters as it is high."""
    return [(begin + (end - begin) * at // count, begin + (end - begin) * (at + 1) // count) for at in range(count)]


def _lay(row: Image.Image, column: Image.Image, ink: Ink, cell: Cell, *, size: float, at: int) -> None:
    begin, end = cell
    down, across = np.nonzero(ink[begin:end])
    if not len(across):
        return
    wide, high = int(across.max() - across.min()) + 1, int(down.max() - down.min()) + 1
    piece = column.crop((0, begin, column.width, end))
    is_upright_stroke = high > 0.5 * size and wide < 0.3 * size  # the long vowel's mark, dots
    # 一 is thinner than any bracket
    is_bracket = 0.17 * size < high < 0.45 * size and wide > 0.55 * size and end - begin < 0.5 * size
    if is_upright_stroke or is_bracket:
        piece = piece.rotate(90, expand=True, fillcolor=255)
    left, top = (row.height - piece.width) // 2, (row.height - piece.height) // 2
    is_right = (int(across.min()) + int(across.max())) / 2 > 0.53 * column.width
    # 、 and 。 and small kana are at the top right of their place in a column, and at the bottom left in a row.
    if wide < 0.4 * size and high < 0.4 * size and is_right:
        left, top = 2 - int(across.min()), row.height - piece.height
    elif wide < 0.78 * size and high < 0.75 * size and is_right and not (is_upright_stroke or is_bracket):
        left, top = (row.height - column.width) // 2 - round(0.08 * size), round(0.94 * row.height) - piece.height
    row.paste(piece, (at + left, top))
