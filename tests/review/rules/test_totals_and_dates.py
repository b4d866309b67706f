from __future__ import annotations

import pytest

from review.rules import run_rule
from tests.review.markdown import rule_input

HEAD = "# 計画書\n\n## 1. 件数\n\n"
UPDATED = "# 計画書\n\n- 最終更新日: 2025-12-28\n\n## 1. 結果\n\n"
TABLE = HEAD + "| 種別 | 件数 | 割合 |\n|---|---|---|\n"


def outcome(rule: str, text: str):
    return run_rule(rule, rule_input(text, document_type="test_plan"))


def test_a_total_that_differs_from_its_parts_is_reported_with_both():
    text = TABLE + "| 単体 | 1,200件 | 60% |\n| 結合 | 800件 | 40% |\n| **合計** | 2,100件 | 100% |\n"

    (found,) = outcome("consistency.total_mismatch", text).findings

    assert (found.data["stated"], found.data["counted"]) == ("2,100", "2,000")
    assert [text[span.start : span.end] for span in found.evidence] == ["2,100件"]


@pytest.mark.parametrize(
    "rows",
    [
        "| 単体 | 12 | 60% |\n| 結合 | 8 | 40% |\n| 合計 | 20 | 95% |\n",
        "| 単体 | 12 | - |\n| 小計 | 12 | - |\n| 結合 | ８ | - |\n| 計 | 20 | - |\n",
        "| 単体 | 約12〜15 | - |\n| 結合 | 8 | - |\n| 合計 | 21 | - |\n",
        "| 単体 | 12分 | - |\n| 結合 | 8時間 | - |\n| 合計 | 20 | - |\n",
        "| 単体 | 12 | - |\n| 結合 | 8 | - |\n",
    ],
)
def test_sums_that_hold_and_what_is_not_added_up_pass(rows):
    assert outcome("consistency.total_mismatch", TABLE + rows).findings == ()


def test_a_total_column_is_added_across():
    text = (
        HEAD + "| 工程 | 正常系 | 異常系 | 合計 |\n|---|---|---|---|\n| 単体 | 10 | 5 | 15 |\n| 結合 | 10 | 5 | 16 |\n"
    )

    (found,) = outcome("consistency.total_mismatch", text).findings

    assert found.data == {"item": "結合・合計", "stated": "16", "counted": "15"}


def test_an_announced_count_is_held_against_the_list():
    text = HEAD + "試験は次の3段階で行う。\n\n1. 単体\n2. 結合\n   - 内部\n3. 総合\n4. 受入\n"

    (found,) = outcome("consistency.total_mismatch", text).findings

    assert (found.data["stated"], found.data["counted"]) == ("3", "4")


def test_an_announced_count_that_holds_passes():
    text = HEAD + "以下の二つの観点で確認する。\n\n- 機能\n  - 画面\n- 性能\n"

    assert outcome("consistency.total_mismatch", text).findings == ()


def history(*rows: str) -> str:
    table = "| 版 | 日付 | 内容 |\n|---|---|---|\n" + "".join(f"| {row} |\n" for row in rows)
    return f"# 設計書\n\n## 変更履歴\n\n{table}\n## 1. 目的\n\n文。\n"


@pytest.mark.parametrize(
    "rows",
    [("1.0 | 2026-01-06 | 初版", "1.1 | 2025-12-01 | 追記"), ("1.1 | 2025-12-01 | 追記", "1.0 | 2026-01-06 | 初版")],
)
def test_a_newer_version_with_an_earlier_day_is_reported(rows):
    (found,) = outcome("consistency.date_order", history(*rows)).findings

    assert found.data == {"first": "2026-01-06", "second": "2025-12-01"}


def test_a_history_that_runs_either_way_passes():
    rows = ("1.0 | 2026-01-06 | 初版", "1.1 | 2026-01-06 | 誤字", "2.0 | 令和8年4月1日 | 改訂")

    assert outcome("consistency.date_order", history(*rows)).findings == ()
    assert outcome("consistency.date_order", history(*reversed(rows))).findings == ()


def test_a_period_that_ends_before_it_starts_is_reported():
    text = HEAD + "試験期間は２０２６年５月１日〜2026年4月30日とする。\n\n契約期間は2026/4/1～2027/3/31とする。\n"

    (found,) = outcome("consistency.date_order", text).findings

    assert found.data["second"] == "2026年4月30日"


def test_columns_of_starts_and_ends_are_compared():
    text = (
        HEAD
        + "| 工程 | 開始日 | 終了日 |\n|---|---|---|\n| 単体 | 2026/4/1 | 2026/4/30 |\n| 結合 | 2026/6/1 | 2026/5/1 |\n"
    )

    (found,) = outcome("consistency.date_order", text).findings

    assert found.data == {"first": "2026/6/1", "second": "2026/5/1"}


def test_what_happened_after_the_last_update_is_one_finding():
    text = UPDATED + "結果（2026-01-06時点）を示す。2026年1月7日に実施した試験は合格。\n"

    (found,) = outcome("consistency.date_order", text).findings

    assert found.data == {"first": "2025-12-28", "second": "2026-01-06時点"}
    assert len(found.evidence) == 3


def test_plans_and_deadlines_after_the_last_update_pass():
    text = UPDATED + "2026年1月7日に実施する。2026-03-31時点の予定は次のとおり。\n"

    assert outcome("consistency.date_order", text).findings == ()


FUNCTIONS = "| 機能ID | 機能名 |\n|---|---|\n| F-1 | 登録 |\n| F-2 | 照会 |\n\n"


def test_a_stated_number_of_things_is_held_against_the_table_beside_it():
    (found,) = outcome("consistency.total_mismatch", f"{HEAD}{FUNCTIONS}機能は全部で3件である。\n").findings

    assert (found.data["stated"], found.data["counted"]) == ("3", "2")
    assert outcome("consistency.total_mismatch", f"{HEAD}機能は全部で2件である。\n\n{FUNCTIONS}").findings == ()
    assert outcome("consistency.total_mismatch", f"{HEAD}{FUNCTIONS}端末は全部で3台ある。\n").skip_reason


def test_a_document_is_made_before_it_is_changed():
    cover = "# 設計書\n\n作成日: {}\n最終更新日: 2025年12月15日\n\n## 1. 目的\n\n文。\n"

    (found,) = outcome("consistency.date_order", cover.format("2026年1月5日")).findings
    same = outcome("consistency.date_order", cover.format("2025年9月1日"))

    assert len(found.evidence) == 2
    assert (same.findings, same.examined) == ((), 1)


@pytest.mark.parametrize(
    ("said", "stated", "counted"),
    [
        ("グラフは、棒・折れ線・ドーナツ・横棒（5種）を描く。", "5", "4"),
        ("利用者は管理者、職員、市民の4種類とする。", "4", "3"),
        ("申請は4種類（新規、変更及び廃止）とする。", "4", "3"),
        ("状態は三段階: 未着手、着手、保留、完了", "3", "4"),
    ],
)
def test_a_number_is_held_against_the_names_beside_it(said, stated, counted):
    (found,) = outcome("consistency.total_mismatch", HEAD + said + "\n").findings

    assert (found.data["stated"], found.data["counted"]) == (stated, counted)


@pytest.mark.parametrize(
    "said",
    [
        "状態は、未着手、着手、完了の3種類とする。",
        "状態は、未着手・着手、保留・停止、完了の3種類とする。",
        "状態は、申請の受付、審査・承認の2段階とする。",
        "状態は、未着手、着手など4種類とする。",
        "個人とは異なり、電話番号、郵便番号、住所の3つを持つ。",
        "画面は、一覧、詳細、登録のうち2画面を作る。",
        "第3段階（審査、承認、通知）を行う。",
        "4種類以上（新規、変更、廃止）を扱う。",
    ],
)
def test_names_that_agree_or_may_be_counted_otherwise_pass(said):
    assert getattr(outcome("consistency.total_mismatch", HEAD + said + "\n"), "findings", ()) == ()


@pytest.mark.parametrize(
    ("said", "rows", "expected"),
    [
        ("定期に動く処理は次の3本である。詳しくは別紙を参照。", 4, [("3", "4")]),
        ("画面を以下の4つの部品に分ける。", 4, []),
        ("次の5件を移す。", 4, [("5", "4")]),
        ("次の3つから選ぶ。", 4, []),
    ],
)
def test_an_announced_number_is_held_against_the_rows_of_the_table_below(
    said: str, rows: int, expected: list[tuple[str, str]]
) -> None:
    listed = "\n".join(f"| 部品{letter} | 役割{letter} |" for letter in "ABCD"[:rows])
    found = outcome("consistency.total_mismatch", f"# 章\n\n{said}\n\n| 名 | 役割 |\n|---|---|\n{listed}\n")
    assert [(each.data["stated"], each.data["counted"]) for each in found.findings] == expected


@pytest.mark.parametrize(("total", "expected"), [("5日", []), ("7日", [("7", "5")])])
def test_a_total_leaves_out_the_rows_that_it_names(total: str, expected: list[tuple[str, str]]) -> None:
    rows = "| 結合 | 2日 |\n| 単体（UT） | 並行して行う |\n| 総合 | 3日 |\n" + f"| 合計（UTを除く） | {total} |\n"
    found = outcome("consistency.total_mismatch", f"# 日程\n\n| 工程 | 期間 |\n|---|---|\n{rows}")
    assert [(each.data["stated"], each.data["counted"]) for each in found.findings] == expected
