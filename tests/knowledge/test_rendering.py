"""What a person sees of a passage: its table with its header, its words marked, cut between rows and sentences."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from knowledge.rendering import shown_text
from knowledge.text.excerpts import excerpt, table_head
from knowledge.types.search import Hit

HEAD = "| 手数料コード | 手数料名 | 金額 |\n|---|---|---|\n"
ROWS = [f"| F{number:03} | 住民票の写しの交付 その{number} | {number * 10}円 |\n" for number in range(80)]
PROSE = "".join(f"第{number}の条件として、受託者は作業の記録を残し、求めに応じて提出する。" for number in range(60))


def hit(content: str, *words: str, prefix: str = "") -> Hit:
    spans = tuple((content.index(word), content.index(word) + len(word)) for word in words)
    return Hit(
        chunk_id="chk_1",
        document_id="doc_1",
        document_path="手数料.xlsx",
        title="手数料",
        content=content,
        score=0.9,
        chunk_index=0,
        section_path=(),
        page=None,
        cell=None,
        start_offset=0,
        end_offset=len(content),
        context_prefix=prefix,
        highlights=spans,
    )


@pytest.mark.parametrize("prefix", ["", "1. 手数料\n" + HEAD], ids=["own header", "header from its context"])
def test_a_long_table_is_cut_between_rows_and_keeps_its_header(prefix: str) -> None:
    content = "".join(ROWS) if prefix else HEAD + "".join(ROWS)
    shown = shown_text(hit(content, "F050", prefix=prefix), room=400, is_markdown=False)
    assert "<mark>F050</mark>" in shown.html
    assert "<th>手数料名</th>" in shown.html
    assert re.findall(r"<td[^>]*>[^<]*円</td>", shown.html) == re.findall(r"<td[^>]*>[0-9]+円</td>", shown.html)
    assert shown.html.count("<tr>") < 20
    assert (shown.begins_later, shown.ends_earlier) == (True, True)
    assert shown.whole is not None
    assert shown.whole.count("<tr>") == 81


def test_rows_of_a_table_whose_header_nobody_knows_are_a_table_all_the_same() -> None:
    shown = shown_text(hit("".join(ROWS[:3]), "F001"), room=900, is_markdown=False)
    assert shown.html.count("<table>") == 1
    assert shown.html.count("<th></th>") == 3
    assert "|" not in shown.html
    assert shown.whole is None


def test_a_passage_that_begins_inside_of_a_row_shows_the_rest_as_a_table() -> None:
    content = "交付 その4 | 40円 |\n" + "".join(ROWS[5:8])
    html = shown_text(hit(content, "F006", prefix=HEAD), room=900, is_markdown=False).html
    assert html.index("交付 その4") < html.index("手数料コード</th>") < html.index("<mark>F006</mark>")
    assert html.count("<tr>") == 4


def test_prose_is_cut_between_sentences_around_the_marks() -> None:
    start, end = excerpt(PROSE, [(PROSE.index("第40の"), PROSE.index("第40の") + 4)], room=300)
    assert PROSE[start - 1] == PROSE[end - 1] == "。"
    assert "第40の条件" in PROSE[start:end]
    assert end - start <= 300


def test_a_text_hardly_longer_than_the_room_is_shown_whole() -> None:
    assert excerpt(PROSE[:380], [], room=300) == (0, 380)


def test_an_excerpt_never_cuts_a_row_and_has_what_is_marked() -> None:
    text = "".join(["前置き。\n\n", HEAD, *ROWS, "\n", PROSE, "\n\n```\n", *["x = 1\n"] * 200, "```\n"])
    edges = {0, len(text), *(found.end() for found in re.finditer(r"\n|。", text))}
    for at in range(0, len(text) - 10, 97):
        start, end = excerpt(text, [(at, at + 3)], room=250)
        assert start <= at < end
        assert {start, end} <= edges


def test_a_row_longer_than_the_room_is_shown_whole() -> None:
    text = f"{HEAD}| F001 | {'長' * 900} | 10円 |\n{''.join(ROWS)}"
    start, end = excerpt(text, [(text.index("長"), text.index("長") + 2)], room=100)
    assert text[start:end] == HEAD + f"| F001 | {'長' * 900} | 10円 |\n"


def test_code_that_is_cut_stays_code() -> None:
    text = "```sql\n" + "".join(f"SELECT {number};\n" for number in range(200)) + "```\n"
    html = shown_text(hit(text, "SELECT 150;"), room=200, is_markdown=True).html
    assert html.startswith("<pre><code>")
    assert "<mark>SELECT 150;</mark>" in html


def test_the_head_of_a_table_is_found_from_each_of_its_rows_only() -> None:
    text = f"説明\n\n{HEAD}{ROWS[0]}{ROWS[1]}\n終わり\n"
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    heads = {text[start:stop]: table_head(text, start) for start, stop in pairwise(starts)}
    assert {line for line, head in heads.items() if head == HEAD} == {ROWS[0], ROWS[1]}
    assert set(heads.values()) == {"", HEAD}


def test_rows_inside_a_merged_cell_stand_below_that_cell() -> None:
    below = hit("".join(ROWS[5:8]), "F006", prefix=f"{HEAD}| 窓口 |  |  |\n")
    html = shown_text(below, room=900, is_markdown=False).html
    assert html.index("手数料コード</th>") < html.index("窓口") < html.index("<mark>F006</mark>")
    assert html.count("<table>") == 1
