"""What a question asks for, the values that a sentence has, and the parts of a question."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from knowledge.answering import chance, parts, values
from knowledge.answering.asked import Wanted, read_asked
from knowledge.answering.chance import BY_NAME, chances, shipped_trees
from knowledge.answering.parts import parts_of
from knowledge.answering.values import values_of


@pytest.mark.parametrize(
    ("question", "kind", "focus", "unit"),
    [
        ("図書予約システムの開発費はいくらですか", Wanted.NUMBER, "開発費", ""),
        ("パスワードを何回間違えるとロックされるか", Wanted.NUMBER, "パスワード", "回"),
        ("稼働率の目標は？", Wanted.NUMBER, "目標", ""),
        ("保存期間は？", Wanted.NUMBER, "保存期間", ""),
        ("誰が承認する？", Wanted.PERSON, "", ""),
        ("納期はいつですか", Wanted.TIME, "納期", ""),
        ("提出期限", Wanted.TIME, "提出期限", ""),
        ("データセンターはどこにありますか", Wanted.PLACE, "データセンター", ""),
        ("なぜスマートカードを使いますか", Wanted.REASON, "", ""),
        ("復旧の手順は", Wanted.WAY, "手順", ""),
        ("調定とは何ですか", Wanted.MEANING, "調定", ""),
        ("再委託はできますか", Wanted.YES_NO, "", ""),
        ("冗長化の有無は？", Wanted.YES_NO, "", ""),
        ("利用者は何を取り消せますか", Wanted.THING, "利用者", ""),
        ("どのような障害を想定していますか", Wanted.THING, "障害", ""),
        ("障害にどのように対応しますか", Wanted.WAY, "", ""),
        ("サフランは何の混合香辛料の成分ですか", Wanted.THING, "混合香辛料", ""),
        ("窓口の使用料は？", Wanted.NUMBER, "使用料", ""),
        ("何版目の改訂ですか", Wanted.NUMBER, "版目", ""),
        ("運用上の問題点は何か", Wanted.THING, "問題点", ""),
        ("How many permits may a resident hold?", Wanted.NUMBER, "permits", ""),
        ("Who approves exceptions?", Wanted.PERSON, "", ""),
        ("What is the availability target?", Wanted.THING, "availability target", ""),
    ],
)
def test_a_question_is_read_for_the_kind_and_the_thing(question: str, kind: Wanted, focus: str, unit: str) -> None:
    asked = read_asked(question)
    assert asked.kind is kind
    assert asked.unit == unit
    assert kind is Wanted.YES_NO or asked.focus == focus


@pytest.mark.parametrize(
    ("question", "sentence", "fits"),
    [
        ("何回間違えるとロックされるか", "5 回続けて誤った場合は拒否する。", True),
        ("何回間違えるとロックされるか", "30 分間ログインを拒否する。", False),
        ("開発費はいくらですか", "開発費は 1,200 万円とする。", True),
        ("開発費はいくらですか", "1人10冊まで予約を登録する。", False),
        ("納期はいつですか", "令和8年3月31日までに納める。", True),
        ("納期はいつですか", "納品の方法は別紙による。", False),
        ("稼働率は？", "月間 99.5 % 以上とする。", True),
    ],
)
def test_a_value_of_the_asked_kind_is_told_from_others(question: str, sentence: str, *, fits: bool) -> None:
    assert (values_of(sentence, question, read_asked(question)).fits >= 0.9) is fits


def test_a_value_that_the_question_has_is_none() -> None:
    asked = read_asked("2026年に何件ありましたか")
    assert values_of("2026年の報告である。", "2026年に何件ありましたか", asked).numbers == 0


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("予約と通知記録の保存期間の違い", ["予約の保存期間は？", "通知記録の保存期間は？"]),
        ("図書予約と会議室予約の稼働率を比べて。", ["図書予約の稼働率は？", "会議室予約の稼働率は？"]),
        ("本庁と支所では、開庁時間はどう違いますか", ["本庁の開庁時間は？", "支所の開庁時間は？"]),
        ("本番環境と検証環境の台数は同じですか？", ["本番環境の台数は？", "検証環境の台数は？"]),
        ("予算と比べて決算はいくら増えましたか", ["予算と比べて決算はいくら増えましたか"]),
        ("What is the difference between a clerk and an approver?", ["What is a clerk?", "What is an approver?"]),
        (
            "システムの稼働率、応答時間、保存期間は？",
            ["システムの稼働率は？", "システムの応答時間は？", "システムの保存期間は？"],
        ),
        ("死亡の原因となった病気は何?", ["死亡の原因となった病気は何?"]),
        ("東京と大阪のどちらが広いか", ["東京と大阪のどちらが広いか"]),
    ],
)
def test_a_question_for_several_things_is_parted(question: str, expected: list[str]) -> None:
    assert parts_of(question) == expected


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", ["あと" * 150, "の" * 299, "と、" * 100, "?" * 300, "と比の" * 99])
def test_odd_questions_are_parted_in_one_go(text: str) -> None:
    assert parts_of(text)


def test_chances_are_refused_for_other_signs_than_they_were_fitted_on() -> None:
    names = list(dict.fromkeys([*shipped_trees().names, *BY_NAME]))
    rows = np.random.default_rng(1).random((3, len(names)))
    told = chances(names, rows)
    assert (told > 0).all()
    assert (told < 1).all()
    assert (chances(names[::-1], rows[:, ::-1]) == told).all(), "columns are found by their names"
    with pytest.raises(ValueError, match="fit"):
        chances(names[1:], rows[:, 1:])


@pytest.mark.parametrize("sign", [np.nan, np.inf, -np.inf, 1e308, -1e308])
def test_a_sign_that_is_no_number_of_anything_is_no_sign(sign: float) -> None:
    names = list(dict.fromkeys([*shipped_trees().names, *BY_NAME]))
    absent = np.full((1, len(names)), np.nan)

    assert (chances(names, np.full((1, len(names)), sign)) == chances(names, absent)).all()
    for column in range(len(names)):
        row = np.zeros((1, len(names)))
        row[0, column] = sign
        assert 0 <= chances(names, row)[0] <= 1, names[column]


@pytest.mark.parametrize("module", [chance, parts, values])
def test_the_examples_in_the_docstrings_hold(module) -> None:
    assert doctest.testmod(module).failed == 0
