"""A column of vertical text laid out as a row of upright characters, which the network reads better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Ink = NDArray[np.bool_]
Cell = tuple[int, int]
# In sizes of a character: what belongs to one, and how far apart they are laid.
_ONE_CHARACTER, _PITCH, _MARGIN = 1.02, 1.12, 1.05
# Pixels across that a column has at least when it is cut: thin strokes of a small one would count as specks.
_LEAST_SIZE, _LEAST_WIDTH = 8, 32
# What is flat, wide and small, in sizes of a character.
_FLAT, _WIDE, _SMALL = 0.45, 0.55, 0.4
# By how much the ends of a parenthesis are above or below its middle.
_BENT = 0.03
# What part of the ink of a column's middle is none, or its edge, and how wide ruby is beside its own characters.
_FAINT, _EDGE, RUBY = 0.1, 0.05, 0.75
# What part of a column's length has ink where a line is drawn along it; characters have less.
_RULED = 0.75
# How much longer than thick a line is where two lie in one box.
_LONGER = 3.5
# How far brackets, which are seldom, reach beyond other characters, in sizes of a character.
_REACH = 0.12
# Percent of a column's pixels that may be darker than its ink and its paper; how far around a pixel others of its
# stroke are.
_DARKEST, _PAPER, _AROUND = 1, 90, 4


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
    column = _enlarged(_cropped(column, ink_of(np.asarray(column))))
    ink = ink_of(np.asarray(column))
    if not ink.any():
        return None
    size = max(float(_LEAST_SIZE), column.width * _MARGIN)
    cells = _cells(ink, size)
    side = int(size * _PITCH)
    row = Image.new("L", (side * len(cells), side), 255)
    for number, cell in enumerate(cells):
        _lay(row, column, ink, cell, size=size, at=number * side)
    return Row(image=row, cells=tuple((begin / column.height, end / column.height) for begin, end in cells))


def _cropped(column: Image.Image, ink: Ink) -> Image.Image:
    """Leave out what is beside the characters: part of another line beside them would make them seem larger."""
    begin, end = across(ink)
    if end <= begin:
        return column
    inked = np.nonzero(ink.any(0))[0]
    reach = round(_REACH * (end - begin))
    left, right = max(int(inked[0]), begin - reach), min(int(inked[-1]) + 1, end + reach)
    return column.crop((left, 0, right, column.height))


def across(ink: Ink, of_its_ink: float = _EDGE) -> Cell:
    """From where to where across a column its characters are, but for the ends of brackets and what is beside it."""
    share = ink.mean(0)
    own = np.nonzero(share > of_its_ink * share.max())[0]
    return (int(own[0]), int(own[-1]) + 1) if len(own) else (0, 0)


def _enlarged(column: Image.Image) -> Image.Image:
    if column.width >= _LEAST_WIDTH:
        return column
    return column.resize((_LEAST_WIDTH, round(column.height * _LEAST_WIDTH / column.width)), Image.Resampling.BICUBIC)


def own_part(column: Image.Image) -> tuple[float, float]:
    """From where to where across (0 to 1) a column's own characters are.

    Ruby, a line along them and ink of another column beside them are left out.
    """
    share = ink_of(np.asarray(column)).mean(0)
    ruled = share > _RULED
    text = np.where(ruled, 0.0, share)
    runs = runs_of(np.asarray(text > _FAINT * text.max(), np.bool_))
    lines = runs_of(np.asarray(ruled, np.bool_))
    if not runs or len(runs) + len(lines) < 2:
        return 0.0, 1.0
    own = max(runs, key=lambda run: float(text[run[0] : run[1]].sum()))
    beside = [run for run in (*runs, *lines) if run != own]
    if max(end - begin for begin, end in beside) > RUBY * (own[1] - own[0]):
        return 0.0, 1.0
    left = max(((end + own[0]) / 2 for _begin, end in beside if end <= own[0]), default=0.0)
    right = min(((own[1] + begin) / 2 for begin, _end in beside if begin >= own[1]), default=float(len(share)))
    return left / len(share), right / len(share)


def parts_of(lines: Image.Image, *, as_thick: float) -> list[tuple[float, float]]:
    """From where to where down (0 to 1) each of the lines is that lie in one box, one over the other.

    They are ``as_thick`` as the thickest or thicker, and lie closer than they are thick; so no character's own strokes
    are taken for lines. What the box cuts is of another one. On a dark ground the light is the ink.
    """
    pixels = np.asarray(lines)
    pixels = 255 - pixels if np.median(pixels) < 128 else pixels
    share = ink_of(pixels).mean(1)
    runs = runs_of(np.asarray(share > _FAINT * np.percentile(share, 80), np.bool_))
    thickest = max((end - begin for begin, end in runs), default=0)
    thick = [(begin, end) for begin, end in runs if end - begin >= as_thick * thickest]
    gaps = [below[0] - above[1] for above, below in pairwise(thick)]
    if not gaps or max(gaps) > min(end - begin for begin, end in thick) or lines.width < _LONGER * thickest:
        return [(0.0, 1.0)]
    edges = [0.0, *((above[1] + below[0]) / 2 / len(share) for above, below in pairwise(thick)), 1.0]
    whole = [begin > 0 and end < len(share) for begin, end in thick]
    return [part for part, is_whole in zip(pairwise(edges), whole, strict=True) if is_whole or not any(whole)]


def runs_of(inside: Ink) -> list[Cell]:
    steps = np.diff(np.concatenate([[0], inside.astype(int), [0]]))
    return list(zip(np.nonzero(steps == 1)[0].tolist(), np.nonzero(steps == -1)[0].tolist(), strict=True))


def dark_of(pixels: NDArray[np.uint8]) -> Ink:
    """What is darker than half way from ink to paper."""
    darker = np.bincount(pixels.ravel(), minlength=256).cumsum()
    ink, paper = np.searchsorted(darker, (_DARKEST / 100 * darker[-1], _PAPER / 100 * darker[-1]))
    return np.asarray(pixels < (int(ink) + int(paper)) // 2, np.bool_)


def without_specks(dark: Ink, around: int, least: int) -> Ink:
    """What has at least so many dark pixels as near as ``around`` above, below and beside it, with itself."""
    sums = np.pad(dark.astype(np.int32), (around + 1, around)).cumsum(0, np.int32).cumsum(1, np.int32)
    side = 2 * around + 1
    near = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    return np.asarray(dark & (near >= least), np.bool_)


def ink_of(pixels: NDArray[np.uint8]) -> Ink:
    """What is dark without specks: around a stroke's pixel a stroke goes on."""
    return without_specks(dark_of(pixels), _AROUND, 2 * _AROUND + 1)


def _cells(ink: Ink, size: float) -> list[Cell]:
    pieces: list[list[int]] = []
    for begin, end in runs_of(np.asarray(ink.any(1), np.bool_)):
        if (
            pieces
            and end - pieces[-1][0] <= size * _ONE_CHARACTER
            and not _are_marks(ink, pieces[-1], begin, end, size)
        ):
            pieces[-1][1] = end
        else:
            pieces.append([begin, end])
    return [cell for begin, end in pieces for cell in _parted(begin, end, max(1, round((end - begin) / size)))]


def _are_marks(ink: Ink, above: Sequence[int], begin: int, end: int, size: float) -> bool:
    """Whether a closing bracket with 。 or 、 after it shares the place of one character."""
    if above[1] - above[0] > _FLAT * size or end - begin > _SMALL * size:
        return False
    bracket, mark = (np.nonzero(ink[top:bottom].any(0))[0] for top, bottom in (above, (begin, end)))
    is_wide = bracket[-1] - bracket[0] > _WIDE * size
    return bool(is_wide and mark[-1] - mark[0] < _SMALL * size and 2 * mark[0] > bracket[0] + bracket[-1])


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
    is_bracket = 0.17 * size < high < _FLAT * size and wide > _WIDE * size and end - begin < 0.5 * size
    is_bracket = is_bracket or (high < _FLAT * size and wide > 0.3 * size and _lies(ink[begin:end], size))
    if is_upright_stroke or is_bracket:
        piece = piece.rotate(90, expand=True, fillcolor=255)
    left, top = (row.height - piece.width) // 2, (row.height - piece.height) // 2
    is_right = (int(across.min()) + int(across.max()) + 1 - column.width) / 2 > 0.04 * size
    # 、 and 。 and small kana are at the top right of their place in a column, and at the bottom left in a row.
    if wide < _SMALL * size and high < _SMALL * size and is_right:
        left, top = 2 - int(across.min()), row.height - piece.height
    elif wide < 0.78 * size and high < 0.75 * size and is_right and not (is_upright_stroke or is_bracket):
        left, top = (row.height - column.width) // 2 - round(0.08 * size), round(0.94 * row.height) - piece.height
    row.paste(piece, (at + left, top))


def _lies(ink: Ink, size: float) -> bool:
    """Whether a flat mark lies on its side: a parenthesis, bent at both ends, or the two dots of a colon."""
    down, across = np.nonzero(ink)
    left, right = int(across.min()), int(across.max()) + 1
    third = (right - left) / 3
    parts = [down[(across >= left + third * at) & (across <= left + third * (at + 1))] for at in range(3)]
    if not len(parts[1]):
        return True
    bends = [float(parts[1].mean() - part.mean()) for part in (parts[0], parts[2]) if len(part)]
    return min(bends) > _BENT * size or max(bends) < -_BENT * size
