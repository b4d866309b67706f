"""The same invariants on real documents, where the shared data are present."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from knowledge.chunkers import chunk_document
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.registry import parse_file
from knowledge.text.structure import build_sections
from knowledge.types.chunks import ChunkOptions, ChunkStrategy, SizeUnit
from tests.knowledge.chunkers.conftest import assert_chunks, count_tokens

OPTIONS = (
    ChunkOptions(),
    ChunkOptions(size=64, overlap=10),
    ChunkOptions(strategy=ChunkStrategy.FIXED, size=500, overlap=100, unit=SizeUnit.CHARACTERS),
)


def check(folder: Path, extension: str) -> None:
    paths = sorted(path for path in folder.iterdir() if path.suffix == extension)
    assert paths
    for path in paths:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of libraries, on real files
            document = parse_file(path, filename=path.name, limits=ParseLimits())
        sections = build_sections(document.markdown, document.blocks)
        for options in OPTIONS:
            chunks = chunk_document(document.markdown, document.blocks, sections, options, count_tokens)
            assert_chunks(document.markdown, document.blocks, chunks, options)


@pytest.mark.parametrize("extension", [".pdf", ".pptx", ".md"])
def test_chunks_of_real_documents_hold_the_invariants(test_data: Path, extension: str) -> None:
    check(test_data / "documents", extension)


@pytest.mark.long
@pytest.mark.parametrize("extension", [".docx", ".xlsx"])
def test_chunks_of_more_real_documents_hold_the_invariants(test_data: Path, extension: str) -> None:
    check(test_data / "documents", extension)
