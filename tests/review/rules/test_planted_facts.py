"""Contradictions that are told in two forms: a sentence and a table, two tables, a number and a list."""

from __future__ import annotations

import pytest

from review.rules import RuleCrash, run_rule
from review.types import FindingDraft
from tests.review.markdown import rule_input

ITEMS = "| 項目名 | 型 | 桁数 | 必須 |\n|---|---|---|---|\n| 会員番号 | String | 10 | ○ |\n| 登録日 | Date | 8 | ○ |"
COLUMNS = (
    "| カラム名 | データ型 | 説明 |\n|---|---|---|\n| 会員番号 | {0} | 会員を表す |\n| 登録日 | DATE | 登録した日 |"
)
SCREENS = "| 画面ID | 画面名 | 概要 |\n|---|---|---|\n" + "\n".join(
    f"| S0{n} | 画面その{n} | 示す |" for n in range(1, 5)
)


def findings(text: str, rule: str = "consistency.conflicting_value") -> tuple[FindingDraft, ...]:
    outcome = run_rule(rule, rule_input(text))
    assert not isinstance(outcome, RuleCrash)
    return outcome.findings


def document(*parts: str) -> str:
    titles = ("概要", "画面一覧", "項目", "テーブル")
    sections = (f"## {number}. {titles[number - 1]}\n\n{part}\n" for number, part in enumerate(parts, 1))
    return "# 設計書\n\n" + "\n".join(sections)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("会員番号の入力は任意とする。", ITEMS, "polarity"),
        ("会員番号は20桁とする。", ITEMS, "number"),
        (ITEMS, COLUMNS.format("INT"), "type"),
        ("本システムは全12画面で構成する。", SCREENS, "listed"),
        ("帳票の再印刷は可とする。", "- 帳票の再印刷：不可", "polarity"),
        ("操作ログの保存期間は5年以上とする。", "操作ログの保存期間は1年以内とする。", "number"),
        ("利用者は、本庁の担当者9名及び支所の担当者5名とする。", "想定利用者数は15名とする。", "number"),
    ],
)
def test_what_is_said_otherwise_in_another_form_is_found_with_both_quotes(one: str, other: str, kind: str) -> None:
    (found,) = findings(document(one, other))

    assert found.data["kind"] == kind
    assert len(found.evidence) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("会員番号の入力は必須とする。", ITEMS),
        ("会員番号は10桁とする。", ITEMS),
        (ITEMS, COLUMNS.format("VARCHAR(10)")),
        ("本システムは全4画面で構成する。", SCREENS),
        ("代理人の場合、会員番号の入力は任意とする。", ITEMS),
        ("帳票の再印刷は可とする。", "- 帳票の再印刷：可能"),
        ("操作ログの保存期間は1年以上とする。", "操作ログの保存期間は5年以内とする。"),
        ("利用者は、本庁の担当者9名及び支所の担当者6名とする。", "想定利用者数は15名とする。"),
    ],
)
def test_what_agrees_or_stands_under_a_condition_is_not_reported(one: str, other: str) -> None:
    assert findings(document(one, other)) == ()


def test_rows_that_say_the_same_twice_are_found_and_rows_with_other_figures_are_not() -> None:
    head = "| No | ID | 操作の手順 | 期待結果 |\n|---|---|---|---|\n"
    same = "一覧画面で編集ボタンを押し、内容を確かめる | 編集画面に移ること"
    text = document(head + f"| 1 | T-001 | {same} |\n| 2 | T-002 | {same} |\n| 3 | T-003 | {same}1 |")

    (found,) = findings(text)

    assert found.data["kind"] == "twice"
    assert found.data["quantity"] == "T-001、T-002"


def test_rows_of_two_groups_may_say_the_same() -> None:
    head = "| No | 観点 | 操作の手順 | 期待結果 |\n|---|---|---|---|\n"
    same = "開始日に2020年4月1日を入れて登録する | 開始日に2020年4月1日と出ること"
    other = "名前に長い値を入れて登録する | 名前の全部が出ること"
    rows = f"| 1-1 | 最大長 | {other} |\n| 1-2 | | {same} |\n| 2-1 | {{0}} | {other}2 |\n| 2-2 | | {same} |"

    assert findings(document(head + rows.format("最小長"))) == ()
    assert [found.data["kind"] for found in findings(document(head + rows.format("")))] == ["twice"]


@pytest.mark.parametrize(
    ("said", "is_wrong"),
    [
        ("総数は15名（職員9名、委託先5名）とする。", True),
        ("総数は15名（職員9名、委託先6名）とする。", False),
        ("総数は15名（うち職員9名、委託先5名）とする。", False),
        ("本システムは3つの機能で構成する。\n\n- 登録\n- 照会\n- 出力\n- 削除", True),
        ("本システムは3つの機能で構成する。\n\n- 登録\n- 照会\n- 出力", False),
        ("### 1.1 3つの方針\n\n#### 早く\n\nする。\n\n#### 安く\n\nする。\n", True),
    ],
)
def test_numbers_are_held_against_their_parts(said: str, is_wrong: bool) -> None:
    assert bool(findings(document(said), "consistency.total_mismatch")) is is_wrong


@pytest.mark.parametrize(("said", "is_wrong"), [("2026年11月24日（月）", True), ("令和8年11月24日（火）", False)])
def test_a_day_falls_on_one_day_of_the_week(said: str, is_wrong: bool) -> None:
    assert bool(findings(document(f"検査は{said}に行う。"), "consistency.date_order")) is is_wrong


def test_an_identifier_that_two_rows_apart_have_is_found_though_nothing_else_is_written() -> None:
    rows = "\n".join(
        f"| {number} | {name} |  |" for number, name in enumerate(("Q00010", "Q00020", "Q00030", "Q00010"))
    )
    text = document("| no | 画面ID | 画面名 |\n|---|---|---|\n" + rows)

    (found,) = findings(text, "traceability.duplicate_definition")

    assert found.data["identifiers"] == ["Q00010"]


def test_a_list_that_nothing_names_is_one_finding_however_many_series_it_has() -> None:
    rows = "\n".join(f"| {name}-00{n} | 画面 | 示す |" for name in ("ACC", "MNG", "HOM") for n in (1, 2))
    text = document("目的を示す。", f"| 画面ID | 画面名 | 概要 |\n|---|---|---|\n{rows}")

    (found,) = findings(text, "traceability.unreferenced_definition")

    assert len(found.data["identifiers"]) == 6
