from __future__ import annotations

import pytest

from review.rules import run_rule
from tests.review.markdown import rule_input

FIGURES = "wording.unquantified_requirement"
SUBJECTS = "wording.missing_subject"


def outcome(rule: str, text: str):
    return run_rule(rule, rule_input(text, document_type="requirements"))


def requirements(*rows: str, heading: str = "4.3 可用性要件") -> str:
    table = "| ID | 要件 | 説明 |\n|---|---|---|\n" + "".join(f"| {row} |\n" for row in rows)
    return f"# 要件定義書\n\n## 4. 非機能要件\n\n### {heading}\n\n{table}"


def test_measurable_requirements_without_a_figure_are_one_finding():
    text = requirements(
        "NFR-001 | 稼働率 | 月間 99.9% 以上",
        "NFR-002 | 冗長性 | 十分な冗長性を持つ",
        "NFR-003 | 障害復旧 | 速やかに復旧する",
    )

    (found,) = outcome(FIGURES, text).findings

    assert found.data["identifiers"] == ["NFR-002", "NFR-003"]
    assert found.data["share"] == 0.333


@pytest.mark.parametrize(
    "row",
    [
        "NFR-001 | 応答時間 | ３秒以内に表示する",
        "NFR-001 | 応答時間 | ≤ 5分",
        "NFR-001 | 可用性 | 稼働率は月間 99.5 % 以上とする",
        "NFR-001 | 応答時間 | 0.5 秒以内に表示する",
        "NFR-001 | 復旧 | 1.5 時間以内に復旧する",
        "NFR-001 | 冗長性 | サーバーを二重化する（二重）",
        "NFR-001 | 可用性 | 別紙1 SLA による",
    ],
)
def test_a_figure_or_a_reference_to_one_is_enough(row):
    assert outcome(FIGURES, requirements(row)).findings == ()


def test_the_number_of_the_requirement_is_no_figure():
    assert outcome(FIGURES, "# 要件定義書\n\n### NFR-012: 性能\n\n高速に処理する。\n").findings


def test_the_number_of_a_section_or_a_version_is_no_figure():
    assert outcome(FIGURES, requirements("NFR-001 | 応答時間 | 3.2 時間帯の区分ごとに速やかに表示する")).findings
    assert outcome(FIGURES, requirements("NFR-001 | 応答性能 | 1.1.2 秒単位で速やかに表示する")).findings


def test_qualities_that_no_figure_decides_are_not_judged():
    assert outcome(
        FIGURES, requirements("NFR-005 | アクセス制御 | 権限の範囲で使う", heading="4.2 安全要件")
    ).skip_reason


def test_labelled_items_under_quality_headings_are_requirements_too():
    text = (
        "# 設計書\n\n## 6. 非機能要件\n\n- **可用性**: 安定性を高める\n- **応答時間**: 50ms以内\n- **外観**: 見やすい\n"
    )

    (found,) = outcome(FIGURES, text).findings

    assert found.data["items"] == ["「可用性」"]
    assert text[found.evidence[0].start : found.evidence[0].end] == "可用性**: 安定性を高める"


def test_results_and_means_are_no_demands():
    text = "# 設計書\n\n## 6. 性能試験結果\n\n- 応答時間: 良好\n\n## 7. 性能最適化\n\n- 応答: 非同期にする\n"

    assert outcome(FIGURES, text).skip_reason


@pytest.mark.parametrize(
    "sentence",
    [
        "結果は性能チームが確認するものとする。",
        "設計者は性能管理課に相談すること。",
        "担当者は応答時間設計書を作成しなければならない。",
        "可用性試験を実施すること。",
        "性能リスクの対策は、性能チームと検討すること。",
    ],
)
def test_a_quality_that_begins_a_name_demands_nothing(sentence):
    assert outcome(FIGURES, f"# 設計書\n\n## 5. 手順\n\n{sentence}\n").skip_reason


def test_a_quality_is_judged_beside_such_a_name_and_named_once():
    text = (
        "# 設計書\n\n## 5. 手順\n\n性能チームが、可用性を確認すること。可用性を維持すること。\n\n"
        "性能部品は、応答時間を確保する。\n"
    )

    (found,) = outcome(FIGURES, text).findings

    assert found.data["items"] == ["「可用性」", "「可用性」", "「性能」"]
    assert "3 件に数値がありません: 「可用性」、「性能」（" in found.message.ja


def test_steps_that_nobody_takes_are_one_finding():
    text = (
        "# 計画書\n\n## 5. 障害対応\n\n障害を検知したときは直ちに報告する。運用担当者が一次判断する。\n\n"
        "復旧の可否が判断される。\n"
    )

    (found,) = outcome(SUBJECTS, text).findings

    assert [text[span.start : span.end] for span in found.evidence] == [
        "障害を検知したときは直ちに報告する。",
        "復旧の可否が判断される。",
    ]


def test_functions_of_the_system_and_rows_with_a_role_are_not_reported():
    text = (
        "# 計画書\n\n## 3. 機能\n\n結果を利用画面に通知する。\n\n## 5. 連絡体制\n\n"
        "| 役割 | 内容 |\n|---|---|\n| 統括責任者 | 変更を承認する |\n"
    )

    assert outcome(SUBJECTS, text).findings == ()


def test_the_path_of_an_endpoint_names_no_quality():
    text = "# 設計書\n\n## 3. API\n\n### 3.1 GET /availability - 空き枠\n\n空き枠の一覧を返す。返す値は日付とする。\n"

    assert outcome(FIGURES, text).skip_reason
    assert outcome(FIGURES, text.replace("GET /availability - 空き枠", "可用性")).findings


def test_a_section_named_for_a_quality_and_a_sentence_that_demands_one_are_requirements_too():
    text = (
        "# 基本設計書\n\n## 4. 非機能\n\n### 4.1 性能\n\n検索結果は2秒以内に表示する。\n\n### 4.2 可用性\n\n"
        "十分な可用性を確保する。\n\n## 5. 画面\n\n混雑時も急激なレスポンスの悪化があってはならない。\n"
    )

    (found,) = outcome(FIGURES, text).findings

    assert found.data["items"] == ["「可用性」", "「レスポンス」"]
    assert [text[span.start : span.end] for span in found.evidence] == [
        "十分な可用性を確保する。",
        "混雑時も急激なレスポンスの悪化があってはならない。",
    ]
