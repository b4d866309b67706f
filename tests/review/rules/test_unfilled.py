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
