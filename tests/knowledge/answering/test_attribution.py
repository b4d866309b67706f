"""What a sentence says of a value or a party is said of it in its quote, and not of its neighbour."""

from __future__ import annotations

import doctest

import pytest

from knowledge.answering import attribution, clauses, english_clauses, quantities
from knowledge.answering.attribution import says_it_of_the_same
from knowledge.answering.sentences import sentences_of
from tests.knowledge.answering.test_extractive import hit


def is_same(sentence: str, passage: str, question: str = "") -> bool:
    return says_it_of_the_same(sentence, list(sentences_of(hit(passage))), question)


COSTS = "初期費用は30万円、運用費用は50万円とする。"
TIMES = "応答時間は、通常時は3秒以内、繁忙期は5秒以内とする。"
SIGNS = "申請書は課長が承認し、部長が決裁する。"
FEES = "The setup fee is 30 dollars and the monthly fee is 50 dollars."
TABLE = """| 作業 | 上限（分） | 目標（分） |
|---|---|---|
| 取込 | 45 | 20 |
| 配信 | 60 | 30 |"""


@pytest.mark.parametrize(
    ("sentence", "passage", "expected"),
    [
        ("初期費用は30万円です。", COSTS, True),
        ("運用費用は50万円です。", COSTS, True),
        ("初期費用は50万円です。", COSTS, False),
        ("運用費用は30万円です。", COSTS, False),
        ("初期費用は50万円、運用費用は30万円です。", COSTS, False),
        ("初期費用は30万円、運用費用は50万円です。", COSTS, True),
        ("繁忙期の応答時間は5秒以内です。", TIMES, True),
        ("繁忙期の応答時間は3秒以内です。", TIMES, False),
        ("通常時の応答時間は5秒以内です。", TIMES, False),
        ("A社に5台を納める。", "A社に3台、B社に5台を納める。", False),
        ("B社に5台を納める。", "A社に3台、B社に5台を納める。", True),
        ("A社に3台を納める。", "A社に3台、B社に5台を納める。", True),
        ("東京大学を卒業したのは1868年です。", "1868年に生まれ、1890年に東京大学を卒業した。", False),
        ("東京大学を卒業したのは1890年です。", "1868年に生まれ、1890年に東京大学を卒業した。", True),
        ("田中は1868年に生まれた。", "1868年に生まれた田中は、1890年に大学を卒業した。", True),
        ("田中は1890年に生まれた。", "1868年に生まれた田中は、1890年に大学を卒業した。", False),
        ("80人が合格した。", "80人のうち30人が合格した。", False),
        ("30人が合格した。", "80人のうち30人が合格した。", True),
        ("1868年から1901年まで在位した。", "1868年から1901年まで在位した。", True),
        ("85名の負傷のほうが16名の殺害より多い。", "16名が殺害され、85名が負傷した。", True),
        ("16名の負傷のほうが85名の殺害より少ない。", "16名が殺害され、85名が負傷した。", False),
        ("墓は720年（養老4年）に没した人の家である。", "墓という所は、720年（養老4年）に没した人の家である。", True),
        ("FR-013はFR-011に依存する。", "FR-013の依存関係: FR-011", True),
        ("Five ships sailed between 1600 and 1800.", "Between 1600 and 1800, five ships sailed.", True),
        ("取込の上限は45分です。", TABLE, True),
        ("取込の上限は20分です。", TABLE, False),
        ("取込の目標は30分です。", TABLE, False),
        ("The setup fee is 30 dollars.", FEES, True),
        ("The setup fee is 50 dollars.", FEES, False),
        ("Logs are kept for 90 days.", "Logs are kept for 90 days and backups for 30 days.", True),
        ("Logs are kept for 30 days.", "Logs are kept for 90 days and backups for 30 days.", False),
        ("He died in 1868.", "He was born in 1868 and died in 1901.", False),
        ("He died in 1901.", "He was born in 1868 and died in 1901.", True),
        ("Exports rose to 9 percent in 2001.", "Exports rose from 5 percent in 2001 to 9 percent in 2005.", False),
        ("Exports were 5 percent in 2001.", "Exports rose from 5 percent in 2001 to 9 percent in 2005.", True),
    ],
)
def test_a_value_stands_with_what_it_is_a_value_of(sentence: str, passage: str, *, expected: bool) -> None:
    assert is_same(sentence, passage) is expected


@pytest.mark.parametrize(
    ("sentence", "passage", "expected"),
    [
        ("課長が申請書を承認する。", SIGNS, True),
        ("部長が申請書を決裁する。", SIGNS, True),
        ("部長が申請書を承認する。", SIGNS, False),
        ("承認は部長が行う。", SIGNS, False),
        ("承認は課長が行う。", SIGNS, True),
        ("課長が部長に報告する。", "部長が課長に報告する。", False),
        ("課長に報告するのは部長です。", "部長が課長に報告する。", True),
        ("検証環境は二重化する。", "本番環境は二重化し、検証環境は単一構成とする。", False),
        ("本番環境は二重化する。", "本番環境は二重化し、検証環境は単一構成とする。", True),
        ("支払は窓口で行う。", "予約は窓口で受け付け、支払は銀行で行う。", False),
        ("支払は銀行で行う。", "予約は窓口で受け付け、支払は銀行で行う。", True),
        ("東京駅は辰野金吾によって設計された。", "1914年に開業した東京駅は、辰野金吾が設計した。", True),
        ("辰野金吾が東京駅を設計した。", "東京駅は1914年に開業し、設計は辰野金吾が行った。", True),
        ("The director approves the request.", "The manager approves the request and the director signs it.", False),
        ("The manager approves the request.", "The manager approves the request and the director signs it.", True),
        (
            "The request is approved by the manager.",
            "The manager approves the request and the director signs it.",
            True,
        ),
        ("Poland invaded Germany.", "In 1939, Germany invaded Poland.", False),
        ("Germany was invaded by Poland.", "In 1939, Germany invaded Poland.", False),
        ("Poland was invaded by Germany.", "In 1939, Germany invaded Poland.", True),
        ("Mary fled to England.", "Elizabeth was crowned in 1559, and her cousin Mary fled to England.", True),
        ("Elizabeth fled to England.", "Elizabeth was crowned in 1559, and her cousin Mary fled to England.", False),
    ],
)
def test_who_acts_is_who_acts_in_the_quote(sentence: str, passage: str, *, expected: bool) -> None:
    assert is_same(sentence, passage) is expected


def test_the_question_tells_what_a_short_sentence_is_of() -> None:
    assert is_same("50万円です。", COSTS, "運用費用はいくらですか")
    assert not is_same("50万円です。", COSTS, "初期費用はいくらですか")
    assert not is_same("50万円です。", COSTS, "費用はいくらですか"), "nothing tells which"
    assert is_same("30万円です。", "初期費用は30万円とする。", "費用はいくらですか"), "there is one only"


def test_what_a_document_says_in_its_own_words_is_of_the_same() -> None:
    for passage in (COSTS, TIMES, SIGNS, FEES):
        assert is_same(passage, passage)


@pytest.mark.parametrize("module", [attribution, clauses, english_clauses, quantities])
def test_the_examples_in_the_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]
