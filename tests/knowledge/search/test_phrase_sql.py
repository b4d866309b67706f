"""Which texts hold a phrase: whatever the spelling, and never fewer than comparing whole texts says."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from knowledge.models import Chunk
from knowledge.search.phrase_sql import chunks_holding, letter_patterns
from tests.knowledge.search.shelf import Library

SPELT = {
    "㍻八年度の計画": "平成八年",
    "㈱みずほ設計の見積": "(株)みずほ",
    "高さは３０㌢とする": "30センチ",
    "ｶﾞｲﾄﾞを窓口で配る": "ガイドを窓口",
    "か\u3099いとう調査": "がいとう",
    "部品\u2162の\U0001d400\U0001d417票": "IIIのax票",
    "利用\u00ad者\u200bの登\ufe00録": "利用者の登録",
    "予約は\n一人 十件まで": "予約は一人十件",
    "ﬁnal REPORT": "Final  report",
    "\u212aelvin温度": "kelvin温",
    "２０２６年④月": "2026年4月",
    "😀を含む": "😀",
    "ばら売り": "ばら売り",
    "API設計の指針": "API設計",
    "ｺﾈｸﾀ表": "コネクタ表",
}


@pytest.mark.django_db
@pytest.mark.parametrize(("written", "phrase"), SPELT.items())
def test_a_phrase_is_held_in_any_spelling_and_no_other_text_holds_it(written: str, phrase: str) -> None:
    Library().add("綴り.md", list(SPELT))
    held = chunks_holding(Chunk.objects.all(), [phrase])
    assert [chunk.content for chunk in held] == [written]
    assert not chunks_holding(Chunk.objects.all(), [phrase, "どこにもない語"])


@pytest.mark.django_db
@pytest.mark.parametrize("phrase", ["の調査か", "査ハ", "予 約", "10件"])
def test_letters_that_are_a_part_of_another_one_there_do_not_hold_a_phrase(phrase: str) -> None:
    Library().add("綴り.md", ["今期の調査か\u3099終わる", "調査ﾊﾟネル", "予-約", "110件", "10\u0307件"])
    held = [chunk.content for chunk in chunks_holding(Chunk.objects.all(), [phrase])]
    assert held == (["110件"] if phrase == "10件" else [])


def test_no_spelling_of_a_letter_is_left_out_before_texts_are_compared() -> None:
    spellings = [letter for letter in map(chr, range(0x10000)) if not 0xD800 <= ord(letter) < 0xE000]
    for letter in spellings:
        if (spelt := normalize("NFKC", letter).lower()) != letter:
            assert all(letter in pattern for pattern in letter_patterns(spelt, among=1)), letter


def test_phrases_are_asked_for_by_what_few_texts_have_and_no_more_letters_than_can_be_kept() -> None:
    patterns = letter_patterns("これらの障害を復旧する手順書の改訂履歴", among=1)
    assert [pattern[1] for pattern in patterns] == list("障害旧順書改")
    assert len(letter_patterns("障害復旧手順", among=16)) == 1
    assert letter_patterns("。！", among=1) == []
