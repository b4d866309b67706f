"""A page's reading from its picture: the engine's lines, put in order, in points of the page."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from knowledge.parsers.ocr.engine import FoundLine, FoundText, OcrEngine
from knowledge.parsers.ocr.lines import BACK
from knowledge.parsers.ocr.order import in_order
from knowledge.parsers.ocr.rules import rules_of
from knowledge.types.ocr import PageReading, Quad, ReadLine

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST_LINE = 2000


def read_image(engine: OcrEngine, image: Image, *, scale: float) -> PageReading:
    """Read a grey image of a page. ``scale`` is how many points a pixel is."""
    found = engine.read(image)
    upright = [(_back(line, found.turn, image.size), line) for line in found.lines]
    ordered = found.lines if found.is_in_order else _ordered(upright, found, image)
    return PageReading(
        engine=engine.name,
        width=image.width * scale,
        height=image.height * scale,
        turn=found.turn,
        skew=found.skew,
        left_out=tuple(found.left_out),
        lines=tuple(_in_points(line, scale) for line in ordered),
    )


def _ordered(pairs: list[tuple[FoundLine, FoundLine]], found: FoundText, image: Image) -> list[FoundLine]:
    where = {id(upright): line for upright, line in pairs}
    upright_image = image.transpose(BACK[found.turn]) if found.turn else image
    ordered = in_order([upright for upright, _line in pairs], found.skew, lambda: rules_of(upright_image, found.skew))
    return [where[id(upright)] for upright in ordered]


def _back(line: FoundLine, turn: int, size: tuple[int, int]) -> FoundLine:
    return dataclasses.replace(line, quad=turned_back(line.quad, turn, size)) if turn else line


def turned_back(quad: Quad, turn: int, size: tuple[float, float]) -> Quad:
    """Where a line stands once its page, of this size as it lies, is turned back."""
    width, height = size
    corners = [
        {0: (x, y), 90: (y, width - x), 180: (width - x, height - y), 270: (height - y, x)}[turn] for x, y in quad
    ]
    return corners[0], corners[1], corners[2], corners[3]


def _in_points(line: FoundLine, scale: float) -> ReadLine:
    corners = [(x * scale, y * scale) for x, y in line.quad]
    return ReadLine(
        text=line.text[:LONGEST_LINE],
        confidence=line.confidence,
        quad=(corners[0], corners[1], corners[2], corners[3]),
        centres=line.centres[:LONGEST_LINE],
        is_vertical=line.is_vertical,
    )
