"""The page that a passage cites is the page that another program finds its text on."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from pdfminer.high_level import extract_pages
from pdfminer.layout import LTTextContainer

from knowledge.chunkers import chunk_document
from knowledge.parsers import ParseLimits
from knowledge.parsers.registry import parse_file
from knowledge.text.structure import build_sections
from knowledge.types.chunks import ChunkOptions
from tests.knowledge.chunkers.conftest import count_tokens

FILES = ["documents/BidSpec.pdf", "awkward/testPDF_protected.pdf"]
OPENING_CHARACTERS = 12


def letters(text: str) -> str:
    """Keep letters and digits only: programs differ in blanks, bullets and markup."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text))


def pages_of(path: Path) -> dict[int, str]:
    """Read the letters of each page with pdfminer."""
    return {
        number: letters("".join(item.get_text() for item in page if isinstance(item, LTTextContainer)))
        for number, page in enumerate(extract_pages(path), 1)
    }


@pytest.mark.parametrize("name", FILES)
def test_chunks_start_on_the_page_that_they_name(test_data: Path, name: str) -> None:
    path = test_data / name
    document = parse_file(path, filename=path.name, limits=ParseLimits())
    sections = build_sections(document.markdown, document.blocks)
    options = ChunkOptions(size=200, overlap=20)
    chunks = chunk_document(document.markdown, document.blocks, sections, options, count_tokens)
    pages = pages_of(path)

    openings = [
        (chunk.page, letters(document.markdown[chunk.start : chunk.end])[:OPENING_CHARACTERS]) for chunk in chunks
    ]
    known = [(page, opening) for page, opening in openings if any(opening in text for text in pages.values())]
    assert len(known) >= 0.8 * len(openings)
    assert [opening for page, opening in known if opening not in pages[page]] == []
