"""What of a Markdown text the style rules read, and that places are exact in the source."""

from __future__ import annotations

import pytest

from knowledge.parsers.markdown import markdown_blocks
from review.rules.style.reading import UnitKind, read_markdown, read_plain
from tests.review.rules.style.support import found, places

TEXT = """---
title: ｶﾅ
---

# 見出し **ｶﾅ**

本文の**ｶﾅ**と`ｶﾅ`と
折り返した[ｶﾅ](http://ｶﾅ)の行。<!-- ｶﾅ -->

> 引用のｶﾅ

- 項目のｶﾅ
  続き
  ```
  ｶﾅ
  ```

| 列のｶﾅ | 値 |
|---|---|
| `ｶﾅ` | 値<br>ｶﾅ |

```
ｶﾅ
```

![図のｶﾅ](a.png)
"""


def test_code_urls_links_quotations_comments_and_front_matter_are_left_out():
    lines = [TEXT[: place.start].count("\n") + 1 for place in places("style.halfwidth_kana", TEXT)]
    assert lines == [5, 7, 12, 18, 20, 26]
    assert set(found("style.halfwidth_kana", TEXT)) == {"ｶﾅ"}


def test_plain_text_is_prose_from_the_first_to_the_last_character():
    assert len(found("style.halfwidth_kana", TEXT, plain=True)) == TEXT.count("ｶﾅ")


def test_units_have_the_kind_of_their_block():
    kinds = [unit.kind for unit in read_markdown(TEXT, markdown_blocks(TEXT)).units]
    assert kinds == [
        UnitKind.HEADING,
        UnitKind.BODY,
        UnitKind.QUOTE,
        UnitKind.LIST,
        UnitKind.CELL,
        UnitKind.CELL,
        UnitKind.CELL,
        UnitKind.CELL,
        UnitKind.CAPTION,
    ]


def test_a_wrapped_word_is_one_word_and_its_place_spans_the_line_break():
    text = "担当者は確認をお\nこなう。"
    unit = read_markdown(text, markdown_blocks(text)).units[0]
    word = next(token for token in unit.tokens if token.surface == "おこなう")
    assert text[slice(*unit.span(word.start, word.end))] == "お\nこなう"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("彼は「行く。」と言った。次へ。", ["彼は「行く。」と言った。", "次へ。"]),
        ("版は3.14です。Node.jsを使う。", ["版は3.14です。", "Node.jsを使う。"]),
        ("一行目  \n二行目。", ["一行目", "二行目。"]),
        ("折り返した\n文です。", ["折り返した\n文です。"]),
    ],
)
def test_sentences_end_at_stops_and_hard_breaks_outside_brackets(text, sentences):
    unit = read_markdown(text, markdown_blocks(text)).units[0]
    assert [unit.plain[sentence.start : sentence.end] for sentence in unit.sentences] == sentences


def test_labelled_lines_are_units_of_their_own():
    text = "**作成日**: 2025年4月1日\n**作成者**: 情報政策課\n"
    assert [unit.plain for unit in read_markdown(text, markdown_blocks(text)).units] == [
        "作成日: 2025年4月1日",
        "作成者: 情報政策課",
    ]


def test_bullets_and_indented_lines_part_plain_text():
    units = read_plain("次のとおり。\n・氏名\n・住所\n　以上。\n\n終わり").units
    assert [unit.plain for unit in units] == ["次のとおり。", "・氏名", "・住所", "　以上。", "終わり"]


@pytest.mark.parametrize("piece", ["(", "*", "「", "[", "`", "![", "**a", "<", "漢", "ア", '"'])
def test_a_text_of_one_piece_repeated_is_read_to_its_end(piece):
    text = piece * 5000
    assert all(0 <= place.start < place.end <= len(text) for place in places("style.bracket_pair", text))
