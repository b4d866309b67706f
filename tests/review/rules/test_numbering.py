from __future__ import annotations

from dataclasses import replace

import pytest

from review.types import RuleInput
from tests.review.markdown import outcome_of, rule_input


def findings(rule: str, text: str):
    return outcome_of(rule, rule_input(text)).findings


def test_a_number_used_twice_is_one_finding_with_both_places():
    text = "# 設計書\n## 1. 目的\n文\n## 2. 構成\n文\n## 2. 機能\n文\n"

    (found,) = findings("structure.duplicate_number", text)

    assert found.data["numbers"] == ["2"]
    assert [text[span.start : span.end] for span in found.evidence] == ["## 2. 構成", "## 2. 機能"]


def test_repeated_subsections_are_folded_into_their_repeated_chapter():
    text = "## 6. 実装\n### 6.1 画面\n文\n## 6. 非機能\n### 6.1 性能\n文\n"

    (found,) = findings("structure.duplicate_number", text)

    assert found.data["numbers"] == ["6", "6.1"]


def test_steps_and_parts_number_on_their_own():
    text = (
        "# 第一部\n## 1. 目的\n### 1.1 手順\n#### 1. 起動\n文\n#### 2. 停止\n文\n### 1.2 操作\n#### 1. 起動\n文\n"
        "# 別冊\n## 1. 目的\n文\n## 2. 範囲\n文\n"
    )

    assert findings("structure.duplicate_number", text) == ()
    assert findings("structure.number_order", text) == ()


def test_quantities_and_annex_letters_are_no_numbers():
    text = "## 1. 概要\n### 3D描画\n文\n### 2024年度の計画\n文\n### A. 用語\n文\n## 2. 構成\n文\n"

    assert findings("structure.number_order", text) == ()


def test_a_skipped_number_names_what_is_missing():
    (found,) = findings("structure.number_order", "## 1. 目的\n文\n## 2. 構成\n文\n## 4. 運用\n文\n")

    assert found.data["missing"] == ["3"]
    assert "3 がありません" in found.message.ja


def test_swapped_sections_are_one_slip():
    text = "## 5. 処理\n### 5.1 起動\n文\n### 5.2 走査\n文\n### 5.4 再生\n文\n### 5.3 検索\n文\n## 6. 誤り\n文\n"

    (found,) = findings("structure.number_order", text)

    assert found.data["numbers"] == ["5.2", "5.4", "5.3"]
    assert found.data["missing"] == []


def test_chapters_one_level_too_deep_go_on_with_their_series():
    text = "# 8. 記録\n## 8.1 方針\n文\n## 9. 画面\n文\n## 10. 目標\n文\n## 8.2 移行\n文\n"

    (found,) = findings("structure.number_order", text)

    assert "8.2" in found.message.ja


def test_a_subsection_numbered_for_another_chapter_is_out_of_order():
    (found,) = findings("structure.number_order", "## 6. 実装\n文\n## 7. 連携\n### 5.1 クラス図\n文\n## 8. 運用\n文\n")

    assert found.data["expected"] == "7.1"
    assert "5 に属する番号" in found.message.ja


def test_headings_in_a_broken_code_fence_are_no_gap_but_a_finding_of_their_own():
    text = "## 1. 目的\n文\n```\n図\n```\n余り\n```\n## 2. 構成\n```\n本文\n\n## 3. 運用\n文\n"

    assert findings("structure.number_order", text) == ()
    (found,) = findings("structure.swallowed_heading", text)
    assert found.data["titles"] == ["2. 構成"]
    assert [text[span.start : span.end] for span in found.evidence] == ["## 2. 構成"]


def test_markdown_shown_in_code_is_no_swallowed_heading():
    text = "## 1. 目的\n```\n## 5. 見出しの例\n```\n## 2. 構成\n文\n"

    assert findings("structure.swallowed_heading", text) == ()


def test_level_jumps_are_one_finding():
    (found,) = findings("structure.skipped_level", "# 設計書\n## 構成\n#### 詳細\n文\n## 運用\n#### 監視\n文\n")

    assert [jump["title"] for jump in found.data["jumps"]] == ["詳細", "監視"]
    assert found.suggestion.example == "### 詳細"


def test_a_document_without_numbers_is_not_judged():
    outcome = outcome_of("structure.number_order", rule_input("# 表題\n文\n"))

    assert outcome.skip_reason
    assert outcome.examined == 0


def _on_sheets(text: str, sheets: dict[str, str]) -> RuleInput:
    """The Markdown with its headings on the sheets that ``sheets`` names them for."""
    target = rule_input(text)
    blocks, sheet = [], None
    for block in target.blocks:
        sheet = sheets.get(text[block.start : block.end].strip(), sheet)
        blocks.append(replace(block, sheet=sheet))
    return replace(target, blocks=tuple(blocks))


def test_numbering_may_begin_anew_below_the_title_of_a_sheet():
    text = "## 要員\n### 4．要員\n### 1．担当\n文\n### 2．期間\n文\n## 費用\n### 5．費用\n### 1．内訳\n文\n"
    target = _on_sheets(text, {"## 要員": "要員", "## 費用": "費用"})

    for rule in ("structure.number_order", "structure.duplicate_number", "coverage.empty_section"):
        assert outcome_of(rule, target).findings == ()
    assert len(findings("structure.number_order", text)) == 2


def test_a_chapter_whose_parts_are_sheets_needs_none_of_its_own():
    text = "## 1. 仕様\n文\n## 2. 構成\n文\n## 3.1. 先頭\n文\n## 3.2. 明細\n文\n"
    target = _on_sheets(text, {"## 1. 仕様": "1", "## 2. 構成": "2", "## 3.1. 先頭": "3.1", "## 3.2. 明細": "3.2"})

    assert outcome_of("structure.number_order", target).findings == ()
    assert findings("structure.number_order", text)


def test_a_number_left_out_below_the_title_of_a_sheet_is_found():
    text = "## 要員\n### 4．要員\n### 1．担当\n文\n### 3．期間\n文\n"

    (found,) = outcome_of("structure.number_order", _on_sheets(text, {"## 要員": "要員"})).findings

    assert found.data["missing"] == ["2"]


def reported(rule_id: str, *headings: str) -> list[str]:
    text = "".join(f"{heading}\n\n本文。\n\n" for heading in headings)
    return [found.message.ja for found in outcome_of(rule_id, rule_input(text)).findings]


STEPS = (
    "# 5. 貸出",
    "## 5.1 受付",
    "### 1. 申請",
    "### 2. 確認",
    "## 5.2 返却",
    "### 1. 検品",
    "### 2. 記録",
    "# 6. 集計",
)
RECORDS = [f"# {n}. {name}" for _ in range(3) for n, name in enumerate(("日時", "議事", "予定"), 1)]


@pytest.mark.parametrize("rule_id", ["structure.number_order", "structure.duplicate_number"])
def test_steps_below_a_section_and_records_in_a_row_have_numbers_of_their_own(rule_id: str):
    levels = tuple(f"# {heading.lstrip('# ')}" for heading in STEPS)

    assert reported(rule_id, *STEPS) == []
    assert reported(rule_id, *levels) == []
    assert reported(rule_id, *RECORDS) == []


def test_a_chapter_that_comes_twice_or_too_early_is_still_reported():
    twice = ("# 1. 概要", "## 1.1 目的", "# 2. 貸出", "## 2.1 受付", "# 2. 返却", "## 2.1 検品")
    early = ("# 1. 概要", "## 1.1 目的", "# 2. 貸出", "## 2.1 受付", "# 1. 返却", "## 1.1 検品")

    assert len(reported("structure.duplicate_number", *twice)) == 1
    assert len(reported("structure.number_order", *early)) == 1


def test_slips_of_one_kind_are_one_finding_from_four_on():
    headings = [f"## {chapter}.{part} 節" for chapter in range(1, 7) for part in (1, 2)]

    (one,) = reported("structure.number_order", *headings)
    assert "5 か所あります（1.2 → 2.1、" in one
    assert len(reported("structure.number_order", *headings[:6])) == 2
