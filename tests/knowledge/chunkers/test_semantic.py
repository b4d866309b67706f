from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from knowledge.chunkers import chunk_document
from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections
from knowledge.types.chunks import ChunkOptions, ChunkSpan, ChunkStrategy
from tests.knowledge.chunkers.conftest import assert_chunks, count_tokens

OPTIONS = ChunkOptions(strategy=ChunkStrategy.SEMANTIC, size=200, overlap=20)
SUBJECTS = {"予約": 0, "図書": 1, "職員": 2}
RESERVATION = "予約は窓口とウェブで受け付ける。予約の変更は前日まで認める。予約の取消しは記録に残す。" * 2
BOOKS = "図書の登録は司書が行う。図書の分類は十進分類法による。図書の廃棄は年に一度とする。" * 2


def embed(texts: Sequence[str]) -> np.ndarray:
    """A model that knows three subjects: a text's vector tells how often each is named."""
    rows = [[text.count(word) + 1e-6 for word in SUBJECTS] for text in texts]
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def cut(markdown: str, options: ChunkOptions = OPTIONS) -> tuple[list[ChunkSpan], list[str]]:
    blocks = markdown_blocks(markdown)
    spans = chunk_document(markdown, blocks, build_sections(markdown, blocks), options, count_tokens, embed=embed)
    assert_chunks(markdown, blocks, spans, options)
    return spans, [markdown[span.start : span.end] for span in spans]


def test_a_section_is_cut_where_its_subject_changes() -> None:
    _, texts = cut(f"# 業務\n\n{RESERVATION}{BOOKS}")

    assert texts == [f"# 業務\n\n{RESERVATION}", BOOKS]


def test_a_section_of_one_subject_stays_whole() -> None:
    _, texts = cut(f"# 予約\n\n{RESERVATION}")

    assert texts == [f"# 予約\n\n{RESERVATION}"]


def test_a_subject_never_joins_two_sections() -> None:
    spans, texts = cut(f"# 窓口\n\n{RESERVATION}\n\n# ウェブ\n\n{RESERVATION}")

    assert [span.section_path for span in spans] == [("窓口",), ("ウェブ",)]
    assert all(RESERVATION in text for text in texts)


def test_a_table_is_cut_by_size_alone() -> None:
    table = "| 業務 | 担当 |\n| --- | --- |\n" + "\n".join(f"| {word}の台帳 | 係{word} |" for word in SUBJECTS)

    _, texts = cut(f"# 一覧\n\n{RESERVATION}\n\n{table}\n\n{BOOKS}")

    assert [text.count("台帳") for text in texts if "台帳" in text] == [3]


def test_a_long_stretch_keeps_within_the_size() -> None:
    _, texts = cut(f"# 予約\n\n{RESERVATION * 12}")

    assert len(texts) == 3


def test_the_same_text_is_cut_the_same_way_again() -> None:
    markdown = f"# 業務\n\n{RESERVATION}{BOOKS}{RESERVATION}"

    assert cut(markdown)[0] == cut(markdown)[0]


def test_no_window_is_longer_than_the_model_reads() -> None:
    seen: list[str] = []

    def watching(texts: Sequence[str]) -> np.ndarray:
        seen.extend(texts)
        return embed(texts)

    markdown = "# 予約\n\n" + ("予約の番号は" + "〇" * 700 + "とする。") * 6
    blocks = markdown_blocks(markdown)
    options = ChunkOptions(strategy=ChunkStrategy.SEMANTIC, size=100, overlap=10)
    chunk_document(markdown, blocks, build_sections(markdown, blocks), options, count_tokens, embed=watching)

    assert seen
    assert max(map(count_tokens, seen)) <= 100


def test_it_needs_something_to_embed_with() -> None:
    with pytest.raises(ValueError, match="embedding function"):
        chunk_document("本文", markdown_blocks("本文"), (), OPTIONS, count_tokens)
