from __future__ import annotations

from itertools import pairwise

import pytest

from knowledge.chunkers import chunk_document
from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections
from knowledge.types.chunks import ChunkOptions, ChunkSpan, ChunkStrategy, SizeUnit
from tests.knowledge.chunkers.conftest import assert_chunks, count_tokens

TEXT = (
    "# 手引き\n\n"
    + "".join(f"予約その{number}は画面から行うものとする。" for number in range(200))
    + "\n\n## 終わり\n\n以上。\n"
)


def chunk(markdown: str, options: ChunkOptions) -> list[ChunkSpan]:
    blocks = markdown_blocks(markdown)
    chunks = chunk_document(markdown, blocks, build_sections(markdown, blocks), options, count_tokens)
    assert_chunks(markdown, blocks, chunks, options)
    return chunks


def test_sizes_in_characters_are_filled_and_overlap_is_kept() -> None:
    options = ChunkOptions(strategy=ChunkStrategy.FIXED, size=500, overlap=100, unit=SizeUnit.CHARACTERS)

    chunks = chunk(TEXT, options)

    assert all(250 < found.end - found.start <= 500 for found in chunks[:-1])
    for left, right in pairwise(chunks):
        assert 90 <= left.end - right.start <= 100


def test_sizes_in_tokens_are_filled() -> None:
    options = ChunkOptions(strategy=ChunkStrategy.FIXED, size=128, overlap=20)

    chunks = chunk(TEXT, options)

    assert all(found.token_count > 64 for found in chunks[:-1])


def test_fixed_chunks_have_the_section_in_which_they_start_and_no_prefix() -> None:
    chunks = chunk(TEXT, ChunkOptions(strategy=ChunkStrategy.FIXED, size=200, overlap=0, unit=SizeUnit.CHARACTERS))

    assert {found.context_prefix for found in chunks} == {""}
    assert chunks[3].section_path == ("手引き",)


@pytest.mark.parametrize("overlap", [0, 50, 499])
def test_any_overlap_comes_to_an_end(overlap: int) -> None:
    options = ChunkOptions(strategy=ChunkStrategy.FIXED, size=500, overlap=overlap, unit=SizeUnit.CHARACTERS)

    assert chunk(TEXT[:1500], options)[-1].end >= 1490
