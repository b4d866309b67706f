"""Single empty cells of tables that are filled in otherwise, and forms that are filled in with dashes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.review.markdown import outcome_of, rule_input, table

RULE = "coverage.empty_section"
LEVELS = ("高|業務が止まる|15分以内", "中|一部が遅い|", "低|影響がない|翌営業日", "記録|警告だけ|月次で見る")


def found_in(text: str) -> list[str]:
    findings = outcome_of(RULE, rule_input(f"# 設計書\n\n## 1. 一覧\n\n{text}\n")).findings
    return [found.message.ja for found in findings if found.data.get("certainty_kind") == "cells"]


def test_the_one_empty_cell_of_a_column_is_told_by_its_row_and_column():
    assert found_in(table("重大度|影響|着手", *LEVELS)) == ["表の「中・着手」が空です（ほかの行では埋まっています）。"]


def test_a_cell_that_rows_filled_alike_stand_around_is_told_though_others_of_the_column_are_empty():
    rows = [f"3-{number}|値を{number}にする|{number}と出る|OK" for number in range(1, 8)]
    rows[3] = "3-4|値を4にする|4と出る|"
    skipped = ["4-1|対象外のため行わない||", "4-2|対象外のため行わない||"]

    assert found_in(table("ケースNo|操作|期待結果|結果", *rows, *skipped)) == [
        "表の「値を4にする・結果」が空です（ほかの行では埋まっています）。"
    ]


@pytest.mark.parametrize(
    "text",
    [
        table("重大度|影響|備考", *LEVELS),
        table("機能|閲覧|登録", "検索|○|", "登録|○|○", "削除|○|○", "印刷|○|○"),
        table("重大度|影響|着手", *LEVELS[:3]),
        table("月|件数|金額", "4月|3|30円", "5月|4|40円", "6月|5|50円", "合計||120円"),
        table(
            "番号|項目|長さ|領域|桁|初期値の型", "1|氏名|20|漢字|0|文字", "2|予備|-||-|-", *["3|番号|8|数字|0|数"] * 3
        ),
        table("区分|項目", "入力|氏名", "|住所", "出力|帳票", "照会|一覧", "照会|詳細"),
    ],
)
def test_remarks_marks_short_tables_totals_fillers_and_first_columns_are_no_gaps(text: str):
    assert found_in(text) == []


def test_what_a_merged_cell_reaches_into_is_no_gap():
    target = rule_input("# 設計書\n\n## 1. 一覧\n\n" + table("重大度|影響|着手", *LEVELS) + "\n")
    blocks = tuple(replace(b, merged="2:1-2") if b.kind == "table" else b for b in target.blocks)

    assert outcome_of(RULE, replace(target, blocks=blocks)).findings == ()


def test_a_form_filled_in_with_dashes_says_that_there_is_nothing():
    form = "# 画面設計書\n\n本書は画面を定める。\n\n## 1. 一覧表示\n\n" + table("No|領域|並び順", "1|{0}|{0}") + "\n"

    assert outcome_of(RULE, rule_input(form.format("-"))).findings == ()
    assert [each.data["section"] for each in outcome_of(RULE, rule_input(form.format("調整中"))).findings] == [
        "1. 一覧表示"
    ]


def test_columns_are_named_by_the_line_below_the_table_s_title():
    title = "|  | 備品 | items |  |  |  |  |\n|---|---|---|---|---|---|---|\n"
    head = title + "| No | 属性名 | カラム名 | 型 | 桁数 | 主 | 備考 |\n"
    rows = "".join(f"| {n} | 属性{n} | a{n} | {'' if n == 2 else '文字'} |  |  |  |\n" for n in range(1, 6))

    assert found_in(f"# 設計\n\n{head}{rows}") == ["表の「属性2・型」が空です（ほかの行では埋まっています）。"]


def test_the_lines_of_a_header_whose_first_cells_are_empty_name_the_columns_together():
    head = "| No | 属性名 | 期間 |  | 備考 |\n|---|---|---|---|---|\n|  |  | 開始 | 終了 |  |\n"
    rows = "".join(f"| {n} | 属性{n} | {n}月 | {'' if n == 4 else f'{n}日'} | 注 |\n" for n in range(1, 9))

    assert found_in(head + rows) == ["表の「属性4・終了」が空です（ほかの行では埋まっています）。"]
