from __future__ import annotations

from dataclasses import replace

import pytest

from review.types import RelatedDocument, RuleInput
from tests.review.markdown import outcome_of, rule_input

DANGLING = "traceability.dangling_reference"
CONTENTS = "structure.toc_mismatch"
NAMES = "consistency.name_mismatch"
CHAPTERS = "# 設計書\n\n## 1. 目的\n\n{0}\n\n## 2. 構成\n\n文。\n\n### 2.1 機器\n\n文。\n\n## 付録A 一覧\n\n文。\n"


def outcome(rule: str, text: str, **more):
    return outcome_of(rule, replace(rule_input(text), **more))


def related(text: str, document_type: str = "requirements") -> tuple[RelatedDocument, ...]:
    read = rule_input(text, document_type=document_type)
    return (
        RelatedDocument(
            document_id="doc_r",
            title="要件定義書",
            document_type=document_type,
            text=text,
            sections=read.sections,
            blocks=read.blocks,
        ),
    )


def test_references_to_sections_that_are_not_there_are_one_finding():
    text = CHAPTERS.format("構成は第２章、機器は2.1節、監視は第5章、保守は3.2 を参照。一覧は付録A、様式は付録Bに示す。")

    (found,) = outcome(DANGLING, text).findings

    assert found.data["references"] == ["第5章", "3.2", "付録B"]
    assert [text[span.start : span.end].strip() for span in found.evidence] == ["第5章", "3.2", "付録B"]


@pytest.mark.parametrize(
    "text",
    [
        "標準ガイドライン第7章に従う。要件定義書の3.2節を満たす。第3編第4章による。",
        "版は 3.2 とし、1.5 倍の余裕を見る。",
        "別紙1を参照する。",
        "機能を表 9.1 に示す。遷移は図 9.2 のとおり。",
        "`第9章`",
    ],
)
def test_other_documents_and_plain_numbers_are_no_references(text):
    assert outcome(DANGLING, CHAPTERS.format(text)).findings == ()


def test_a_number_with_the_title_of_a_section_refers_to_it():
    text = CHAPTERS.format(
        "- 9.2 機器に従うこと\n- 項目は、9.3. 機器を参照\n- 2.1 機器に従うこと\n- 9.4 職員は規程に従うこと"
    )

    (found,) = outcome(DANGLING, text).findings

    assert found.data["references"] == ["9.2 機器", "9.3. 機器"]
    assert outcome(DANGLING, CHAPTERS.format("- 9.2 機器に従うこと").replace("2.1 機器\n", "機器\n")).findings == ()


def test_a_document_without_numbers_is_not_judged_by_them():
    assert outcome(DANGLING, "# 設計書\n\n## 目的\n\n第3章を参照。\n").skip_reason


@pytest.mark.parametrize(
    ("more", "expected"),
    [("", ["ER図"]), ("\n\nER図は次のとおり。", None), ("\n\n![構成](a.png)", None)],
)
def test_a_figure_that_is_named_and_nowhere_else_spoken_of_is_not_there(more, expected):
    found = outcome(DANGLING, CHAPTERS.format(f"残りの2つの表はER図参照。上図を参照。{more}")).findings

    assert [each.data["references"] for each in found] == ([expected] if expected else [])


def test_links_to_anchors_that_are_not_there_are_reported():
    text = CHAPTERS.format("[構成](#2-構成)と[監視](#3-監視)を見る。")

    (found,) = outcome(DANGLING, text).findings

    assert found.data["references"] == ["[監視](#3-監視)"]


def test_a_section_of_a_related_document_is_looked_up_there():
    text = CHAPTERS.format("性能は要件定義書4.1節、保守は要件定義書の9.9節による。")
    requirements = related("# 要件定義書\n\n## 4. 非機能要件\n\n### 4.1 性能\n\n文。\n")

    (found,) = outcome(DANGLING, text, related=requirements).findings

    assert found.data["references"] == ["要件定義書 9.9節"]


GLUED = (
    "# 要件定義書\n\n## 目次\n\n第1章 業務要件1.1 背景と目的1.2 業務の概要2\n\n# 第1章 業務要件\n\n"
    "1.1 背景と目的日々の業務で使う。\n\n1.2 {0}この章で述べる。\n"
)


def test_entries_and_headings_that_run_into_each_other_are_told_apart():
    """A PDF may have lost the line breaks of its table of contents, and those behind its headings."""
    (found,) = outcome(CONTENTS, GLUED.format("システムの概要")).findings

    assert found.data["not_in_text"] == ["1.2 業務の概要2"]
    assert any("システムの概要" in GLUED.format("システムの概要")[span.start : span.end] for span in found.evidence)
    assert outcome(CONTENTS, GLUED.format("業務の概要")).findings == ()


TOC = (
    "# 設計書\n\n## 目次\n\n{0}\n\n## 1. 目的\n\n文。\n\n### 1.1 背景\n\n文。\n\n"
    "## 2. 構成\n\n文。\n\n## 3. 運用\n\n文。\n"
)


@pytest.mark.parametrize(
    "lines",
    [
        "- [1. 目的](#1-目的)\n- [2. 構成](#2-構成)\n- [3. 運用](#3-運用)",
        "1. [目的](#1-目的)\n2. [構成](#2-構成)\n3. [運用](#3-運用)",
        "１．目的 ……… 3\n\n２．構成 ……… 5\n\n３．運用 ……… 9",
    ],
)
def test_a_table_of_contents_that_agrees_passes(lines):
    result = outcome(CONTENTS, TOC.format(lines))

    assert result.findings == ()
    assert result.examined == 3


UNTITLED = (
    "表紙\n\n| 版 | 日付 |\n|---|---|\n| 1 | 8月 |\n\n- 1. 目的 … 1\n- 2. 構成 … 1\n  - 2.1 機器 … 2\n- {0} … 3\n\n"
)


def test_a_table_of_contents_without_a_title_is_known_by_its_lines():
    body = "# 1. 目的\n\n文。\n\n# 2. 構成\n\n文。\n\n## 2.1 機器\n\n文。\n\n# 3. 運用\n\n文。\n"
    (found,) = outcome(CONTENTS, UNTITLED.format("3. 保守") + body).findings

    assert found.data["not_in_text"] == ["3. 保守"]
    assert outcome(CONTENTS, UNTITLED.format("3. 運用") + body).examined == 4
    assert outcome(CONTENTS, body + UNTITLED.format("3. 運用")).skip_reason
    figures = "- 図1 全体 … 1\n- 図2 機器 … 1\n- 図3 画面 … 2\n- 図4 帳票 … 3\n\n"
    assert outcome(CONTENTS, figures + body).skip_reason


def test_lost_renamed_and_unlisted_headings_are_one_finding():
    (found,) = outcome(CONTENTS, TOC.format("- 1. 目的\n- 2. システム構成\n- 4. 移行")).findings

    assert found.data == {
        "not_in_text": ["2. システム構成", "4. 移行"],
        "renumbered": [],
        "not_in_contents": ["3. 運用"],
        "share": 0.333,
    }


def test_another_number_for_the_same_heading_is_reported():
    (found,) = outcome(CONTENTS, TOC.format("- 1. 目的\n- 3. 構成\n- 4. 運用")).findings

    assert found.data["renumbered"] == ["3. 構成", "4. 運用"]


def test_without_a_table_of_contents_there_is_nothing_to_judge():
    assert outcome(CONTENTS, "# 設計書\n\n## 1. 目的\n\n文。\n").skip_reason


COMPONENTS = (
    "# 設計書\n\n## 1. 部品\n\n| 部品ID | 名称 | 役割 |\n|---|---|---|\n"
    "| CMP-01 | 受付部 | 申請を受ける |\n| CMP-02 | 審査部 | 申請を審査する |\n\n"
)


def test_a_name_beside_an_id_that_is_anothers_is_reported():
    text = COMPONENTS + "申請は CMP-01（受付部）が受け、CMP-02（通知部）が審査する。\n"

    (found,) = outcome(NAMES, text).findings

    assert found.data["identifiers"] == ["CMP-02"]
    assert found.suggestion.example == "CMP-02（審査部）"


@pytest.mark.parametrize("beside", ["（受付部を参照）", "（必須）", "（受付）", "（Reception）"])
def test_remarks_shorter_names_and_names_in_another_language_pass(beside):
    assert outcome(NAMES, COMPONENTS + f"申請は CMP-01{beside}による。\n").findings == ()


def test_names_of_a_related_documents_requirements_are_compared_and_not_quoted():
    requirements = related("# 要件定義書\n\n### FR-001: 図書予約\n文\n")

    (found,) = outcome(NAMES, "# 設計書\n\n貸出は FR-001（返却受付）による。\n", related=requirements).findings

    assert [span.document for span in found.evidence] == ["", "doc_r"]
    assert "図書予約" not in found.message.ja
    assert found.suggestion.example is None


def test_a_list_under_a_line_that_is_no_heading_is_a_table_of_contents():
    text = "# 設計書\n\n[目次]\n\n- １．目的\n- ２．{}\n\n## １．目的\n\n文。\n\n## ２．構成\n\n文。\n"

    same, other = (outcome_of(CONTENTS, rule_input(text.format(title))) for title in ("構成", "運用"))

    assert (same.findings, same.skip_reason) == ((), None)
    assert len(other.findings) == 1


def test_a_paper_without_a_name_cannot_be_looked_up():
    found = outcome_of(
        "traceability.dangling_reference", rule_input("# 要件\n\n## 1. 図\n\n別途の資料を参考とする。\n")
    ).findings

    assert [each.data["references"] for each in found] == [["別途の資料を参考"]]


def workbook(*lines: str, sheet: str = "3.2. 明細レコード") -> RuleInput:
    contents = "\n\n".join(lines)
    headings = "\n\n".join(
        f"## {title}\n\n内容を示す。" for title in ("1. 概要", "2. 構成", "3.1. 先頭レコード", sheet)
    )
    target = rule_input(f"# 仕様書\n\n## 目次\n\n{contents}\n\n{headings}\n")
    return replace(target, blocks=tuple(replace(block, sheet="表") for block in target.blocks))


def test_the_contents_of_a_workbook_are_compared_by_number():
    lines = ("1. 概要", "2. 構成", "3.1. 先頭レコード", "3.2. 利用者レコード", "添付資料")

    (found,) = outcome_of(CONTENTS, workbook(*lines)).findings

    assert found.data["not_in_text"] == ["3.2. 利用者レコード"]
    assert outcome_of(CONTENTS, workbook(*lines[:3], "3.2. 明細レコード", "添付資料")).findings == ()
    assert outcome_of(CONTENTS, workbook(*lines, sheet="3.2. 利用者")).findings == ()


def test_contents_that_name_sheets_only_are_no_list_of_headings():
    assert outcome_of(CONTENTS, workbook("1. 表紙", "2. 変更履歴", "3.1. 先頭レコード", "3.2. 集計")).skip_reason
