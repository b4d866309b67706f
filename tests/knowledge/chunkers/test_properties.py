"""What holds for any Markdown, however odd."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunkers import chunk_document
from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections, section_at
from knowledge.types.chunks import ChunkOptions, ChunkStrategy, SizeUnit
from tests.knowledge.chunkers.conftest import assert_chunks, count_tokens

WORDS = st.text(alphabet="予約設計要件、。「」（）かがAb 1.|\\*_`<>&\u3099\u200d😀", max_size=120)
LINES = st.one_of(
    WORDS,
    st.builds(lambda level, text: "#" * level + " " + text, st.integers(1, 6), WORDS),
    st.builds(lambda text: "- " + text, WORDS),
    st.builds(lambda cells: "| " + " | ".join(cells) + " |", st.lists(WORDS, min_size=2, max_size=4)),
    st.sampled_from(["", "", "|---|---|", "```", "---", "===", "> 引用", "![図](a.png)", "図1 構成", "\u3000"]),
)
DOCUMENTS = st.lists(LINES, max_size=25).map("\n".join)
OPTIONS = st.builds(
    lambda strategy, size, overlap, unit: ChunkOptions(
        strategy=strategy, size=size, overlap=min(overlap, size - 1), unit=unit
    ),
    st.sampled_from(ChunkStrategy),
    st.integers(24, 200),
    st.integers(0, 60),
    st.sampled_from(SizeUnit),
)


def embed(texts: Sequence[str]) -> np.ndarray:
    """A model of which nothing is known but that it gives unit vectors: cuts fall anywhere."""
    angles = np.array([sum(map(ord, text)) for text in texts], dtype=np.float32)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@given(DOCUMENTS, OPTIONS)
@settings(max_examples=100)
def test_chunks_are_verbatim_within_size_and_cover_all_blocks(markdown: str, options: ChunkOptions) -> None:
    blocks = markdown_blocks(markdown)
    sections = build_sections(markdown, blocks)

    chunks = chunk_document(markdown, blocks, sections, options, count_tokens, embed=embed)

    assert_chunks(markdown, blocks, chunks, options)


@given(DOCUMENTS)
@settings(max_examples=100)
def test_section_chunks_stay_in_the_section_of_their_last_character(markdown: str) -> None:
    blocks = markdown_blocks(markdown)
    sections = build_sections(markdown, blocks)

    for chunk in chunk_document(markdown, blocks, sections, ChunkOptions(size=64, overlap=8), count_tokens):
        section = section_at(sections, chunk.end - 1)
        assert chunk.section_path == (section.path if section else ())


@given(DOCUMENTS)
@settings(max_examples=100)
def test_sections_form_a_tree_over_the_text(markdown: str) -> None:
    sections = build_sections(markdown, markdown_blocks(markdown))

    by_id = {section.id: section for section in sections}
    for section in sections:
        assert section.start < section.body_start <= section.body_end <= section.end <= len(markdown)
        if section.parent_id is not None:
            parent = by_id[section.parent_id]
            assert parent.start < section.start
            assert section.end <= parent.end
            assert parent.level < section.level
            assert section.path[:-1] == parent.path
