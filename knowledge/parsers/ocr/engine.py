"""What every engine promises, and which of them there are on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from knowledge.types.ocr import Quad

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLine:
    """A line in the pixels of an image; the rest as in `ReadLine`.

    Lines with one number of a ``column`` are its parts, and are read one after the other as they were found.
    """

    text: str
    confidence: float
    quad: Quad
    centres: tuple[float, ...]
    is_vertical: bool = False
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundText:
    """The lines of an image, in no order, in its pixels.

    ``turn`` is how far it lies turned clockwise; its text was read after it had been turned back, and ``skew`` is the
    slope of the lines then. ``left_out`` is as in `PageReading`.
    """

    lines: Sequence[FoundLine]
    turn: int = 0
    skew: float = 0.0
    is_in_order: bool = False
    left_out: Sequence[int] = ()


class OcrEngine(Protocol):
    """Reads a grey image. ``name`` says engine and edition: another one reads a page anew."""

    name: str

    def read(self, image: Image) -> FoundText:
        """Find the text of an image, whichever way it lies. :raises OcrFailed: the engine gave up."""


class OcrUnavailable(Exception):
    """The engine is not installed, or is not what it should be; the text says which."""


class OcrFailed(Exception):
    """An engine that is installed could not read an image."""
