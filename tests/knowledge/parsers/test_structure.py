from __future__ import annotations

import pytest

from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.numbering import heading_number, is_caption, numbered_level
from knowledge.text.structure import (
    LONGEST_PATH,
    LONGEST_TITLE,
    build_sections,
    figures,
    is_table_of_contents,
    line_range,
    section_at,
    tables,
)

DOCUMENT = """前書き

# 第1章 総則

## 1.1 目的

目的を述べる。

### 1.1.1 背景

背景。

## 1.2 範囲

# 第2章 設計

本文

| a | b |
|---|---|
| 1 | 2 |

![図](a.png)

図1 構成

説明の段落。

図2 流れ
"""


def test_sections_nest_by_level_and_know_their_spans() -> None:
    sections = build_sections(DOCUMENT, markdown_blocks(DOCUMENT))

    assert [(s.id, s.number, s.parent_id) for s in sections] == [
        ("s1", "1", None),
        ("s2", "1.1", "s1"),
        ("s3", "1.1.1", "s2"),
        ("s4", "1.2", "s1"),
        ("s5", "2", None),
    ]
    assert sections[2].path == ("第1章 総則", "1.1 目的", "1.1.1 背景")
    assert DOCUMENT[sections[1].body_start : sections[1].body_end].strip() == "目的を述べる。"
    assert sections[1].end == sections[3].start
    assert sections[0].end == sections[4].start
    assert sections[4].end == len(DOCUMENT)
    assert DOCUMENT[sections[1].start : sections[1].body_start] == "## 1.1 目的\n"


def test_a_long_heading_names_its_section_by_its_beginning() -> None:
    longest = "甲" * LONGEST_TITLE
    text = f"# {longest}\n\n## {longest}乙\n\n本文\n"
    whole, cut = build_sections(text, markdown_blocks(text))

    assert whole.title == longest
    assert cut.title == f"{'甲' * (LONGEST_TITLE - 1)}…"
    assert cut.path == (longest, cut.title)
    assert text[cut.start : cut.body_start] == f"## {longest}乙\n"


def test_a_path_of_long_headings_names_each_level() -> None:
    text = "".join(f"{'#' * level} {level} {'甲' * 200}\n\n" for level in range(1, 7))
    sections = build_sections(text, markdown_blocks(text))

    assert [len(one.path) for one in sections] == [1, 2, 3, 4, 5, 6]
    assert all(sum(map(len, one.path)) <= LONGEST_PATH for one in sections)
    assert [title[:3] for title in sections[-1].path] == [f"{level} 甲" for level in range(1, 7)]
    assert all(title.endswith("…") for title in sections[-1].path)


def test_a_skipped_level_still_has_the_nearest_higher_heading_as_parent() -> None:
    text = "# 甲\n\n#### 乙\n\n## 丙\n"

    sections = build_sections(text, markdown_blocks(text))

    assert [(s.level, s.parent_id) for s in sections] == [(1, None), (4, "s1"), (2, "s1")]


def test_section_at_finds_the_deepest_section() -> None:
    sections = build_sections(DOCUMENT, markdown_blocks(DOCUMENT))

    found = section_at(sections, DOCUMENT.index("背景。"))

    assert found is not None
    assert found.title == "1.1.1 背景"
    assert section_at(sections, 0) is None


def test_line_ranges_count_from_one_and_include_the_last_line() -> None:
    text = "一\n二\n三\n"

    assert line_range(text, 0, 1) == (1, 1)
    assert line_range(text, 2, 5) == (2, 3)
    assert line_range(text, 2, 4) == (2, 2)
    assert line_range(text, 4, 4) == (3, 3)


def test_figures_count_captions_only_where_no_picture_stands() -> None:
    blocks = markdown_blocks(DOCUMENT)

    assert [DOCUMENT[b.start : b.end] for b in figures(DOCUMENT, blocks)] == ["![図](a.png)", "図2 流れ"]
    assert len(tables(blocks)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# 目　次\n\n本文\n", True),
        ("# 構成\n\n1 目的 ...... 3\n\n2 範囲 ...... 4\n\n3 体制 …… 5\n\n4 日程 …… 6\n", True),
        ("# 案内\n\n- [目的](#a)\n- [範囲](#b)\n- [体制](#c)\n- [日程](#d)\n", True),
        ("# 目次の作り方\n\n見出しを集める。\n", False),
        ("# 表\n\n| 項目 | 値 |\n|---|---|\n| 甲 | 1 |\n| 乙 | 2 |\n| 丙 | 3 |\n", False),
    ],
)
def test_tables_of_contents_are_recognised_by_title_or_by_page_numbers(text: str, expected: bool) -> None:
    (section,) = build_sections(text, markdown_blocks(text))

    assert is_table_of_contents(section, text) is expected


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("1 はじめに", "1"),
        ("１．２　範囲", "1.2"),
        ("1.2.3. 詳細", "1.2.3"),
        ("1-2 手順", "1.2"),
        ("2.4概要", "2.4"),
        ("第3章", "3"),
        ("第十二条　委託", "12"),
        ("第3条の2 再委託", "3-2"),
        ("第二十一章 雑則", "21"),
        ("(3) 監査", "(3)"),
        ("４） データ", "(4)"),
        ("附属書A 様式", "A"),
        ("A.1 概要", "A.1"),
        ("別紙2 体制図", "別紙2"),
        ("Ⅲ．評価", "III"),
        ("① 同期", None),
        ("2024年度計画", None),
        ("3つの柱", None),
        ("5. ", None),
        ("API設計", None),
        ("第三者検証の方法", None),
        ("", None),
    ],
)
def test_heading_numbers_are_normalised_where_they_are_clear(title: str, number: str | None) -> None:
    assert heading_number(title) == number


@pytest.mark.parametrize(
    ("line", "level"), [("第2章 方式", 1), ("第１節　前提", 2), ("3.1 構成", 2), ("3.1.2 詳細", 3), ("10年後", None)]
)
def test_levels_follow_from_numbers(line: str, level: int | None) -> None:
    assert numbered_level(line) == level


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("図1 構成", True),
        ("表２－１：一覧", True),
        ("Figure 3. Overview", True),
        ("図1に構成を示す", False),
        ("表1の値を用いる。", False),
        ("図書の一覧", False),
    ],
)
def test_captions_are_told_from_sentences_about_figures(text: str, expected: bool) -> None:
    assert is_caption(text) is expected
