"""Whether a sentence says yes or no to what a question asks whether to do."""

from __future__ import annotations

import pytest

from knowledge.answering.asked import read_asked
from knowledge.answering.predicates import read_act
from knowledge.answering.sentences import sentences_of
from tests.knowledge.answering.test_extractive import ask, hit
from tests.knowledge.search.shelf import Library


def is_decided(question: str, sentence: str) -> bool:
    act = read_act(question, read_asked(question))
    (one,) = sentences_of(hit(sentence))
    return act is not None and act.is_decided_by(one)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("検査制約は使いますか", "検査制約は使用しない。"),
        ("ストアドプロシージャは使ってよいですか", "原則、ストアドプロシージャは使用しないこと。"),
        ("外部キーを利用できますか", "外部キーの使用を禁止する。"),
        ("共有フォルダーは使えますか", "共有フォルダーは原則として利用してはならない。"),
        ("予約を取り消せますか", "予約は取消できる。"),
        ("代理予約はできますか", "代理予約は不可とする。"),
        ("予約の取り消しはできますか", "利用者は、予約取消ができる。"),
    ],
)
def test_a_sentence_that_affirms_or_denies_the_asked_act_decides(question, sentence):
    assert is_decided(question, sentence)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("検査制約は使いますか", "一意制約は使用しない。"),  # of another thing
        ("制約は使いますか", "検査制約は使用しない。"),  # of a part of it
        ("検査制約は使いますか", "検査制約は命名規則に従った名称を使用する。"),  # what is used with it
        ("検査制約は使いますか", "検査制約を使用する場合は、事前に相談する。"),  # a condition
        ("検査制約は使いますか", "検査制約は変更しない。"),  # another act
        ("職員は代理予約を登録できますか", "代理予約は登録できない。"),  # nothing of 職員
        ("検査制約は何に使いますか", "検査制約は使用しない。"),  # asks what for
    ],
)
def test_one_of_another_thing_or_act_does_not(question, sentence):
    assert not is_decided(question, sentence)


@pytest.mark.django_db
def test_a_rule_that_forbids_answers_whether_it_is_allowed():
    Library().add(
        "設計標準.md",
        [
            "ストアドプロシージャの使用を検討する場合、基盤チームへ相談をすること。",
            "原則、ストアドプロシージャは使用しないこと。",
            "一意制約は主キーのほかに使用してよい。",
        ],
    )
    first = ask("ストアドプロシージャは使ってよいですか").sentences[0]
    assert first.text == "原則、ストアドプロシージャは使用しないこと。"
    assert first.chance >= 0.7
    assert ask("トリガーは使ってよいですか").sentences == ()


@pytest.mark.django_db
def test_a_question_in_another_spelling_is_answered_as_in_that_of_the_document():
    Library().add("利用案内.md", ["予約は1人10冊までとする。", "予約取消は、利用日の前日まで受け付ける。"])
    same = (("予約は一人何冊まで", "予約は1人何冊まで"), ("予約の取り消しはいつまで", "予約の取消はいつまで"))
    for asked, as_written in same:
        given = ask(asked)
        assert [one.text for one in given.sentences] == [one.text for one in ask(as_written).sentences] != []
