"""Questions that go on from the one before, made whole; new ones left alone."""

from __future__ import annotations

import pytest

from benchmarks.follow_ups import is_right, resolved, rows
from knowledge.text.follow_ups import MOST_CHARACTERS, resolve_follow_up, topic_of


@pytest.mark.parametrize("name", ["first", "second"])
def test_four_of_five_follow_ups_are_made_whole_and_no_new_question_is_touched(name: str) -> None:
    judged = [(row, is_right(row, resolved(row))) for row in rows(name)]
    assert all(right for row, right in judged if row["same"])
    follow_ups = [right for row, right in judged if not row["same"]]
    assert sum(follow_ups) >= 0.8 * len(follow_ups)


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        ("督促状はいつ出力しますか", "それは誰が?", "督促状は誰が出力しますか?"),
        ("パスワードは何日ごとに変えますか", "それは誰が？", "パスワードは誰が変えますか?"),
        ("障害の報告はどこへ送りますか", "それはいつまでに?", "障害の報告はいつまでに送りますか?"),
        ("パスワードは何文字以上ですか", "それは誰が?", "パスワードは誰が?"),
        ("督促状はいつ出力しますか", "その期限は?", "督促状の期限は?"),
        ("督促状の期限はいつですか", "部数は?", "督促状の部数は?"),
        ("平日の受付時間は何時までですか", "休日は?", "休日の受付時間は何時までですか"),
        ("仕様変更の承認者は誰ですか", "その人が不在のときは?", "仕様変更の承認者が不在のときは?"),
    ],
)
def test_what_was_talked_about_is_put_where_the_question_has_a_gap(before: str, question: str, whole: str) -> None:
    assert resolve_follow_up(question, before).text == whole


@pytest.mark.parametrize("before", ["", "?", "誰が?", "それは", "長" * (MOST_CHARACTERS + 1), "\ud800", "の" * 300])
def test_nothing_is_carried_from_what_is_no_question(before: str) -> None:
    found = resolve_follow_up("それは誰が?", before)
    assert found.text
    assert not (found.carried and len(before) > MOST_CHARACTERS)


def test_what_a_question_is_about_stands_before_its_particle() -> None:
    assert topic_of("個人情報の開示請求の手続を教えてください") == "個人情報の開示請求の手続"
    assert topic_of("多要素認証が必要なのは誰ですか") == "多要素認証が必要"
    assert topic_of("電子署名とは何ですか") == "電子署名"
