"""The lines of one image, cut out and read; each way of reading a line is gone once."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from PIL import Image

from knowledge.parsers.ocr.columns import RUBY, Row, as_row, own_part, parts_of
from knowledge.parsers.ocr.recognition import LineText, Recogniser
from knowledge.types.ocr import Point, Quad

# What turns an image back that lies turned clockwise; Pillow turns against the clock.
BACK = {
    90: Image.Transpose.ROTATE_90,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_270,
}
# How wide a row of a column's characters is read: its characters stand apart, and half is read as well as the whole.
_ROW = 0.5
# Pixels that a picture of few characters has at least.
_LEAST_APART = 64
# By how much of what a line takes its box is wider than its region (`detection`).
_EDGE = 0.31
# How thick a line in small type is beside one above or below it.
_SMALL_TYPE = 0.6


class ImageLines:
    """Reads lines of an image by their corners.

    How an image lies is told by reading some of its lines, which are then there when all are read.
    """

    def __init__(self, image: Image.Image, recogniser: Recogniser) -> None:
        self.image = image
        self._recogniser = recogniser
        self._cut: dict[Quad, Image.Image] = {}
        self._read: dict[tuple[Quad, int], LineText] = {}
        self._rows: dict[tuple[Quad, int], Row | None] = {}
        self._read_rows: dict[tuple[Quad, int], LineText] = {}

    def read(self, quad: Quad, turn: int = 0) -> LineText:
        """Read a line that lies turned clockwise by ``turn`` degrees."""
        if (quad, turn) not in self._read:
            self._read[quad, turn] = self._recogniser.read(self.picture(quad, turn))
        return self._read[quad, turn]

    def row(self, quad: Quad, turn: int = 0) -> Row | None:
        """Lay a column out as a row of upright characters; None where there is no ink. ``turn`` is 0 or 180."""
        if (quad, turn) not in self._rows:
            self._rows[quad, turn] = as_row(self.picture(quad, turn))
        return self._rows[quad, turn]

    def read_row(self, quad: Quad, turn: int = 0) -> LineText | None:
        """Read a column as such a row, with centres in the row."""
        row = self.row(quad, turn)
        if row is None:
            return None
        if (quad, turn) not in self._read_rows:
            self._read_rows[quad, turn] = self._recogniser.read(row.image, narrowed=_ROW)
        return self._read_rows[quad, turn]

    def read_apart(self, picture: Image.Image, among: str | None = None) -> LineText:
        """Read a picture that was made of a line, as characters ``among`` these alone."""
        return self._recogniser.read(picture, least=_LEAST_APART, among=among)

    def parts(self, quad: Quad, edge: float) -> list[Quad]:
        """The lines of a box, the right or the upper one first, where several side by side were taken for one.

        The box is widened by ``edge``, more than each of its lines needs: what stands in the edge is of another box.
        """
        width, height = size_of(quad)
        is_wide = width >= height
        picture = self.picture(quad, 0 if is_wide else 90)
        found = parts_of(picture, as_thick=_SMALL_TYPE if is_wide else RUBY)
        if len(found) == 1:
            return [_band(quad, *found[0], 0.0, is_wide=is_wide)]
        thick = picture.height
        own = [(top, low) for top, low in found if edge <= (top + low) / 2 * thick <= thick - edge]
        return [
            _band(quad, top, low, max(0.0, edge - _EDGE * (low - top) * thick) / picture.width, is_wide=is_wide)
            for top, low in own or found
        ]

    def without_ruby(self, quad: Quad) -> Quad:
        """Narrow a column to its own characters, where ruby or ink of its neighbours stands beside them."""
        left, right = own_part(self.picture(quad, 0))
        a, b, c, d = quad
        return between(a, b, left), between(a, b, right), between(d, c, right), between(d, c, left)

    def confidence(self, quads: Sequence[Quad], turn: int = 0) -> float:
        """The mean confidence of lines that lie turned."""
        return fmean(self.read(quad, turn).confidence for quad in quads)

    def picture(self, quad: Quad, turn: int = 0) -> Image.Image:
        """A line laid straight, and turned back where it lies turned."""
        if quad not in self._cut:
            self._cut[quad] = cut_out(self.image, quad)
        cut = self._cut[quad]
        return cut.transpose(BACK[turn]) if turn else cut


def _band(quad: Quad, top: float, low: float, aside: float, *, is_wide: bool) -> Quad:
    """The part of a box from ``top`` to ``low`` (0 to 1) across its lines, without ``aside`` at both of their ends."""
    a, b, c, d = quad if is_wide else (*quad[1:], quad[0])
    begin, end = (between(a, d, top), between(b, c, top)), (between(a, d, low), between(b, c, low))
    corners = (between(*begin, aside), between(*begin, 1 - aside), between(*end, 1 - aside), between(*end, aside))
    return corners if is_wide else (corners[3], *corners[:3])


def between(one: Point, other: Point, share: float) -> Point:
    """The point that is this share (0 to 1) of the way from one to the other."""
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share


def size_of(quad: Quad) -> tuple[int, int]:
    """Width and height of a line in pixels, along its own sides."""
    (ax, ay), (bx, by), _c, (dx, dy) = quad
    return max(1, round(float(np.hypot(bx - ax, by - ay)))), max(1, round(float(np.hypot(dx - ax, dy - ay))))


def cut_out(image: Image.Image, quad: Quad) -> Image.Image:
    """Cut a line out of an image and lay it straight."""
    (ax, ay), (bx, by), _c, (dx, dy) = quad
    width, height = size_of(quad)
    steps = ((bx - ax) / width, (dx - ax) / height, ax, (by - ay) / width, (dy - ay) / height, ay)
    return image.transform((width, height), Image.Transform.AFFINE, steps, Image.Resampling.BICUBIC, fillcolor=255)
