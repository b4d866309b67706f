from __future__ import annotations

import json
import tracemalloc
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest

from knowledge.chunkers import chunk_document
from knowledge.chunkers.pieces import block_pieces
from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections
from knowledge.types.chunks import ChunkOptions, ChunkSpan, ChunkStrategy, SizeUnit
from knowledge.types.documents import Block, BlockKind
from tests.knowledge.chunkers.conftest import assert_chunks, count_tokens


def chunk(markdown: str, **options: Any) -> list[ChunkSpan]:
    blocks = markdown_blocks(markdown)
    chosen = ChunkOptions(**{"overlap": 0, **options})
    chunks = chunk_document(markdown, blocks, build_sections(markdown, blocks), chosen, count_tokens)
    assert_chunks(markdown, blocks, chunks, chosen)
    return chunks


def contents(markdown: str, chunks: list[ChunkSpan]) -> list[str]:
    return [markdown[found.start : found.end] for found in chunks]


def test_a_chunk_never_crosses_a_section() -> None:
    text = "前書き。\n\n# 1 目的\n\n目的を述べる。\n\n# 2 範囲\n\n範囲を述べる。\n"

    chunks = chunk(text)

    assert contents(text, chunks) == ["前書き。", "# 1 目的\n\n目的を述べる。", "# 2 範囲\n\n範囲を述べる。"]
    assert [found.section_path for found in chunks] == [(), ("1 目的",), ("2 範囲",)]


def test_the_prefix_names_the_headings_that_the_content_does_not() -> None:
    text = "# 設計書\n\n概要。\n\n## 2 構成\n\n" + "サーバは二台とする。" * 40 + "\n"

    chunks = chunk(text, size=128)

    assert [found.context_prefix for found in chunks[:3]] == ["", "設計書\n", "設計書 > 2 構成\n"]
    assert text[chunks[1].start :].startswith("## 2 構成")


def test_a_heading_without_text_leads_the_first_chunk_below_it() -> None:
    text = "# 3 機能\n\n## 3.1 予約\n\n予約できる。\n\n## 3.2 取消\n\n取り消せる。\n"

    chunks = chunk(text)

    assert contents(text, chunks)[0] == "# 3 機能\n\n## 3.1 予約\n\n予約できる。"
    assert [found.section_path for found in chunks] == [("3 機能", "3.1 予約"), ("3 機能", "3.2 取消")]
    assert [found.context_prefix for found in chunks] == ["", "3 機能\n"]


@pytest.mark.parametrize("strategy", list(ChunkStrategy)[:2])
def test_what_passages_carry_of_headings_grows_with_the_text_and_not_with_its_square(strategy: ChunkStrategy) -> None:
    def stored(length: int) -> int:
        text = f"# 文書\n\n## {'甲' * length}\n\n{'受付は三秒以内とする。' * (length // 11)}\n"
        return sum(len(json.dumps(asdict(found))) for found in chunk(text, size=64, strategy=strategy))

    assert stored(8_000) < 2.5 * stored(4_000)


def test_the_cells_above_a_row_are_kept_once_however_many_rows_they_go_on_into() -> None:
    def peak_of(rows: int) -> int:
        lines = ["| 分類 | 区分 | 要件 |", "|---|---|---|", f"| {'甲' * 20 * rows} | 乙 | 0 |"]
        text = "\n".join([*lines, *(f"|  | 乙 | {row} |" for row in range(1, rows))])
        merged = ",".join([f"0:1-{rows}", *(f"1:{row}-{row + 1}" for row in range(1, rows, 2))])
        block = Block(kind=BlockKind.TABLE, start=0, end=len(text), merged=merged)
        tracemalloc.start()
        pieces = list(block_pieces(text, block))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert pieces[1].above
        return peak

    assert peak_of(1_000) < 3 * peak_of(500)


def test_an_empty_section_keeps_its_heading_apart_from_the_next() -> None:
    text = "# 1 甲\n\n# 2 乙\n\n本文。\n"

    assert contents(text, chunk(text)) == ["# 1 甲", "# 2 乙\n\n本文。"]


def test_cuts_fall_on_sentence_ends_outside_brackets() -> None:
    text = "彼は「はい。分かった。」と答えた。" * 30

    chunks = chunk(text, size=60)

    assert len(chunks) > 3
    assert all(content.endswith("と答えた。") for content in contents(text, chunks))


def test_overlap_repeats_whole_sentences_within_its_size() -> None:
    text = "".join(f"文その{number}は予約の手順を述べる。" for number in range(10, 60))

    chunks = chunk(text, size=100, overlap=30)

    assert len(chunks) > 3
    for left, right in pairwise(chunks):
        repeated = text[right.start : left.end]
        assert repeated.startswith("文その")
        assert repeated.endswith("。")
        assert 0 < len(repeated) // 2 <= 30


def test_a_long_table_is_cut_by_rows_and_repeats_its_header() -> None:
    rows = "\n".join(f"| FR-{number:03} | 利用者は資料を予約できる |" for number in range(40))
    text = f"# 機能\n\n| ID | 説明 |\n|---|---|\n{rows}\n"

    chunks = chunk(text, size=128)

    assert len(chunks) > 3
    for found in chunks[1:]:
        assert found.context_prefix == "機能\n| ID | 説明 |\n|---|---|\n"
        assert text[found.start : found.end].startswith("| FR-")
        assert text[found.start : found.end].endswith("|")
    assert all(found.has_table for found in chunks)


def test_rows_of_a_sheet_narrow_the_cell_range() -> None:
    rows = [f"| {number} | 会員番号の桁数を確かめる |" for number in range(30)]
    text = "\n".join(["| No. | 内容 |", "| --- | --- |", *rows]) + "\n"
    block = Block(kind=BlockKind.TABLE, start=0, end=len(text) - 1, sheet="単体", cell="B5:F35")

    chunks = chunk_document(text, [block], (), ChunkOptions(size=100, overlap=0), count_tokens)

    first_rows = [text[found.start : found.end].count("| 会員") for found in chunks]
    assert chunks[0].cell == f"B5:F{5 + first_rows[0]}"
    assert chunks[1].cell == f"B{6 + first_rows[0]}:F{5 + sum(first_rows[:2])}"
    assert chunks[-1].cell is not None
    assert chunks[-1].cell.endswith("F35")


def test_rows_that_do_not_follow_each_other_are_named_by_the_block() -> None:
    rows = "".join(f"| {number} | 予約の受付を確かめる手順その{number} |\n" for number in range(4))
    text = f"| No. | 手順 |\n| --- | --- |\n{rows}"
    block = Block(kind=BlockKind.TABLE, start=0, end=len(text) - 1, sheet="手順", cell="A3:B20", rows="3,5-6,10,20")

    chunks = chunk_document(text, [block], [], ChunkOptions(size=60, overlap=0), count_tokens)

    assert [chunk.cell for chunk in chunks] == ["A3:B10", "A20:B20"]


def test_a_row_that_is_too_long_is_cut_between_cells_and_knows_its_header() -> None:
    cells = " | ".join(f"値その{number}を記入する" for number in range(60))
    text = f"| 甲 | 乙 |\n|---|---|\n| {cells} |\n"

    chunks = chunk(text, size=96)

    assert len(chunks) > 3
    assert all(found.context_prefix == "| 甲 | 乙 |\n|---|---|\n" for found in chunks[1:])


@pytest.mark.parametrize("text", ["あ" * 5000, "a" * 5000, "か\u3099" * 2000, "👩\u200d💻" * 1000])
def test_text_without_any_boundary_is_cut_hard_but_not_inside_a_character(text: str) -> None:
    chunks = chunk(text, size=64)

    assert contents(text, chunks) == [text[a.start : a.end] for a in chunks]
    assert "".join(contents(text, chunks)) == text
    assert not any(content[0] in "\u3099\u200d" for content in contents(text, chunks))


def test_a_path_too_long_for_the_budget_is_trimmed_from_the_top() -> None:
    titles = [f"第{number}階層の見出しはやや長い題名を持つ" for number in range(1, 7)]
    headings = "\n\n".join(f"{'#' * level} {title}\n\n説明。" for level, title in enumerate(titles, 1))
    text = headings + "\n\n" + "本文が続く。" * 60 + "\n"

    chunks = chunk(text, size=96)

    last = chunks[-1]
    assert last.section_path == tuple(titles)
    assert last.context_prefix == f"{titles[-2]} > {titles[-1]}\n" or last.context_prefix == f"{titles[-1]}\n"


def test_pages_figures_and_language_are_told() -> None:
    text = "図1 構成\n\nThe server answers.\n"
    blocks = (
        Block(kind=BlockKind.CAPTION, start=0, end=5, page=3),
        Block(kind=BlockKind.PARAGRAPH, start=7, end=26, page=4),
    )

    (found,) = chunk_document(text, blocks, (), ChunkOptions(), count_tokens)

    assert (found.page, found.has_figure, found.has_table, found.language) == (3, True, False, "en")


def test_a_token_limit_holds_besides_a_size_in_characters() -> None:
    text = "予約の手順を述べる。" * 200
    blocks = markdown_blocks(text)
    options = ChunkOptions(size=500, overlap=0, unit=SizeUnit.CHARACTERS)

    chunks = chunk_document(text, blocks, (), options, count_tokens, token_limit=100)

    assert max(found.token_count for found in chunks) <= 100
    assert max(found.end - found.start for found in chunks) <= 500


@pytest.mark.parametrize("overlap", [64, 100, -1])
def test_an_overlap_that_is_not_smaller_than_the_size_is_refused(overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        chunk_document("本文。", markdown_blocks("本文。"), (), ChunkOptions(size=64, overlap=overlap), count_tokens)


def test_a_size_that_holds_no_character_is_refused() -> None:
    with pytest.raises(ValueError, match="too small"):
        chunk_document("本文。", markdown_blocks("本文。"), (), ChunkOptions(size=3, overlap=0), count_tokens)


def test_nothing_comes_of_nothing() -> None:
    assert chunk_document("", (), (), ChunkOptions(), count_tokens) == []


def test_a_long_document_costs_few_tokenizer_characters() -> None:
    text = "\n\n".join(
        f"## {number} 節\n\n" + "予約の手順を述べる文がここに続くものとする。" * 60 for number in range(220)
    )
    blocks = markdown_blocks(text)
    counted = 0

    def counting(piece: str) -> int:
        nonlocal counted
        counted += len(piece)
        return count_tokens(piece)

    chunk_document(text, blocks, build_sections(text, blocks), ChunkOptions(), counting)

    assert len(text) > 280_000
    assert counted < 2 * len(text)
