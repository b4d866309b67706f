from __future__ import annotations

from review.rules import run_rule
from tests.review.markdown import rule_input

SCATTERED = "structure.scattered_requirements"
FIELDS = "consistency.missing_field"
LINKS = "traceability.unsubstantiated_link"


def outcome(rule: str, text: str, document_type: str = "requirements"):
    return run_rule(rule, rule_input(text, document_type=document_type))


def record(number: int, *fields: str) -> str:
    return f"### FR-{number:03}: 要件{number}\n\n" + "".join(f"- **{field}**: 文\n" for field in fields) + "\n"


def test_requirements_outside_their_chapter_are_named():
    text = (
        "# 要件定義書\n\n## 3. 機能要件\n\n"
        + record(1, "説明")
        + record(2, "説明")
        + "## 5. 技術要件\n\n"
        + record(3, "説明")
    )

    (found,) = outcome(SCATTERED, text).findings

    assert found.data["identifiers"] == ["FR-003"]


def test_requirements_in_one_chapter_pass():
    text = "# 要件定義書\n\n## 3. 機能要件\n\n" + record(1, "説明") + record(2, "説明")

    assert outcome(SCATTERED, text).findings == ()


LISTED = "\n\n| 番号 | 名称 |\n|---|---|\n| FR-001 | 検索 |\n| FR-002 | 予約 |\n| FR-003 | 取消 |\n"


def test_a_chapter_called_requirements_is_theirs_in_a_design_too():
    text = "# 設計書\n\n## 2. 要件" + LISTED + "\n## 3. 機能設計\n\nFR-001 を実現する。\n"

    found = outcome(SCATTERED, text, "basic_design")

    assert (found.skip_reason, found.findings, found.examined) == (None, (), 3)


def test_a_skip_says_whether_requirements_or_their_chapter_are_lacking():
    elsewhere = outcome(SCATTERED, "# 設計書\n\n## 2. 概要" + LISTED, "basic_design").skip_reason
    nowhere = outcome(SCATTERED, "# 設計書\n\n## 2. 概要\n\n予約を受け付ける。\n", "basic_design").skip_reason

    assert "要件のための章" in elsewhere.ja
    assert "no chapter is named for them" in elsewhere.en
    assert "要件がないため" in nowhere.ja


def test_a_field_that_most_have_and_one_lacks_is_reported():
    text = "# 要件定義書\n\n## 3. 機能要件\n\n" + "".join(record(n, "説明", "受入基準") for n in (1, 2, 3))
    text += record(4, "説明") + record(5, "説明", "受入基準", "備考")

    (found,) = outcome(FIELDS, text).findings

    assert found.data == {"family": "FR", "field": "受入基準", "identifiers": ["FR-004"], "share": 0.8}


def test_records_that_all_have_their_fields_pass():
    text = "# 要件定義書\n\n## 3. 機能要件\n\n" + "".join(record(n, "説明", "受入基準") for n in (1, 2, 3, 4))

    assert outcome(FIELDS, text).findings == ()
    assert outcome(FIELDS, text).examined == 4


def test_a_requirement_in_the_mapping_table_only_is_reported():
    text = (
        "# 設計書\n\n## 1. 対応\n\n| 設計項目 | 対応要件 |\n|---|---|\n| 2章 構成 | FR-001, FR-002 |\n\n"
        "## 2. 構成\n\n受付は FR-001 を満たす。\n"
    )

    (found,) = outcome(LINKS, text, "basic_design").findings

    assert found.data["identifiers"] == ["FR-002"]


def test_a_table_of_other_things_is_no_mapping():
    text = "# 設計書\n\n## 1. 部品\n\n| 部品 | 対応要件 |\n|---|---|\n| 受付部 | FR-001 |\n"

    assert outcome(LINKS, text, "basic_design").skip_reason


def test_a_design_with_a_chapter_of_requirements_is_judged_and_one_without_is_not():
    text = "# 設計書\n\n## {}\n\n" + record(1, "説明") + record(2, "説明") + "## 5. 受付\n\n" + record(3, "説明")

    (found,) = outcome(SCATTERED, text.format("3. 機能要件"), "basic_design").findings

    assert found.data["identifiers"] == ["FR-003"]
    assert outcome(SCATTERED, text.format("3. 画面"), "basic_design").skip_reason


def test_an_empty_cell_of_acceptance_criteria_is_a_missing_field_and_one_of_remarks_is_not():
    row = "| REQ-0{} | 要件 | {} | |\n"
    table = "# 設計書\n\n## 5. 機能要件\n\n| 要件ID | 要件名 | 受入条件 | 備考 |\n|---|---|---|---|\n"
    rows = [row.format(number, "表示されること") for number in (1, 2, 3, 4)]

    (found,) = outcome(FIELDS, table + "".join(rows) + row.format(5, "")).findings
    whole = outcome(FIELDS, table + "".join(rows))

    assert found.data == {"family": "REQ", "field": "受入条件", "identifiers": ["REQ-05"], "share": 0.8}
    assert (whole.findings, whole.examined) == ((), 4)


def test_rows_without_identifiers_are_held_against_their_own_table():
    rows = "| 受付 | 受け付ける | 高 |\n| 審査 | 審査する | 中 |\n| 通知 | 通知する | 高 |\n| 照会 | 照会する | |\n"
    text = "# 要件定義書\n\n## 3. 機能要件\n\n| 機能名 | 内容 | 優先度 |\n|---|---|---|\n" + rows

    (found,) = outcome(FIELDS, text).findings

    assert (found.data["field"], found.data["identifiers"]) == ("優先度", ["照会"])


def test_a_list_lacks_the_ranks_that_another_list_of_requirements_gives():
    plain = "".join(f"| {n} | 管理 | 機能{n} | 内容である |\n" for n in range(1, 6))
    ranked = "".join(f"| {n} | 管理 | 追加{n} | 内容である | 高 |\n" for n in range(6, 9))
    text = (
        "# 要件定義書\n\n## 3. 機能要件\n\n| No | 分類 | 機能名 | 要件内容 |\n|---|---|---|---|\n"
        + plain
        + "\n## 4. 追加の要件\n\n| No | 分類 | 要件名 | 要件詳細 | 優先度 |\n|---|---|---|---|---|\n"
        + ranked
    )

    (found,) = outcome(FIELDS, text).findings

    assert found.data["field"] == "優先度"
    assert found.data["identifiers"] == [f"機能{n}" for n in range(1, 6)]
    assert not getattr(outcome(FIELDS, text.replace("| 優先度 |", "| 備考 |")), "findings", ())
