"""Numbers of things against the list on them, wherever it is, and against the names in the line below."""

from __future__ import annotations

import pytest

from tests.review.markdown import outcome_of, rule_input, table

RULE = "consistency.total_mismatch"
PARTS = table("クラス名|役割", *(f"Part{number}|{number}番目の処理" for number in range(1, 6)))


def found_in(text: str) -> list[tuple[str, str]]:
    return [(found.data["stated"], found.data["counted"]) for found in outcome_of(RULE, rule_input(text)).findings]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("```\n├── parts/  # 部品（4 クラス）\n```", [("4", "5")]),
        ("部品層（4 クラス）を置く。", [("4", "5")]),
        ("部品は全部で4個である。", [("4", "5")]),
        ("部品（5 クラス）を置く。", []),
        ("部品（4 クラス以上）を置く。", []),
        ("外部部品4個を置く。", []),
        ("部品4個ずつを配る。", []),
    ],
)
def test_a_number_is_held_against_the_list_on_its_things(said: str, expected: list[tuple[str, str]]):
    assert found_in(f"# 設計書\n\n## 1. 構成\n\n{said}\n\n## 2. 部品一覧\n\n{PARTS}\n") == expected


def test_a_list_of_some_of_the_things_and_one_in_two_tables_say_nothing_of_their_number():
    said = "# 設計書\n\n## 1. 構成\n\n部品（4 クラス）を置く。\n\n"

    assert found_in(f"{said}## 2. 主要部品一覧\n\n{PARTS}\n") == []
    assert found_in(f"{said}## 2. 部品一覧\n\n{PARTS}\n\n共通のもの。\n\n{PARTS}\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- 送る値（最低限の3項目）\n  - 番号、氏名、住所、電話\n", [("3", "4")]),
        ("- 送る値（4項目）\n  - 番号、氏名、住所、電話\n", []),
        ("- 送る値（3項目）\n- 番号、氏名、住所、電話\n", []),
        ("- 送る値（3項目）\n  - 番号、氏名など、住所、電話\n", []),
    ],
)
def test_a_number_in_brackets_is_held_against_the_names_in_the_line_below(text: str, expected: list[tuple[str, str]]):
    assert found_in(f"# 設計書\n\n{text}") == expected
