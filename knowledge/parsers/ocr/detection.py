"""Where the lines of text of an image are: a neural network's map of text, its regions, and their slope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from knowledge.types.ocr import Point, Quad

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Pixels of the longer side that the network sees: larger ones take more memory and read no better at 200 dpi.
SIDE = 1280
_STRIDE = 32
# Source: the network's own configuration (DB post-processing): thresholds of a pixel and of a region, and by how much
# the shrunken region of a line is widened again.
_PIXEL, _REGION, _WIDENED = 0.3, 0.5, 1.6
_LEAST_SIDE, _LEAST_PIXELS = 3, 12
# A region that is as much longer than wide says how the page slopes.
_ELONGATED, _LONG_PIXELS = 25, 200
_LEAST_SLOPE = 0.002


def find_lines(image: Image.Image, network: InferenceSession) -> tuple[list[tuple[Quad, float]], float]:
    """Give the corners of each line in the image's pixels, and the slope of the lines (rise of y along x).

    With the corners comes how far they are from the region that the network found.
    """
    width, height = image.size
    scale = min(1.0, SIDE / max(width, height))
    seen = [max(_STRIDE, round(side * scale / _STRIDE) * _STRIDE) for side in (width, height)]
    probability = _text_map(image.resize((seen[0], seen[1]), _filter(scale)), network)
    regions = _Regions(probability)
    if not regions.count:
        return [], 0.0
    slope = regions.slope()
    across, down = width / seen[0], height / seen[1]
    found: list[tuple[Quad, float]] = []
    for corners, edge in regions.corners(slope):
        a, b, c, d = ((float(x * across), float(y * down)) for x, y in corners)
        found.append(((a, b, c, d), float(edge * down)))
    return found, slope


def _filter(scale: float) -> Image.Resampling:
    return Image.Resampling.BILINEAR if scale < 1 else Image.Resampling.BICUBIC


def _text_map(image: Image.Image, network: InferenceSession) -> Floats:
    pixels = np.asarray(image, np.float32) / 127.5 - 1
    planes = np.broadcast_to(pixels, (1, 3, *pixels.shape)).copy()
    found: Any = network.run(None, {network.get_inputs()[0].name: planes})[0]
    return np.asarray(found[0, 0], np.float64)


class _Regions:
    """Connected regions of a map, held as horizontal runs of pixels: ``start`` to ``end`` (exclusive) of a ``row``."""

    def __init__(self, probability: Floats) -> None:
        height, width = probability.shape
        inside = np.zeros((height, width + 2), np.int8)
        inside[:, 1:-1] = probability > _PIXEL
        steps = np.diff(inside, axis=1)
        self.row, self.start = np.nonzero(steps == 1)
        self.end = np.nonzero(steps == -1)[1]
        self.region = _joined(self.row, self.start, self.end, height)
        self.count = int(self.region.max()) + 1 if len(self.region) else 0
        if not self.count:
            return
        sums = np.concatenate([np.zeros((height, 1)), probability.cumsum(1)], 1)
        self.length = (self.end - self.start).astype(float)
        self.pixels = self._total(self.length)
        self.score = self._total(sums[self.row, self.end] - sums[self.row, self.start]) / self.pixels

    def _total(self, values: Floats) -> Floats:
        return np.bincount(self.region, values, self.count).astype(np.float64)

    def slope(self) -> float:
        """The median slope of long regions, each counted by how long it is; 0 where it is next to nothing."""
        middle = (self.start + self.end - 1) / 2
        mean_x = self._total(self.length * middle) / self.pixels
        mean_y = self._total(self.length * self.row) / self.pixels
        off_x, off_y = middle - mean_x[self.region], self.row - mean_y[self.region]
        along_x = self._total(self.length * (off_x**2 + (self.length * self.length - 1) / 12)) / self.pixels
        along_y = self._total(self.length * off_y**2) / self.pixels
        both = self._total(self.length * off_x * off_y) / self.pixels
        across = (along_x > _ELONGATED * along_y + 1) & (self.pixels > _LONG_PIXELS)
        down = (along_y > _ELONGATED * along_x + 1) & (self.pixels > _LONG_PIXELS)
        slopes = np.concatenate([(both / np.maximum(along_x, 1))[across], -(both / np.maximum(along_y, 1))[down]])
        weights = np.concatenate([along_x[across], along_y[down]])
        if not len(slopes):
            return 0.0
        order = np.argsort(slopes)
        median = float(slopes[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)])
        return median if abs(median) >= _LEAST_SLOPE else 0.0

    def corners(self, slope: float) -> list[tuple[list[Point], float]]:
        """The corners of each region's box along the slope, widened to what the line takes, and by how much."""
        cosine = 1 / np.hypot(1, slope)
        sine = cosine * slope
        low = np.full((2, self.count), np.inf)
        high = np.full((2, self.count), -np.inf)
        for x in (self.start, self.end - 1):
            for axis, place in enumerate((cosine * x + sine * self.row, cosine * self.row - sine * x)):
                np.minimum.at(low[axis], self.region, place)
                np.maximum.at(high[axis], self.region, place)
        found = []
        for number in range(self.count):
            wide, tall = high[:, number] - low[:, number] + 1
            too_small = min(wide, tall) < _LEAST_SIDE or self.pixels[number] < _LEAST_PIXELS
            if too_small or self.score[number] < _REGION:
                continue
            edge = wide * tall * _WIDENED / (2 * (wide + tall))
            left, top = low[:, number] - edge
            right, bottom = high[:, number] + 1 + edge
            box = ((left, top), (right, top), (right, bottom), (left, bottom))
            found.append(([(cosine * u - sine * v, sine * u + cosine * v) for u, v in box], edge))
        return found


def _joined(row: Ints, start: Ints, end: Ints, height: int) -> Ints:
    """Number the regions: runs of neighbouring rows that touch, also by their corners, are of one region."""
    parent = list(range(len(row)))

    def root(run: int) -> int:
        while parent[run] != run:
            parent[run] = parent[parent[run]]
            run = parent[run]
        return run

    first = np.searchsorted(row, np.arange(height + 1)).tolist()
    starts, ends = start.tolist(), end.tolist()
    for number in range(1, height):
        above, run = first[number - 1], first[number]
        while above < first[number] and run < first[number + 1]:
            if starts[above] <= ends[run] and starts[run] <= ends[above]:
                parent[root(run)] = root(above)
            if ends[above] < ends[run]:
                above += 1
            else:
                run += 1
    roots = np.array([root(run) for run in range(len(row))], np.int64)
    return np.unique(roots, return_inverse=True)[1].astype(np.int64)
