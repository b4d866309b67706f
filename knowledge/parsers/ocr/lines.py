"""The lines of one image, cut out and read; each way of reading a line is gone once."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from PIL import Image

from knowledge.parsers.ocr.columns import Row, as_row, own_part
from knowledge.parsers.ocr.recognition import LineText, Recogniser
from knowledge.types.ocr import Point, Quad

# What turns an image back that lies turned clockwise; Pillow turns against the clock.
BACK = {
    90: Image.Transpose.ROTATE_90,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_270,
}


class ImageLines:
    """Reads lines of an image by their corners.

    How an image lies is told by reading some of its lines, which are then there when all are read.
    """

    def __init__(self, image: Image.Image, recogniser: Recogniser) -> None:
        self.image = image
        self._recogniser = recogniser
        self._read: dict[tuple[Quad, int], LineText] = {}
        self._rows: dict[tuple[Quad, int], tuple[Row, LineText] | None] = {}

    def read(self, quad: Quad, turn: int = 0) -> LineText:
        """Read a line that lies turned clockwise by ``turn`` degrees."""
        if (quad, turn) not in self._read:
            self._read[quad, turn] = self._recogniser.read(self._picture(quad, turn))
        return self._read[quad, turn]

    def read_row(self, quad: Quad, turn: int = 0) -> tuple[Row, LineText] | None:
        """Read a column as a row of upright characters; None where there is no ink. ``turn`` is 0 or 180."""
        if (quad, turn) not in self._rows:
            row = as_row(self._picture(quad, turn))
            self._rows[quad, turn] = None if row is None else (row, self._recogniser.read(row.image))
        return self._rows[quad, turn]

    def without_ruby(self, quad: Quad) -> Quad:
        """Narrow a column to its own characters, where ruby or ink of its neighbours stands beside them."""
        left, right = own_part(self._picture(quad, 0))
        a, b, c, d = quad
        return between(a, b, left), between(a, b, right), between(d, c, right), between(d, c, left)

    def confidence(self, quads: Sequence[Quad], turn: int = 0) -> float:
        """The mean confidence of lines that lie turned."""
        return fmean(self.read(quad, turn).confidence for quad in quads)

    def _picture(self, quad: Quad, turn: int) -> Image.Image:
        cut = cut_out(self.image, quad)
        return cut.transpose(BACK[turn]) if turn else cut


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
