"""What a question is about, and whether a row, an item or a sentence is about that."""

from __future__ import annotations

import pytest

from knowledge.answering.asked import read_asked
from knowledge.answering.sentences import PlacedSentence, sentences_of
from knowledge.answering.subjects import phrases_of, read_subjects
from tests.knowledge.answering.test_extractive import hit

TABLE = """| データ | 項目 | 保存期間 |
| --- | --- | --- |
| 予約 | 予約番号、状態 | 1年 |
| 通知記録 | 通知番号、予約番号 | 90日 |"""


def rows() -> list[PlacedSentence]:
    return list(sentences_of(hit(TABLE)))


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("図書予約システムの開発費はいくらですか", ["図書予約システム", "開発費"]),
        ("予約DBの動作環境は何ですか", ["予約DB", "動作環境"]),
        ("変更履歴の1.1版の担当者は誰ですか", ["変更履歴", "1.1版", "担当者"]),
        ("それは誰がするのか", []),
        ("How long is an access log kept?", ["access log kept"]),
    ],
)
def test_what_a_question_names_is_told_in_whole_words(question, named):
    assert [one.shown for one in phrases_of(question)] == named


def test_a_row_is_about_what_its_first_cell_names_and_not_what_else_it_has():
    subjects = read_subjects("予約の保存期間は？", read_asked("予約の保存期間は？"))
    right, other = (subjects.signs(row, TABLE) for row in rows())
    assert (right["about key"], right["key beside"]) == (1.0, 0.0)
    assert (other["about key"], other["key beside"]) == (0.0, 1.0)
    assert right["asked is column"] == other["asked is column"] == 1.0
    assert right["column fits"] == 1.0


def test_a_row_may_be_found_by_another_cell():
    subjects = read_subjects("90日の保存期間のデータは？", read_asked("90日の保存期間のデータは？"))
    assert [subjects.signs(row, TABLE)["key beside"] for row in rows()] == [1.0, 0.0]


@pytest.mark.parametrize(("version", "missing"), [("1.1", 0.0), ("1.0", 1.0)])
def test_an_identifier_that_a_sentence_lacks_is_counted(version, missing):
    asked = "1.1版の担当者は誰ですか"
    (one,) = sentences_of(hit(f"{version} 版は佐藤が作成した。"))
    assert read_subjects(asked, read_asked(asked)).signs(one, "")["identifiers missing"] == missing


def test_a_label_before_a_colon_is_what_an_item_is_about():
    (one,) = sentences_of(hit("保存期間：5年"))
    assert read_subjects("保存期間は？", read_asked("保存期間は？")).signs(one, "")["asked is key"] == 1.0


def test_who_asks_for_no_column_may_ask_for_the_key():
    table = "| 役割 | 名前 | 仕事 |\n| --- | --- | --- |\n| 窓口 | 佐藤 | 受付 |\n| 課長 | 鈴木 | 例外の承認 |"
    asked = "誰が例外の承認をしますか"
    subjects = read_subjects(asked, read_asked(asked))
    assert [subjects.signs(row, table)["key beside"] for row in sentences_of(hit(table))] == [1.0, 0.0]


def test_a_word_whose_meaning_is_asked_for_is_what_its_row_is_about():
    table = "| 用語 | 意味 |\n| --- | --- |\n| 取置き | 資料を確保しておくこと |"
    subjects = read_subjects("取置きの意味は", read_asked("取置きの意味は"))
    assert list(sentences_of(hit(table)))[-1].text.startswith("| 取置き |")
    assert subjects.signs(list(sentences_of(hit(table)))[-1], table)["key beside"] == 0.0


def test_a_label_of_another_kind_hides_no_item():
    (one,) = sentences_of(hit("備考：開発費は100万円とする。"))
    assert read_subjects("開発費は？", read_asked("開発費は？")).signs(one, "")["key beside"] == 0.0


@pytest.mark.parametrize(
    ("question", "fits"),
    [("計画書はいつ納めますか", 1.0), ("計画書は誰が承認しますか", 0.6), ("計画書はどこに納めますか", -1.0)],
)
def test_a_cell_below_a_name_of_the_asked_kind_is_told(question, fits):
    (row,) = sentences_of(
        hit("| 成果物 | 納品期限 | 承認者 |\n| --- | --- | --- |\n| 計画書 | 契約後1週間以内 | 監督職員 |")
    )
    assert read_subjects(question, read_asked(question)).signs(row, "")["column of asked kind"] == fits


@pytest.mark.parametrize(("question", "is_of_kind"), [("障害から復旧したのはいつか", 1.0), ("誰が復旧したか", 0.0)])
def test_a_row_with_a_name_of_the_asked_kind_is_told(question, is_of_kind):
    (row,) = sentences_of(hit("| 復旧日時 | 同日9時47分 |"))
    assert read_subjects(question, read_asked(question)).signs(row, "")["key of asked kind"] == is_of_kind


@pytest.mark.parametrize(
    ("asked", "written", "is_there"),
    [
        ("予約の取り消し", "予約取消は前日までとする。", True),
        ("予約の取消", "予約を取り消す。", True),
        ("一人", "1人10冊まで", True),
        ("1人", "利用者一人につき", True),
        ("一人", "11人まで", False),
        ("問合せ", "問い合わせ先は窓口とする。", True),
        ("取り消し", "登録を抹消する。", False),
        ("一般", "1般", False),
    ],
)
def test_a_word_is_found_in_another_spelling(asked, written, is_there):
    assert all(one.is_in(written) for one in phrases_of(asked)) is is_there
