"""Passages: safe HTML, with the evidence marked wherever Markdown has text."""

from __future__ import annotations

import re

import pytest

from knowledge.parsers.markdown import markdown_blocks
from review.admin.triage_pages import render_passage, shown_around

TEXT = """# 設計書

## 1. 目的

本書は**予約システム**の設計を定める。<script>alert(1)</script> [手順](javascript:alert) ![構成図](http://x/y.png)

| ID | 機能 |
|---|---|
| FR-001 | 検索 |
| FR-002 | 予約 |

- 一つ目の項目
- 二つ目の項目

```text
# 設定 = 1
```
"""


def passage(first: str, last: str | None = None, text: str = TEXT) -> str:
    start = text.index(first)
    end = text.index(last or first, start) + len(last or first)
    return render_passage(text, markdown_blocks(text), [(start, end)], at=start)


def marked(html: str) -> str:
    return "".join(re.findall(r"<mark>(.*?)</mark>", html))


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("予約システム", None, "予約システム"),
        ("本書は", "定める。", "本書は予約システムの設計を定める。"),
        ("## 1. 目的", None, "1. 目的"),
        ("| FR-001 | 検索 |", None, "FR-001検索"),
        ("| ID | 機能 |", "| FR-001 | 検索 |", "ID機能FR-001検索"),
        ("|---|---|", "| FR-002 |", "FR-001検索FR-002"),
        ("- 一つ目", "- 二つ目", "一つ目の項目二つ目"),
        ("# 設定 = 1", None, "設定 = 1"),
        ("```text", "# 設定 = 1\n```", "設定 = 1"),
    ],
)
def test_evidence_is_marked_inside_the_text_and_the_markup_stays(first, last, expected):
    html = passage(first, last)
    assert marked(html) == expected
    assert html.count("<table>") == html.count("</table>") == 1
    assert html.count("<li>") == 2


def test_nothing_in_a_document_becomes_active():
    html = passage("予約システム")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "href" not in html
    assert "<img" not in html
    assert "構成図" in html


def test_marks_are_always_balanced_whatever_is_quoted():
    for start in range(0, len(TEXT), 7):
        for end in range(start + 1, len(TEXT), 23):
            html = render_passage(TEXT, markdown_blocks(TEXT), [(start, end)], at=start)
            assert html.count("<mark>") == html.count("</mark>")
            assert "\ue000" not in html


def test_characters_that_stand_for_marks_do_no_harm_in_a_document():
    text = "前\ue000後\ue001文。\n"
    html = render_passage(text, markdown_blocks(text), [(0, 1)], at=0)
    assert marked(html) == "前"


def test_of_a_long_table_the_rows_around_the_place_are_shown_with_its_head():
    rows = "".join(f"| FR-{number:03} | 機能その{number} |\n" for number in range(900))
    text = f"# 一覧\n\n| ID | 機能 |\n|---|---|\n{rows}"
    html = passage("FR-500", text=text)
    assert marked(html) == "FR-500"
    assert "<th>ID</th>" in html
    assert html.count("<tr>") < 120


def test_what_is_shown_around_a_place_takes_in_its_neighbours() -> None:
    blocks = markdown_blocks(TEXT)
    start, end = shown_around(TEXT, blocks, at=TEXT.index("FR-001"))
    assert start <= TEXT.index("予約システム") < TEXT.index("二つ目の項目") < end
    assert shown_around(TEXT, blocks, at=TEXT.index("FR-002")) == (start, end)
