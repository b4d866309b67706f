from __future__ import annotations

import pytest

from tests.review.markdown import outcome_of, rule_input


def unfilled(text: str):
    findings = outcome_of("coverage.empty_section", rule_input(text)).findings
    return [[text[span.start : span.end] for span in found.evidence] for found in findings]


def test_bare_sub_headings_below_a_heading_with_other_content_are_found():
    text = "# 研修\n\n（１）対象者\n\n（２）会場\n\n（３）教材\n\n手引を配る。\n"

    assert unfilled(text) == [["（１）対象者", "（２）会場"]]


@pytest.mark.parametrize("value", ["XXXX", "○○○", "未定", "TBD", "××"])
def test_a_value_that_only_holds_a_place_is_found(value):
    text = f"# 概要\n\n**対象**: 窓口\n**受入担当者**: {value}\n"

    assert unfilled(text) == [[f"受入担当者**: {value}"]]


def test_notes_of_what_is_to_be_written_and_fronts_of_identifiers_are_found():
    text = "# 呼び出し\n\n1日あたり【回数を記入】回とする。\n\n【図1】を示す。【別途指示】による。\n"
    table = "# 処理\n\n| 順 | 処理 | 対応機能 |\n|---|---|---|\n| 1 | 受付 | KA-1 |\n| 2 | 追加 | KA- |\n"

    assert unfilled(text) == [["【回数を記入】"]]
    assert unfilled(table) == [["KA-"]]


def test_what_a_template_or_an_unfinished_text_leaves_is_found():
    text = "# 表紙\n\n[会社名]\n\n[氏名](a.md)\n\n## 相手先\n\nXXシステムから得る。\n\n本書は追記中です。\n"

    assert unfilled(text) == [["[会社名]", "XXシステム", "本書は追記中です"]]
    assert unfilled("# 案内\n\n追記中の行は赤で示す。\n") == []


def test_cells_that_hold_a_place_are_one_finding_of_their_table():
    text = "# 体制\n\n| 役 | 氏名 |\n|---|---|\n| 進行 | XXX |\n| 記録 | 佐藤 |\n| 検収 | YYY |\n"

    assert unfilled(text) == [["XXX", "YYY"]]


@pytest.mark.parametrize(
    "text",
    [
        "# 書式\n\n| 項目 | 書式 |\n|---|---|\n| 伝票番号 | XXXX |\n| 日付 | 和暦で書く |\n",
        "# 対象\n\n（１）窓口\n\n文を書く。\n\n（２）倉庫\n\n文を書く。\n",
        "# 対応\n\n| 機能 | 端末 |\n|---|---|\n| 検索 | ○ |\n| 印刷 | 窓口だけ |\n",
        "# 手順\n\n詳しくは別途「窓口手順書」に記載\n",
        "# 手順\n\n各回の手順は別途 steps_2024.xlsx に記載\n",
    ],
)
def test_formats_marks_and_what_another_document_holds_are_no_gaps(text):
    assert unfilled(text) == []


def test_what_is_put_off_without_a_document_is_empty():
    assert unfilled("# 手順\n\n詳細は別途記載\n") == [["# 手順"]]


def test_empty_columns_and_rows_with_a_number_only_are_told_but_what_is_filled_in_later_is_not():
    text = (
        "# 一覧\n\n| ID | 画面名 | 説明 | 備考 | 結果 |\n|---|---|---|---|---|\n| S001 | 検索 |  |  |  |\n"
        "| S002 | 登録 |  |  |  |\n| S003 | 詳細 |  |  |  |\n| S004 |  |  |  |  |\n"
    )

    told = {
        found.data["certainty_kind"]: found.message.ja
        for found in outcome_of("coverage.empty_section", rule_input(text)).findings
    }

    assert set(told) == {"columns", "members"}
    assert "「説明」" in told["columns"]
    assert "「S004」" in told["members"]


def test_what_a_list_names_and_no_section_describes_is_told_where_most_have_one():
    names = ("受付", "審査", "決裁", "交付")
    rows = "\n".join(f"| {number} | {name}画面 |" for number, name in enumerate(names, 1))
    sections = "\n".join(f"## {n}. {name}画面\n\n入力する。\n" for n, name in enumerate(names[:3], 2))
    text = f"# 設計書\n\n## 1. 画面一覧\n\n| No | 画面名 |\n|---|---|\n{rows}\n\n{sections}"

    (found,) = outcome_of("coverage.empty_section", rule_input(text)).findings

    assert found.data["section"] == "交付画面"
    assert unfilled(text + "\n## 5. 交付画面\n\n出力する。\n") == []


def test_what_every_sheet_leaves_open_under_one_name_is_one_finding():
    sheet = "## {0}\n\n| システム名 | 版数 | 作成日 |\n|---|---|---|\n| 予約 | 第　版 | 2026年4月1日 |\n"

    assert unfilled("# 仕様書\n\n" + sheet.format("A01") + "\n" + sheet.format("A02")) == [["第　版", "第　版"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# 表\n\n| 表名 | 用途 |\n|---|---|\n| 職員 | 氏名 |\n| （その他2テーブル） | 別に示す |\n",
            [["その他2テーブル"]],
        ),
        ("# 表\n\n- 職員ほか3画面\n- その他の3件は別に示す。\n", []),
    ],
)
def test_what_is_counted_and_not_named_is_found(text, expected):
    assert unfilled(text) == expected


CASE_ROWS = "".join(f"| {at} | 空欄のまま登録する。 | 「氏名を入力してください」と出る。 |\n" for at in "abcdefghijkl")


@pytest.mark.parametrize(
    ("head", "document_type", "expected"),
    [
        ("| 区分 | 手順 | 期待結果 |", "test_plan", ["unnumbered"]),
        ("| No. | 手順 | 期待結果 |", "test_plan", []),
        ("| 区分 | 手順 | 期待結果 |", "basic_design", []),
    ],
)
def test_a_list_of_cases_has_numbers(head, document_type, expected):
    target = rule_input(f"# 一覧\n\n{head}\n|---|---|---|\n{CASE_ROWS}", document_type=document_type)
    found = outcome_of("coverage.empty_section", target).findings

    assert [each.data.get("certainty_kind") for each in found] == expected


def test_labels_in_a_drawing_whose_number_is_described_below_are_no_bare_sub_headings():
    text = "# 遷移\n\n①貸出\n\n②返却\n\n③一覧\n\n図の説明\n\n① 貸出画面\n\n備品を選ぶ。\n"

    assert unfilled(text) == []
    assert unfilled(text.replace("① 貸出画面", "① 準備")) == [["①貸出", "②返却"]]


def test_empty_headings_in_a_row_are_one_finding():
    text = "# 処理\n\n本文である。\n\n## 受付\n\n## 確認\n\n## 登録\n\n## 結果\n\n記録する。\n"

    assert unfilled(text) == [["## 受付", "## 確認", "## 登録"]]


@pytest.mark.parametrize(
    "text",
    [
        "# 記録\n\n本文である。\n\n## 1.日時 5月9日（火）\n\n## 2.出席者 佐藤、山田\n\n## 3.議題\n\n備品の貸出。\n",
        "# 構成\n\n本文である。\n\n## ├─ 貸出\n\n## └─ 返却\n",
        "# 権限\n\n本文である。\n\n## 対応\n\n| 操作 | 係員 | 利用者 |\n|---|---|---|\n| 貸出 | ○ | × |\n",
        "# 設計書\n\n本文である。\n\n## 目次\n\n### 1, 貸出\n\n### 2, 返却\n\n## 1. 貸出\n\n備品を選ぶ。\n",
    ],
)
def test_a_heading_that_says_all_a_matrix_and_the_table_of_contents_are_not_empty(text: str):
    assert unfilled(text) == []


def test_a_section_that_has_the_identifier_of_a_list_s_row_describes_it():
    rows = "".join(f"| API-00{n} | {name}する |\n" for n, name in enumerate(("貸出", "返却", "検索", "集計")))
    chapters = "".join(f"## {name}する\n\n入力を見る。\n\n" for name in ("貸出", "返却", "検索"))
    text = f"# 設計\n\n## API一覧\n\n| ID | API名 |\n|---|---|\n{rows}\n{chapters}"

    assert unfilled(text) == [["集計する"]]
    assert unfilled(text + "## API-003_月次\n\n入力を見る。\n") == []
