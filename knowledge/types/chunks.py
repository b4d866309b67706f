"""How a document is cut into passages, and what a passage is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ChunkStrategy(StrEnum):
    SECTION = "section"
    FIXED = "fixed"
    SEMANTIC = "semantic"


class SizeUnit(StrEnum):
    TOKENS = "tokens"
    CHARACTERS = "characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    """How a version is cut. ``size`` counts prefix, context_prefix and content together, in ``unit``."""

    strategy: ChunkStrategy = ChunkStrategy.SECTION
    size: int = 512
    overlap: int = 50
    unit: SizeUnit = SizeUnit.TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSpan:
    """One passage: ``markdown[start:end]`` is its content, verbatim.

    ``context_prefix`` (heading path, repeated table header) is added for the model only. ``token_count`` counts the
    embedding model's passage prefix, ``context_prefix`` and the content. ``ocr_confidence`` is that of the words that
    OCR read, the lowest of several blocks, and None where there are none.
    """

    index: int
    start: int
    end: int
    section_path: tuple[str, ...]
    context_prefix: str
    token_count: int
    page: int | None = None
    cell: str | None = None
    has_table: bool = False
    has_figure: bool = False
    language: str | None = None
    ocr_confidence: float | None = None
