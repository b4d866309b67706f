from __future__ import annotations

from dataclasses import replace

import pytest

from review.types import RelatedDocument
from tests.review.markdown import outcome_of, rule_input

RULE = "consistency.conflicting_value"


def findings(text: str):
    return outcome_of(RULE, rule_input(text)).findings


def table(header: str, *rows: str) -> str:
    width = header.count("|") + 1
    return "\n".join([f"| {header} |", "|" + "---|" * width, *(f"| {row} |" for row in rows)]) + "\n\n"


def test_a_quantity_with_two_values_is_one_finding_with_both_places():
    text = (
        "# 設計書\n\n## 1. 概要\n\n- **起動時間**: 3秒以内\n\n## 6. 性能要件\n\n"
        + table("項目 | 目標値", "起動時間 | 5 秒以内", "再試行 | 3回")
        + "## 7. まとめ\n\n起動時間は３秒以内とする。\n"
    )

    (found,) = findings(text.replace("目標値", "値"))

    assert found.data["quantity"] == "起動時間"
    assert len(found.evidence) == 3
    assert found.severity == "major"


def test_the_same_value_in_other_words_and_units_passes():
    text = (
        "# 設計書\n\n## 1. 概要\n\n- 起動時間: 3秒以内\n- データ保持容量: 1GB以下\n\n"
        "## 2. 性能\n\n- 起動時間: ３０００ms以下\n- データ保持容量: 1024 MB 以下\n"
    )

    assert findings(text) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("起動時間の目標: 3秒以内", "起動時間の実測: 4秒以内"),
        ("起動時間: 3秒以内", "起動時間: 平均2秒"),
        ("タイムアウト: 30秒", "タイムアウト: 60秒"),
        ("保存対象: 3年", "保存対象: 30件"),
    ],
)
def test_goals_and_results_bounds_generic_labels_and_other_units_are_not_compared(first, second):
    assert findings(f"# 設計書\n\n## 1. 概要\n\n- {first}\n\n## 2. 性能\n\n- {second}\n") == ()


def test_records_of_different_things_are_no_contradiction():
    record = "- 起動方式: 常駐\n- 起動時間: {0}秒\n- 再起動間隔: {1}秒\n- 監視間隔: {2}秒\n\n"
    text = "# 設計書\n\n## 1. 受付\n\n" + record.format(3, 10, 60) + "## 2. 審査\n\n" + record.format(5, 20, 90)

    assert findings(text) == ()


def test_printed_test_results_are_held_against_the_summary():
    text = (
        "# 計画書\n\n## 4. 結果\n\n```\nTest Suites: 15 passed, 15 total\nTests:       279 passed, 279 total\n```\n\n"
        "---\n\n**テスト総数**: 130 passed\n"
    )

    (found,) = findings(text)

    assert found.data["values"] == ["Tests:       279 passed", "テスト総数: 130 passed"]


def test_an_expected_status_that_the_sample_denies_is_reported():
    text = (
        "# 計画書\n\n## 6. 異常系\n\n"
        + table(
            "# | 操作 | データ | 期待結果", "1 | 空文字送信 | title: '' | 400", "2 | SQL注入 | DROP TABLE | 200、無害化"
        )
        + "```javascript\nit('should reject empty title', async () => {\n  expect(res.status).toBe(400);\n});\n\n"
        "it('should sanitize SQL injection', async () => {\n  send({ title: 'DROP TABLE users' });\n"
        "  expect(res.status).toBe(201);\n});\n```\n"
    )

    (found,) = findings(text)

    assert found.data == {"quantity": "SQL注入", "values": ["200", "201"]}
    assert found.location
    assert text[found.location.start : found.location.end] == "200、無害化"


def test_requirements_and_design_that_differ_are_reported_with_both_places():
    design = rule_input("# 基本設計書\n\n## 6. 性能\n\n- 検索応答時間: 5秒以内\n")
    text = "# 要件定義書\n\n## 4. 性能要件\n\n" + table("指標 | 目標値", "検索応答時間 | 3秒以内")
    other = rule_input(text, document_type="requirements")
    related = RelatedDocument(
        document_id="doc_r",
        title="要件定義書",
        document_type="requirements",
        text=text,
        sections=other.sections,
        blocks=other.blocks,
    )

    (found,) = outcome_of(RULE, replace(design, related=(related,))).findings

    assert [span.document for span in found.evidence] == ["", "doc_r"]
    assert "3秒" not in found.message.ja


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("予約データの保存期間は3年とする。", "予約データの保存期間は5年とし、毎日控えを取る。"),
        ("写真は1枚当たり5MBまでとする。", "写真は1枚当たり10MBまでとする。"),
        ("- 写真は1件につき3枚まで添付できる", "写真は1枚10MBまで、1件につき5枚までとする。"),
        ("市内の指定避難所62か所を開く。", "- **説明**: 本部の職員が、指定避難所58か所の開設を登録する。"),
        (
            "| 項目 | 期待結果 |\n|---|---|\n| 画面の応答時間 | 3秒以内 |",
            "画面の応答時間が5秒以内であることを確かめる。",
        ),
    ],
)
def test_what_a_quantity_belongs_to_makes_it_comparable(first, second):
    (found,) = findings(f"# 設計書\n\n## 1 データ\n\n{first}\n\n## 2 運用\n\n{second}\n")

    assert len(found.evidence) == 2
    assert findings(f"# 設計書\n\n## 1 データ\n\n{first}\n\n## 2 運用\n\n{first}\n") == ()


def test_a_document_with_amounts_but_no_two_of_one_thing_is_decided():
    rule = "consistency.conflicting_value"

    assert outcome_of(rule, rule_input("# 設計書\n\n7世代を保管し、30分後に止める。\n")).skip_reason is None
    assert outcome_of(rule, rule_input("# 設計書\n\n方針を定める。\n")).skip_reason is not None


def test_how_a_value_came_to_be_is_not_what_it_is():
    rows = "| 段階 | {0} |\n|---|---|\n| 第一段階 | {1} |\n| 第二段階 | 9件 |\n"
    said = "# 計画\n\n## 1 実績\n\n{0}\n\n## 2 経緯\n\n{1}\n"

    second = rows.format("値", "4件")
    assert findings(said.format(rows.format("値", "5件 → 3件追加して 8件"), second)) == ()
    assert findings(said.format(rows.format("値", "8件"), second))
