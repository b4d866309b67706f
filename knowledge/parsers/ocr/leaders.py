"""What a column of a contents page is made of, by its ink: titles, leaders to a number, notes in two narrow lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from knowledge.parsers.ocr.columns import dark_of, runs_of, without_specks

Ink = NDArray[np.bool_]
Run = tuple[int, int]

# In sizes of a character, from the middle of a column: how far leaders reach, and how far its characters do.
_LEADING, _ACROSS = 0.24, 0.62
# How long leaders are at least, so that an ellipsis or a dash in a sentence is none, and how far their dots are apart.
_LEAST_LEADERS, _LEAST_DOTS, _FAR_DOTS, _DOTS_APART, _DOT, _EVEN = 2.6, 3, 0.6, 1.2, 0.35, 1.3
# How much higher than most of them one is.
_ALIKE = 1.8
# How far around a pixel others are, and how many, of a stroke and of a dot.
_OF_A_STROKE, _OF_A_DOT = (4, 9), (2, 4)
# Pixels of a character whose strokes are thicker than specks.
_LARGE = 26
# What of the rows beside leaders may have ink: specks of a bad scan.
_LEAST_INK = 2
# How far from what stands before it the rest of a column may be, and from leaders.
_GAP, _GAP_OF_LEADERS = 1.7, 2.4
# How wide the paper is between two narrow lines, how long it is at least, and what share of it both lines take;
# how far from the middle it may be, and how high the arms of a bracket are.
_BETWEEN, _LEAST_NOTE, _TAKEN, _OFF, _ARMS = 0.02, 1.2, 0.55, 0.15, 0.3


class Part(Enum):
    TEXT = "text"
    LEADERS = "leaders"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Strip:
    """A column and all below it: the ``middle`` of its characters across, and their ``size``.

    ``dots`` is its ink with the dots that are as small as specks.
    """

    ink: Ink
    dots: Ink
    middle: float
    size: float


def strip_of(picture: Image.Image, middle: float, size: float) -> Strip:
    """``middle`` and ``size`` are in pixels of the picture."""
    dark = dark_of(np.asarray(picture))
    dots = without_specks(dark, *_OF_A_DOT)
    # Strokes of small characters are as thin as specks.
    ink = without_specks(dark, *_OF_A_STROKE) if size >= _LARGE else dots
    return Strip(ink, dots, middle, size)


def parts_down(strip: Strip) -> list[tuple[Part, int, int]]:
    """Give the parts of a column from its beginning, as far as it goes on, from which to which row each is.

    Nothing where it has no leaders.
    """
    leaders = list(_leaders(strip))
    inked = np.asarray(_own(strip).any(1), np.bool_)
    found: list[tuple[Part, int, int]] = []
    for begin, end, is_leader in sorted([*_between(inked, leaders), *((*run, True) for run in leaders)]):
        if found:
            gap = begin - found[-1][2]
            is_beside = is_leader or found[-1][0] is Part.LEADERS
            if gap > strip.size * (_GAP_OF_LEADERS if is_beside else _GAP):
                break
        if found and not is_leader and found[-1][0] is Part.TEXT:
            found[-1] = (Part.TEXT, found[-1][1], end)
        elif len(found) > 1 and is_leader and found[-1][2] - found[-1][1] < _DOT * strip.size:
            found[-2:] = [(Part.LEADERS, found[-2][1], end)]  # a dot that was out of line
        else:
            found.append((Part.LEADERS if is_leader else Part.TEXT, begin, end))
    return found if any(part is Part.LEADERS for part, _begin, _end in found) else []


def notes_in(strip: Strip, begin: int, end: int) -> list[tuple[int, int, float]]:
    """Where two narrow lines stand side by side between two rows: from which to which, and what parts them across."""
    size = strip.size
    off = range(-round(_OFF * size), round(_OFF * size) + 1)
    left = [(*run, strip.middle + by) for by in off for run in _side_by_side(strip, begin, end, strip.middle + by)]
    found = []
    while left:
        best = max(left, key=lambda one: (one[1] - one[0], -abs(one[2] - strip.middle)))
        found.append(best)
        left = [one for one in left if one[1] <= best[0] or one[0] >= best[1]]
    return sorted(found)


def _side_by_side(strip: Strip, begin: int, end: int, middle: float) -> Iterator[Run]:
    size, at = strip.size, round(middle)
    near, far = round(_BETWEEN * size), round(_ACROSS * size)
    ink = strip.ink[begin:end]
    left, right = (
        np.asarray(part.any(1), np.bool_) for part in (ink[:, max(0, at - far) : at], ink[:, at + 1 : at + far])
    )
    paper = ~ink[:, at : at + 1 + near].any(1)
    inked = left | right
    for start, stop in runs_of(np.asarray(paper, np.bool_)):
        rows = runs_of(np.asarray(inked[start:stop], np.bool_))
        # A bracket before or after both lines is open towards them.
        rows = rows[1:] if len(rows) > 1 and rows[0][1] - rows[0][0] < _ARMS * size else rows
        rows = rows[:-1] if len(rows) > 1 and rows[-1][1] - rows[-1][0] < _ARMS * size else rows
        if not rows:
            continue
        top, low = start + rows[0][0], start + rows[-1][1]
        is_long = low - top >= _LEAST_NOTE * size
        if is_long and left[top:low].mean() >= _TAKEN / 2 and right[top:low].mean() >= _TAKEN:
            yield begin + top, begin + low


def slope_of(strip: Strip, begin: int, end: int) -> float:
    """By how much leaders lean, to the right for each row."""
    size, middle = strip.size, strip.middle
    low = max(0, round(middle - _LEADING * size))
    rows, places = np.nonzero(strip.dots[begin:end, low : round(middle + _LEADING * size) + 1])
    return float(np.polyfit(rows, places, 1)[0]) if len(rows) > 1 and np.ptp(rows) else 0.0


def _own(strip: Strip) -> Ink:
    reach = strip.size * _ACROSS
    return strip.ink[:, max(0, round(strip.middle - reach)) : round(strip.middle + reach) + 1]


def _leaders(strip: Strip) -> Iterator[Run]:
    """Rows in which there is ink in the middle alone, again and again."""
    size, middle = strip.size, strip.middle
    low, high = round(middle - _LEADING * size), round(middle + _LEADING * size) + 1
    reach = round(_ACROSS * size)
    beside = strip.ink[:, max(0, round(middle) - reach) : max(0, low)].sum(1)
    beside += strip.ink[:, high : round(middle) + reach + 1].sum(1)
    dots = np.asarray(strip.dots[:, max(0, low) : high].any(1), np.bool_)
    for start, stop in runs_of(np.asarray(beside < _LEAST_INK, np.bool_)):
        found = [(start + begin, start + end) for begin, end in runs_of(dots[start:stop])]
        for close in _close(found, _DOTS_APART * size):
            group = _alike(close)
            begin, end = group[0][0], group[-1][1]
            if end - begin >= _LEAST_LEADERS * size or _are_dots(group, size):
                yield begin, end


def _alike(group: list[Run]) -> list[Run]:
    """Without parts of a character at the ends that are thin and in the middle, too."""
    heights = sorted(end - begin for begin, end in group)
    most = _ALIKE * heights[len(heights) // 2]
    while len(group) > _LEAST_DOTS and group[0][1] - group[0][0] > most:
        group = group[1:]
    while len(group) > _LEAST_DOTS and group[-1][1] - group[-1][0] > most:
        group = group[:-1]
    return group


def _are_dots(group: list[Run], size: float) -> bool:
    """Whether these are three dots or more, each as far as the other from the next one, with room between them."""
    steps = [below[0] + below[1] - above[0] - above[1] for above, below in pairwise(group)]
    is_small = max(end - begin for begin, end in group) < _DOT * size
    return (
        len(group) >= _LEAST_DOTS and is_small and _FAR_DOTS * size < min(steps) / 2 and max(steps) < _EVEN * min(steps)
    )


def _close(runs: list[Run], gap: float) -> Iterator[list[Run]]:
    group: list[Run] = []
    for run in runs:
        if group and run[0] - group[-1][1] > gap:
            yield group
            group = []
        group.append(run)
    if group:
        yield group


def _between(inked: Ink, leaders: list[Run]) -> Iterator[tuple[int, int, bool]]:
    """Runs of ink that are not of leaders."""
    edges = [0, *(edge for run in leaders for edge in run), len(inked)]
    for begin, end in list(pairwise(edges))[::2]:
        for start, stop in runs_of(inked[begin:end]):
            yield begin + start, begin + stop, False
