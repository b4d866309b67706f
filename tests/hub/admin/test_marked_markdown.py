"""Stored text as safe HTML: tables, lists and headings to read, marks where they belong, nothing active."""

from __future__ import annotations

import re

import pytest

from hub.admin_site.marked_markdown import render_marked, render_plain

TABLE = "| 項目 | 値 |\n|---|---|\n| 応答時間<br>（画面） | 3秒 \\| 5秒 |\n"


def marks(html: str) -> list[str]:
    return re.findall(r"<mark[^>]*>(.*?)</mark>", html)


def of(text: str, *words: str) -> list[tuple[int, int]]:
    return [(text.index(word), text.index(word) + len(word)) for word in words]


@pytest.mark.parametrize("is_markdown", [True, False])
def test_a_table_is_one_and_its_cells_keep_their_lines_and_bars(is_markdown: bool) -> None:
    html = render_marked(TABLE, of(TABLE, "応答", "3秒"), is_markdown=is_markdown)
    assert marks(html) == ["応答", "3秒"]
    assert "<th>値</th>" in html
    assert "<br />\n（画面）</td>" in html
    assert "</mark> | 5秒</td>" in html
    assert "&lt;br" not in html
    assert re.search(r'<div [^>]*tabindex="0"><table>', html)  # scrolls by keys


def test_signs_of_a_text_that_is_no_markdown_stay_as_they_are() -> None:
    text = "パス C:\\_work\\*.log と __init__.py\n    字下げした行\n---\n> 5 件以上"
    html = render_marked(text, of(text, "__init__"), is_markdown=False)
    assert marks(html) == ["__init__"]
    for kept in ("C:\\_work\\*.log", "字下げした行", "---", "&gt; 5 件以上"):
        assert kept in html
    assert not re.search(r"<(?:em|strong|pre|h\d|hr|blockquote|code)", html)
    assert "__init__" not in render_marked(text)


def test_numbers_of_a_list_are_those_that_are_written() -> None:
    assert re.findall(r'value="(\d+)"', render_marked("3. 受付\n5. 審査\n9. 決裁\n")) == ["3", "5", "9"]


def test_definitions_of_links_and_footnotes_are_not_swallowed() -> None:
    assert "http://example.jp/kijun" in render_marked("基準[^1]を見る。\n\n[^1]: http://example.jp/kijun\n")


def test_a_paragraph_of_another_format_has_no_markup_at_all() -> None:
    text = "1. 目的\n# 5 件 <b>\n| 縦棒 | ![構成図](http://x/y.png)"
    html = render_plain(text, of(text, "# 5"))
    assert html.startswith("<p>1. 目的<br />\n<mark># 5</mark> 件 &lt;b&gt;<br />\n| 縦棒 |")
    assert "構成図</span>" in html
    assert "http" not in html


@pytest.mark.parametrize("is_markdown", [True, False])
def test_nothing_can_be_loaded_or_followed(is_markdown: bool) -> None:
    text = "<img src=x onerror=alert(1)> [押す](javascript:alert(1)) <http://x.jp> ![図](http://x.jp/a.png)\n<script>1</script>"
    for html in (render_marked(text, is_markdown=is_markdown), render_plain(text)):
        assert not re.search(r"<(?:img|script|a)\b", html)
        assert "&lt;script&gt;" in html


def test_only_the_first_mark_has_the_anchor() -> None:
    html = render_marked(TABLE, [(0, len(TABLE))], anchor="passage")
    assert marks(html) == ["項目", "値", "応答時間", "（画面）", "3秒 | 5秒"]
    assert html.count('id="passage"') == 1
    assert '<th><mark id="passage">項目' in html


def test_a_picture_whose_description_never_ends_stays_text() -> None:
    text = "![" * 400
    assert render_plain(text) == f"<p>{text}</p>\n"
