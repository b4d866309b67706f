"""What was read from the picture of a page, with where it stands and how sure the reader was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]
"""Corners of a line from where it starts, clockwise as its text is read."""

# Source: measured on rendered pages; means below the first had one wrong character in twelve and more.
UNUSABLE, UNCERTAIN, UNCERTAIN_LINE, UNCERTAIN_SHARE = 0.85, 0.95, 0.90, 0.10
# Shorter ones are read into stamps and stains.
LEAST_OF_A_LINE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLine:
    """A line: its corners in points of the page as it is shown, from the top left, and its confidence from 0 to 1.

    ``centres`` are where its characters stand along it, from 0 to 1; one for each of ``text``.
    """

    text: str
    confidence: float
    quad: Quad
    centres: tuple[float, ...]
    is_vertical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReading:
    """The lines of a page in reading order; ``turn`` is how far it lies turned clockwise (0, 90, 180 or 270 degrees).

    ``skew`` is the slope of its lines once it is turned back. ``width`` and ``height`` are in points. ``left_out`` says
    of each line that was read with too little confidence to be kept how many characters it had; readings that were
    stored before lines were counted have none.
    """

    engine: str
    width: float
    height: float
    lines: tuple[ReadLine, ...]
    turn: int = 0
    skew: float = 0.0
    left_out: tuple[int, ...] = ()

    @property
    def confidence(self) -> float | None:
        """The mean by characters; None where nothing was read."""
        return mean_confidence(self.lines)

    @property
    def is_uncertain(self) -> bool:
        """Whether somebody should look at the page beside its text: also for the sake of one line that is garbage."""
        mean = self.confidence
        if mean is None:
            return False
        characters = sum(len(line.text) for line in self.lines) + sum(self.left_out)
        weak = sum(len(line.text) for line in self.lines if line.confidence < UNCERTAIN_LINE) + sum(self.left_out)
        garbage = (*self.left_out, *(len(line.text) for line in self.lines if line.confidence < UNUSABLE))
        return mean < UNCERTAIN or weak > UNCERTAIN_SHARE * characters or max(garbage, default=0) >= LEAST_OF_A_LINE

    @property
    def is_usable(self) -> bool:
        mean = self.confidence
        return mean is not None and mean >= UNUSABLE

    def as_json(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "size": [round(self.width, 2), round(self.height, 2)],
            "turn": self.turn,
            "skew": round(self.skew, 5),
            "left_out": list(self.left_out),
            "lines": [
                {
                    "text": line.text,
                    "confidence": round(line.confidence, 4),
                    "quad": [round(value, 2) for point in line.quad for value in point],
                    "centres": [round(value, 4) for value in line.centres],
                    "vertical": line.is_vertical,
                }
                for line in self.lines
            ],
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> PageReading:
        """Read what `as_json` gave. :raises ValueError: KeyError: TypeError: it is something else."""
        width, height = map(float, stored["size"])
        return cls(
            engine=str(stored["engine"]),
            width=width,
            height=height,
            turn=int(stored["turn"]) % 360,
            skew=float(stored["skew"]),
            left_out=tuple(map(int, stored.get("left_out", ()))),
            lines=tuple(map(_line, stored["lines"])),
        )


def _line(stored: dict[str, Any]) -> ReadLine:
    values = [float(value) for value in stored["quad"]]
    if len(values) != 8 or not all(map(math.isfinite, values)):
        raise ValueError("a line has four corners")
    corners = list(zip(values[::2], values[1::2], strict=True))
    return ReadLine(
        text=str(stored["text"]),
        confidence=min(max(float(stored["confidence"]), 0.0), 1.0),
        quad=(corners[0], corners[1], corners[2], corners[3]),
        centres=tuple(float(value) for value in stored["centres"]),
        is_vertical=bool(stored["vertical"]),
    )


def mean_confidence(lines: Sequence[ReadLine]) -> float | None:
    characters = sum(len(line.text) for line in lines)
    if not characters:
        return None
    return sum(line.confidence * len(line.text) for line in lines) / characters
