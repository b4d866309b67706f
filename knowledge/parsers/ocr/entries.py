"""Entries of contents pages in columns: what stands in line with a title is of it, whether it was found or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from knowledge.parsers.ocr.columns import across, ink_of
from knowledge.parsers.ocr.leaders import Part, Strip, notes_in, parts_down, slope_of, strip_of
from knowledge.parsers.ocr.lines import ImageLines, between, cut_out, size_of
from knowledge.parsers.ocr.tiers import edge_of_tiers, goes_over, is_between, paper_at
from knowledge.types.ocr import Point, Quad

# How much longer than wide a column is, and how wide beside its box the strip below it is that is looked at.
_TALL, _WIDER = 1.5, 0.15
_COVERED = 0.5
# How much of the box of a column its characters take, and room around what is cut out, in sizes of a character.
_OF_BOX, _ROOM, _HALF = 0.72, 0.12, 0.74
# How wide a column's characters are beside those of most, at least and at most.
_NARROWEST, _WIDEST = 0.85, 1.1
# How many columns with leaders, and what share of all, make a page of contents.
_LEAST_COLUMNS, _LEAST_OF_COLUMNS = 3, 0.25
# A slope that counts, and what share of the ink where there is most its characters have across.
_SLOPING, _OF_ITS_INK = 0.0007, 0.3

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an entry and its corners."""

    part: Part
    quad: Quad


Entry = list[Piece]


def entries_of(lines: ImageLines, quads: Sequence[Quad], skew: float) -> tuple[list[Entry], list[Quad], float]:
    """Put together columns that have leaders, from above; and give the lines that are of none.

    Only where there are several. What the leaders go to is part of the entry, also where the network found nothing.
    Leaders say best how a page slopes.
    """
    tall = [quad for quad in quads if _is_tall(quad)]
    usual = median(size_of(quad)[0] for quad in tall) * _OF_BOX if tall else 0.0
    columns = [column for quad in tall if (column := _column(lines, quad, usual, skew))]
    if len(columns) < max(_LEAST_COLUMNS, _LEAST_OF_COLUMNS * len(tall)):
        return [], list(quads), skew
    leaning = [one.leaning() for one in columns]
    off = median(slope for slope, _length in leaning)
    if abs(off) > _SLOPING:
        skew -= off
        columns = [column for one in columns if (column := _column(lines, one.quad, usual, skew))]
    left = {quad: straight(quad, skew) for quad in quads}
    entries: list[Entry] = []
    for column in sorted(columns, key=lambda one: one.top):
        if column.quad in left:
            entries.append(column.pieces(skew))
            taken = column.box()
            left = {quad: box for quad, box in left.items() if quad != column.quad and _share(box, taken) < _COVERED}
    return entries, list(left), skew


def parted_at_tiers(lines: ImageLines, quads: Sequence[Quad], skew: float) -> list[Quad]:
    """Part columns of an upper and a lower tier that were taken for one, between others that end and begin there."""
    tall = [quad for quad in quads if _is_tall(quad)]
    thickness = median(size_of(quad)[0] for quad in tall) if tall else 0.0
    boxes = {quad: straight(quad, skew) for quad in tall}
    edge = edge_of_tiers(list(boxes.values()), thickness)
    if edge is None:
        return list(quads)
    ending = [box for box in boxes.values() if not goes_over(box, edge, thickness)]
    found: list[Quad] = []
    for quad in quads:
        box = boxes.get(quad)
        at = None
        if box is not None and goes_over(box, edge, thickness) and is_between(box, ending):
            at = paper_at(lines.picture(quad), edge - box[1])
        if box is None or at is None:
            found.append(quad)
        else:
            a, b, c, d = quad
            share = at / (box[3] - box[1])
            left, right = between(a, d, share), between(b, c, share)
            found += [(a, b, right, left), (left, right, c, d)]
    return found


@dataclass(frozen=True, slots=True)
class _Column:
    """A column with leaders: the strip from its box down, whose corner is at ``left`` and ``top``, and its parts."""

    quad: Quad
    strip: Strip
    left: float
    top: float
    parts: list[tuple[Part, int, int]]

    def leaning(self) -> tuple[float, int]:
        begin, end = max((end - begin, begin, end) for part, begin, end in self.parts if part is Part.LEADERS)[1:]
        return slope_of(self.strip, begin, end), end - begin

    def box(self) -> Box:
        middle, half = self.left + self.strip.middle, self.strip.size * _HALF
        return middle - half, self.top, middle + half, self.top + self.parts[-1][2]

    def pieces(self, skew: float) -> Entry:
        return [Piece(part, corners(box, skew)) for part, box in self._boxes()]

    def _boxes(self) -> Iterator[tuple[Part, Box]]:
        left, _top, right, _bottom = self.box()
        room = _ROOM * self.strip.size
        last = self.parts[-1]
        for part, begin, end in self.parts:
            at = begin
            may_have_notes = part is Part.TEXT and (part, begin, end) != last  # digits side by side look like them
            for start, stop, parting in notes_in(self.strip, begin, end) if may_have_notes else ():
                if start - at > room:
                    yield Part.TEXT, (left, self.top + at - room, right, self.top + start)
                top, low, middle = self.top + start - room / 2, self.top + stop + room / 2, self.left + parting
                yield Part.NOTE, (middle, top, right, low)
                yield Part.NOTE, (left, top, middle, low)
                at = stop
            if end - at > room:
                yield part, (left, self.top + at - room, right, self.top + end + room)


def _column(lines: ImageLines, quad: Quad, usual: float, skew: float) -> _Column | None:
    """The column that begins with a line; None where it has no leaders."""
    left, top, right, bottom = straight(quad, skew)
    aside = _WIDER * (right - left)
    picture = cut_out(lines.image, corners((left - aside, top, right + aside, float(lines.image.height)), skew))
    begin, end = across(ink_of(np.asarray(picture)[: max(1, round(bottom - top))]), _OF_ITS_INK)
    if end <= begin:
        return None
    size = min(max(float(end - begin), usual * _NARROWEST), usual * _WIDEST)
    strip = strip_of(picture, (begin + end) / 2, size)
    parts = parts_down(strip)
    return _Column(quad, strip, left - aside, top, parts) if parts else None


def _is_tall(quad: Quad) -> bool:
    width, height = size_of(quad)
    return height >= _TALL * width


def straight(quad: Quad, skew: float) -> Box:
    """The upright box around a line once the page's skew is undone, without a change of its size."""
    scale = float(np.hypot(1, skew))
    us, vs = [(x + skew * y) / scale for x, y in quad], [(y - skew * x) / scale for x, y in quad]
    return min(us), min(vs), max(us), max(vs)


def corners(box: Box, skew: float) -> Quad:
    scale = float(np.hypot(1, skew))
    left, top, right, bottom = box

    def back(u: float, v: float) -> Point:
        return (u - skew * v) / scale, (v + skew * u) / scale

    return back(left, top), back(right, top), back(right, bottom), back(left, bottom)


def _share(box: Box, of: Box) -> float:
    """How much of a box lies in another one."""
    wide = min(box[2], of[2]) - max(box[0], of[0])
    high = min(box[3], of[3]) - max(box[1], of[1])
    return max(0.0, wide) * max(0.0, high) / max(1.0, (box[2] - box[0]) * (box[3] - box[1]))
