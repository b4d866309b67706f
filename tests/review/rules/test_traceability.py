from __future__ import annotations

from dataclasses import replace

import pytest

from knowledge.text.identifier_shapes import Role
from knowledge.text.identifiers import read_families
from tests.review.markdown import outcome_of, rule_input


def table(header: str, *rows: str) -> str:
    width = header.count("|") + 1
    return "\n".join([f"| {header} |", "|" + "---|" * width, *(f"| {row} |" for row in rows)]) + "\n"


def findings(rule: str, text: str, document_type: str = "basic_design"):
    return outcome_of(rule, rule_input(text, document_type=document_type)).findings


def families(text: str):
    target = rule_input(text)
    return {family.prefix: family for family in read_families(target.text, target.sections, target.blocks)}


DEFINED = "## 機能一覧\n\n" + table("機能ID | 名称", "FN-001 | 受付", "FN-002 | 審査", "FN-003 | 通知")


def test_definitions_are_told_from_mentions():
    text = "### FR-001: 受付\n要件ID: FR-002\n\n- **FR-003**: 通知する\n- 受付は FR-009 に従う\n\n" + table(
        "要件ID | 要件名", "FR-004 | 審査"
    )

    fr = families(text)["FR"]

    assert set(fr.defined) == {"FR-001", "FR-002", "FR-003", "FR-004"}
    assert set(fr.references) == {"FR-009"}


def test_a_table_of_links_defines_nothing():
    text = table("要件ID | 対応章", "FR-001 | 3章", "FR-002 | 4章")

    assert not families(text)["FR"].definitions


def test_ranges_are_expanded_and_full_width_is_folded():
    fr = families("対象は ＦＲ－０１０〜FR-012 と FR-020～022 とする。")["FR"]

    assert set(fr.references) == {"FR-010", "FR-011", "FR-012", "FR-020", "FR-021", "FR-022"}


@pytest.mark.parametrize(
    "text",
    [
        "AES-256 と SHA-256、UTF-8 を使う。ISO-9001 と JIS X 0129、RFC-2616 に従う。CVE-2024-12345。",
        "- 文書ID: DES-001\n- 関連文書: REQ-001（要件定義書 v1.2.0）\n\n要件定義書（REQ-001）に基づく。",
        "期間は 2026-01-06 から。Phase A-5 まで。test-doc-001 を読む。",
        "```\nFR-001\n```\n",
    ],
)
def test_standards_documents_dates_and_samples_are_no_identifiers(text):
    assert all(mention.in_code for family in families(text).values() for mention in family.mentions)
    assert findings("traceability.undefined_reference", text) == ()


def test_undefined_references_are_one_finding_per_family():
    text = DEFINED + "\n受付は FN-001、FN-007、FN-009 と NFR-002 を満たす。FN-002、FN-003 も。\n"

    found = findings("traceability.undefined_reference", text)

    assert [finding.data["identifiers"] for finding in found] == [["FN-007", "FN-009"], ["NFR-002"]]
    assert [finding.severity for finding in found] == ["major", "minor"]
    assert found[0].suggestion.example == "| FN-007 | （名称） |"


def test_unreferenced_definitions_are_listed_unless_linked_where_defined():
    text = "## 要望\n\n" + table("ID | 要望 | 対応", "WN-001 | 速く | FN-001", "WN-002 | 楽に | なし") + "\n" + DEFINED

    found = findings("traceability.unreferenced_definition", text)

    assert {finding.data["family"]: finding.data["identifiers"] for finding in found} == {
        "WN": ["WN-002"],
        "FN": ["FN-002", "FN-003"],
    }


def test_tests_registers_and_a_requirement_documents_requirements_need_no_reference():
    text = (
        "## 3. 機能要件\n\n### FR-001: 受付\n文\n\n## 8. リスク\n\n"
        + table("ID | リスク | 対応策", "RISK-001 | 遅延 | 予備日")
        + "\n## 9. 確認\n\n"
        + table("ID | テスト項目 | 期待結果", "E-001 | 登録 | 201")
    )
    roles = {prefix: family.role for prefix, family in families(text).items()}

    assert roles == {"FR": Role.DOWNSTREAM, "RISK": Role.REGISTER, "E": Role.TEST}
    assert findings("traceability.unreferenced_definition", text, "requirements") == ()


def test_one_number_for_two_things_is_a_duplicate():
    text = DEFINED + "\n## 追加機能\n\n" + table("機能ID | 名称", "FN-002 | 帳票出力")

    (found,) = findings("traceability.duplicate_definition", text)

    assert found.data["identifiers"] == ["FN-002"]
    assert found.suggestion.example == "FN-004"


def test_rows_that_identifiers_group_define_nothing_a_second_time():
    items = [f"FN-00{of} | 項目{number} | 文字列" for of in (1, 2, 3) for number in (1, 2)]
    text = DEFINED + "\n## 項目定義\n\n" + table("機能ID | 項目名 | 型", *items)

    assert findings("traceability.duplicate_definition", text) == ()


def test_a_list_and_its_details_are_no_duplicate():
    text = DEFINED + "\n### FN-001: 受付機能\n文\n\n### FN-002: 審査\n文\n"

    assert findings("traceability.duplicate_definition", text) == ()


def test_skipped_numbers_are_named():
    text = table("ID | 要件", "FR-001 | 受付", "FR-002 | 審査", "FR-005 | 通知")

    (found,) = findings("traceability.numbering_gap", text)

    assert found.data["identifiers"] == ["FR-003", "FR-004"]


@pytest.mark.parametrize(
    "numbers",
    [("010", "020", "030", "040"), ("101", "102", "201", "202", "301")],
)
def test_steps_and_blocks_are_no_gaps(numbers):
    text = table("ID | 要件", *(f"FR-{number} | 要件{number}" for number in numbers))

    assert findings("traceability.numbering_gap", text) == ()


def test_a_number_said_to_be_void_is_no_gap():
    text = table("ID | 要件", "FR-001 | 受付", "FR-002 | 審査", "FR-004 | 通知") + "\nFR-003 は第 1.1 版で廃止した。\n"

    assert findings("traceability.numbering_gap", text) == ()


def test_a_plan_whose_tests_name_no_requirement_has_one_finding():
    text = "# 計画書\n\n## 1. 項目\n\n" + table(
        "ID | テスト項目 | 期待結果", "E-001 | 登録 | 201", "E-002 | 削除 | 200"
    )

    (found,) = findings("traceability.no_upstream_reference", text, "test_plan")

    assert found.data["identifiers"] == ["E-001", "E-002"]
    assert found.severity == "major"


def test_tests_linked_to_requirements_pass():
    text = "# 計画書\n\n要件定義書に基づく。\n\n" + table(
        "ID | テスト項目 | 期待結果 | 要件ID", "E-001 | 登録 | 201 | FR-001"
    )

    assert findings("traceability.no_upstream_reference", text, "test_plan") == ()


def test_opposite_tables_must_agree():
    text = (
        table("要件ID | 要件名 | 部品", "FR-001 | 受付 | C-001", "FR-002 | 審査 | C-001")
        + "\n文\n\n"
        + table("部品 | 役割 | 対応要件", "C-001 受付部 | 画面 | FR-001")
    )

    (found,) = findings("traceability.inconsistent_mapping", text)

    assert found.data["pairs"] == [["FR-002", "C-001"]]
    assert found.suggestion.example == "| C-001 受付部 | 画面 | FR-001, FR-002 |"


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (["REQ_01", "REQ_02", "REQ_03"], "REQ"),
        (["NFR.1", "NFR.2", "NFR.3"], "NFR"),
        (["FR-1", "FR-2", "FR-3"], "FR"),
        (["UC01", "UC02", "UC03"], "UC"),
        (["要件-1", "要件-2", "要件-3"], "要件"),
        (["機1-1", "機1-2", "機1-3"], "機1"),
    ],
)
def test_a_documents_own_scheme_of_identifiers_is_learnt_from_its_id_column(names, prefix):
    rows = [f"{name} | 受付する" for name in names]
    last = names[-1][:-1] + "9"
    text = "## 一覧\n\n" + table("番号 | 内容", *rows) + f"\n## 設計\n\n受付（{names[0]}）は {last} に従う。\n"

    family = families(text)[prefix]
    (undefined,) = findings("traceability.undefined_reference", text)

    assert set(family.defined) == set(names)
    assert undefined.data["identifiers"] == [last]
    assert findings("traceability.numbering_gap", text) == ()


def test_gaps_and_ranges_follow_the_documents_own_scheme():
    text = (
        table("要件番号 | 内容", "REQ_01 | 受付", "REQ_02 | 審査", "REQ_04 | 通知") + "\nREQ_01〜REQ_02 を先に作る。\n"
    )

    (gap,) = findings("traceability.numbering_gap", text)

    assert gap.data["identifiers"] == ["REQ_03"]
    assert set(families(text)["REQ"].references) == {"REQ_01", "REQ_02"}


@pytest.mark.parametrize(
    "rows",
    [
        ["図1 | 構成", "図2 | 配置"],
        ["R6.4 | 開始", "R7.3 | 終了"],
        ["V1.0 | 初版", "V1.1 | 改版"],
        ["STEP-1 | 準備", "STEP-2 | 実施"],
        ["A1 | 横", "A2 | 縦"],
    ],
)
def test_figures_dates_editions_and_steps_are_no_scheme(rows):
    assert families(table("番号 | 内容", *rows)) == {}


def test_a_plan_that_names_its_upstream_document_may_refer_to_what_is_defined_there():
    cases = table(
        "項目ID | 根拠 | 手順 | 期待結果",
        "IT-101 | FN-01 | 検索する | 一覧を表示する",
        "IT-102 | FN-02 | 予約する | 受け付ける",
    )

    alone = findings("traceability.undefined_reference", cases, "test_plan")
    named = findings("traceability.undefined_reference", f"外部設計書に基づく。\n\n{cases}", "test_plan")

    assert [found.data["identifiers"] for found in alone] == [["FN-01", "FN-02"]]
    assert named == ()


def test_a_column_of_requirements_in_any_scheme_links_the_tests():
    plan = table(
        "項番 | 要件 | 確認する内容 | 結果", "総-1 | 業-01 | 督促状を出せる | ", "総-2 | 業-02 | 印刷できる | "
    )

    assert findings("traceability.no_upstream_reference", plan, "test_plan") == ()
    assert families(plan)["総"].role is Role.TEST


def test_a_table_of_links_with_english_headers_defines_nothing():
    text = table("Feature ID | Feature", "CAP_F01 | Forms", "CAP_F02 | Files")
    text += "\n## Mapping\n\n" + table("Feature ID | Component", "CAP_F01 | BFF", "CAP_F09 | BFF")

    assert findings("traceability.duplicate_definition", text) == ()
    assert [found.data["identifiers"] for found in findings("traceability.undefined_reference", text)] == [["CAP_F09"]]


def test_a_section_on_an_identifier_and_a_row_of_several_define_it():
    rows = table("ID | 機能", "FR-AU-01/02 | 記録", "FR-AU-03〜05 | 照会", "FR-AU-06 | 集計")
    said = "FR-AU-01 と FR-AU-04 と FR-AU-06 を満たす。SCR-005 へ戻る。"
    text = f"## 1. 機能\n\n{rows}\n## 画面設計（SCR-005）編集\n\n{said}\n"

    assert findings("traceability.undefined_reference", text) == ()
    assert findings("traceability.undefined_reference", text.replace("FR-AU-06 を", "FR-AU-07 を"))


def test_what_a_list_names_and_a_section_describes_is_referred_to():
    rows = table("SQL ID | 名称", "SQL-001 | 検索", "SQL-002 | 登録", "SQL-003 | 削除")
    text = f"## 1. 一覧\n\n{rows}\n## 2. SQL-001 検索\n\n本文。\n\n## 3. SQL-002 登録\n\n本文。\n"

    (found,) = findings("traceability.unreferenced_definition", text)

    assert found.data["identifiers"] == ["SQL-003"]


def test_numbers_of_rows_that_are_still_blank_and_of_each_screen_are_no_duplicates():
    rows = [f"{number} | 項目{number} | 押す" for number in range(1, 6)]
    screens = "".join(
        f"## 画面設計（SCR-00{n}）\n\n" + table("ID | 名称", f"BTN001 | {name}", "LBL001 | 見出し") + "\n"
        for n, name in enumerate(("登録", "更新", "検索"), 1)
    )

    assert findings("traceability.duplicate_definition", table("No | 項目 | 操作", *rows, "6 |  | ", "6 |  | ")) == ()
    assert findings("traceability.duplicate_definition", table("No | 項目 | 操作", *rows, "5 | 項目 | 引く"))
    assert findings("traceability.duplicate_definition", table("機能ID", "1", "2", "3", "3", "4"))
    assert findings("traceability.duplicate_definition", screens) == ()


@pytest.mark.parametrize(
    "link",
    [
        "[貸出の要件](2026-05-29_貸出.md) を元にする。",
        "docs/requirements/lending.md を満たす。",
        "利用の要件を満たす（B-1〜B-5）。",
        "探索は順に行う（既定・FR-L-05）。",
    ],
)
def test_a_link_to_a_paper_of_requirements_or_their_identifiers_is_a_reference(link: str):
    assert findings("traceability.no_upstream_reference", f"# 設計書\n\n## 1. 貸出\n\n{link}\n") == ()
    assert findings("traceability.no_upstream_reference", "# 設計書\n\n## 1. 貸出\n\n要件は別にある。\n")


@pytest.mark.parametrize(
    ("title", "owed"),
    [
        ("貸出の操作マニュアル", {"document.missing_history"}),
        ("打合せ議事録", set()),
        ("貸出設計書", {"document.missing_history", "traceability.no_upstream_reference"}),
    ],
)
def test_manuals_owe_no_link_to_requirements_and_minutes_no_history_either(title: str, owed: set[str]):
    target = replace(rule_input("## 1. 貸出\n\n備品を選ぶ。\n", document_type="basic_design"), title=title)
    rules = ("document.missing_history", "traceability.no_upstream_reference")

    assert {rule for rule in rules if outcome_of(rule, target).findings} == owed


@pytest.mark.parametrize(
    "text", ["```\n# FR-12 の検査\npip install\n```", "依存する部品は requirements/base.txt に書く。"]
)
def test_code_and_a_list_of_packages_are_no_reference_to_requirements(text: str):
    assert findings("traceability.no_upstream_reference", f"# 設計書\n\n## 1. 貸出\n\n{text}\n")
