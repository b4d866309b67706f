from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.registry import parse_file
from knowledge.types.documents import BlockKind, ParsedDocument

REPOSITORY = Path(__file__).resolve().parents[3]

Parse = Callable[..., ParsedDocument]


@pytest.fixture
def samples() -> Path:
    return REPOSITORY / "tests" / "data"


@pytest.fixture
def parse() -> Parse:
    """Parse a file in this process."""

    def run(path: Path, *, filename: str | None = None, **limits: Any) -> ParsedDocument:
        return parse_file(path, filename=filename or path.name, limits=ParseLimits(**limits))

    return run


def texts(document: ParsedDocument, kind: BlockKind | None = None) -> list[str]:
    """List the blocks' texts, of one kind or all."""
    return [document.markdown[block.start : block.end] for block in document.blocks if kind in (None, block.kind)]


def assert_valid(document: ParsedDocument) -> None:
    """Check what holds for every parsed document: spans in order, no overlap, no blank block."""
    end = 0
    for block in document.blocks:
        assert end <= block.start < block.end <= len(document.markdown)
        text = document.markdown[block.start : block.end]
        assert text == text.strip()
        assert (block.level is not None) == (block.kind is BlockKind.HEADING)
        end = block.end
    assert "\r" not in document.markdown
    assert "\x00" not in document.markdown
    document.markdown.encode("utf-8")
