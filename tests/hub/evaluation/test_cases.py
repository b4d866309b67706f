"""Retrieval cases in JSON Lines."""

from __future__ import annotations

import json

import pytest

from hub.evaluation.cases import read_retrieval_cases


def read(*rows: object):
    return read_retrieval_cases(json.dumps(row, ensure_ascii=False) for row in rows)


def test_documents_and_quotes_are_read() -> None:
    cases, bad = read(
        {
            "query": " 応答時間 ",
            "relevant": ["設計書.md", {"document": "要件.md", "text": "3秒"}],
            "collection": "design",
        }
    )
    assert bad == []
    assert cases[0].input == {"query": "応答時間", "collection": "design"}
    assert cases[0].expected == {"relevant": [{"document": "設計書.md"}, {"document": "要件.md", "text": "3秒"}]}
    assert cases[0].weight == 1.0


def test_the_same_question_has_the_same_digest_whatever_its_answer() -> None:
    cases, _bad = read(
        {"query": "認証", "relevant": ["a"]},
        {"relevant": ["b"], "query": "認証"},
        {"query": "認証", "relevant": ["a"], "collection": "design"},
    )
    assert cases[0].digest == cases[1].digest != cases[2].digest


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (["認証"], "expected an object"),
        ({"relevant": ["a"]}, "query: expected some text"),
        ({"query": "認証"}, "relevant: expected a list"),
        ({"query": "認証", "relevant": [3]}, "relevant: expected paths"),
        ({"query": "認証", "relevant": [{"text": "a"}]}, "document: expected some text"),
        ({"query": "認証", "relevant": ["a"], "weight": 0}, "weight: expected a number above 0"),
        ({"query": "認証", "relevant": ["a"], "gold": 1}, "unknown fields: gold"),
    ],
)
def test_a_line_that_is_no_case_is_named_with_its_reason(row: object, reason: str) -> None:
    cases, bad = read({"query": "認証", "relevant": ["a"]}, row)
    assert len(cases) == 1
    assert bad[0].row == 2
    assert reason in bad[0].reason


def test_broken_json_and_empty_lines() -> None:
    cases, bad = read_retrieval_cases(["", "{", "  "])
    assert cases == []
    assert [line.row for line in bad] == [2]
