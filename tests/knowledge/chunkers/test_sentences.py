from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.chunkers.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("要件を定める。次に設計する。", ["要件を定める。", "次に設計する。"]),
        ("「早い。安い。」と言う。終わり。", ["「早い。安い。」と言う。", "終わり。"]),
        ("可とする（例外がある。別紙参照。）。次。", ["可とする（例外がある。別紙参照。）。", "次。"]),
        ("閉じない「括弧。次の文。", ["閉じない「括弧。", "次の文。"]),
        ("本当か！？はい。", ["本当か！？", "はい。"]),
        ("値は1.5である。", ["値は1.5である。"]),
        ("第１．２節を読む．次へ．", ["第１．２節を読む．", "次へ．"]),
        (
            "See Fig. 2 for the flow. The API answers in 2.5 s. Done",
            [
                "See Fig. 2 for the flow. ",
                "The API answers in 2.5 s. ",
                "Done",
            ],
        ),
        ("一行目\n二行目。\n三行目", ["一行目\n二行目。\n", "三行目"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_pause(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet="あ漢a 。！？.!「」（）()\n1．", max_size=200))
def test_sentences_leave_no_gaps(text: str) -> None:
    assert "".join(sentences(text)) == text
