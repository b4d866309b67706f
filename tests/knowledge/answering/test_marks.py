"""Questions for yes or no are answered from the cell of a table that says it, with its row and its column."""

from __future__ import annotations

import pytest

from knowledge.answering.asked import read_asked
from knowledge.answering.marks import MarkedCell, marked_cell
from knowledge.answering.sentences import sentences_of
from tests.knowledge.answering.test_extractive import ask, hit
from tests.knowledge.search.shelf import Library

RIGHTS = """## 4.2 権限

| 機能 | 管理者 | 一般利用者 | 備考 |
| --- | --- | --- | --- |
| 予約の登録 | ○ | ○ | |
| 予約の取消 | ○ | ×（本人を除く） | 画面から |
| 統計の出力 | ○ | × | |"""
SERVERS = """| サーバ | OS | 冗長化 |
| --- | --- | --- |
| 業務サーバ | Linux | 有 |
| 開発サーバ | Linux | 無 |"""


def cells(question: str, content: str) -> list[MarkedCell]:
    found = [marked_cell(question, read_asked(question), one) for one in sentences_of(hit(content))]
    return [one for one in found if one]


@pytest.mark.parametrize(
    ("question", "content", "said"),
    [
        ("一般利用者は予約を取り消せますか", RIGHTS, "予約の取消 / 一般利用者: ×（本人を除く）"),
        ("管理者は予約の登録ができますか", RIGHTS, "予約の登録 / 管理者: ○"),
        ("統計の出力は一般利用者に許可されていますか", RIGHTS, "統計の出力 / 一般利用者: ×"),
        ("開発サーバは冗長化されていますか", SERVERS, "開発サーバ / 冗長化: 無"),
        ("業務サーバの冗長化の有無は？", SERVERS, "業務サーバ / 冗長化: 有"),
    ],
)
def test_the_cell_is_told_with_its_row_and_its_column(question, content, said):
    assert [str(one) for one in cells(question, content)] == [said]


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("一般利用者は予約を延長できますか", RIGHTS),  # no row is about that
        ("予約の取消はできますか", RIGHTS),  # who? two cells say something
        ("監査人は統計の出力ができますか", RIGHTS),  # no column is about that
        ("一般利用者は何を取り消せますか", RIGHTS),  # asks what, and not whether
        ("試験サーバは冗長化されていますか", SERVERS),
    ],
)
def test_no_cell_answers_for_another_row_or_column(question, content):
    assert cells(question, content) == []


@pytest.mark.django_db
def test_the_answer_says_the_cell_and_cites_its_row():
    Library().add("基本設計書.md", [RIGHTS, SERVERS, "予約の取消は、利用日の前日までとする。"])
    first = ask("一般利用者は予約を取り消せますか").sentences[0]
    assert first.text == "予約の取消 / 一般利用者: ×（本人を除く）"
    (citation,) = first.citations
    assert citation.quote == "| 予約の取消 | ○ | ×（本人を除く） | 画面から |"
    assert "一般利用者" in citation.table_header
    assert first.chance >= 0.7
