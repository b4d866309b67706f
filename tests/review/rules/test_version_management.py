from __future__ import annotations

from datetime import date

import pytest
from openpyxl import Workbook

from knowledge.parsers import ParseLimits
from knowledge.parsers.registry import parse_file
from knowledge.text.dates import first_day
from knowledge.text.structure import build_sections
from review.rules import run_rule
from review.rules.history.edition import parse_version, read_edition
from tests.review.markdown import rule_input

HISTORY = """
## 変更履歴

| 版 | 日付 | 変更内容 |
|---|---|---|
| 1.0 | 2026-01-06 | 初版 |
| 1.1 | 2026-02-01 | 追記 |
"""


def outcome(rule: str, text: str):
    return run_rule(rule, rule_input(text))


def cover(version: str, day: str) -> str:
    return f"# 基本設計書\n\n**文書管理情報**\n- バージョン: {version}\n- 更新日: {day}\n\n## 1. 目的\n文\n{HISTORY}"


@pytest.mark.parametrize(
    ("version", "day"), [("1.1", "2026-02-01"), ("v1.1.0", "令和8年2月1日"), ("第1.1版", "2026/2/1")]
)
def test_a_cover_that_agrees_with_the_newest_entry_passes(version, day):
    result = outcome("document.version_mismatch", cover(version, day))

    assert result.examined == 2
    assert result.findings == ()


def test_an_older_version_and_day_on_the_cover_are_two_findings():
    text = cover("1.0", "2026-01-06")

    found = outcome("document.version_mismatch", text).findings

    assert [finding.data["field"] for finding in found] == ["version", "date"]
    assert [text[span.start : span.end] for span in found[0].evidence] == ["1.0", "1.1"]


def test_a_version_named_in_the_body_is_not_the_documents():
    text = f"# 基本設計書\n\n- バージョン: 1.1\n\n## 1. 構成\n\n- バージョン: 9.9\n{HISTORY}"

    assert outcome("document.version_mismatch", text).findings == ()


def test_a_dated_note_newer_than_the_stated_day_is_a_mismatch_and_no_history():
    text = "# 計画書\n\n## 1. 方針\n文\n\n---\n\n**最終更新**: 2025-12-28\n\n---\n### 更新メモ (2025-12-29)\n- 反映\n"

    (mismatch,) = outcome("document.version_mismatch", text).findings
    (missing,) = outcome("document.missing_history", text).findings

    assert mismatch.data == {"field": "date", "stated": "2025-12-28", "newest": "更新メモ (2025-12-29)"}
    assert "更新メモ" in missing.message.ja


def test_without_a_stated_edition_there_is_nothing_to_compare():
    result = outcome("document.version_mismatch", f"# 設計書\n\n## 1. 目的\n文\n{HISTORY}")

    assert result.skip_reason
    assert not result.findings


def test_a_history_without_entries_is_missing():
    text = "# 設計書\n\n## 1. 目的\n文\n\n## 変更履歴\n\n| 版 | 日付 | 内容 |\n|---|---|---|\n"

    (found,) = outcome("document.missing_history", text).findings

    assert [text[span.start : span.end] for span in found.evidence] == ["## 変更履歴"]


@pytest.mark.parametrize("text", [f"# 設計書\n{HISTORY}", "# 設計書\n\n## 改訂履歴\n\n- 第1版（2026年1月6日）: 初版\n"])
def test_a_table_or_list_of_editions_is_a_history(text):
    assert outcome("document.missing_history", text).findings == ()


def test_editions_are_compared_by_value():
    assert parse_version("Ver.1.2.0") == parse_version("1.2") == parse_version("第１．２版") == (1, 2)
    assert parse_version("Draft") is None
    assert first_day("令和元年5月1日") == date(2019, 5, 1)
    assert first_day("2026-13-40") is None


@pytest.mark.parametrize("day", ["R6.9.30", "令和6.9.30", "2024.9.30", "令和６年９月３０日"])
def test_days_are_read_in_all_customs(day):
    assert first_day(day) == date(2024, 9, 30)


@pytest.mark.parametrize("line", ["第1.3版", "Ver 1.3　　2024.11.8", "（第１．３版）", "改版：1.3"])
def test_an_edition_on_a_line_of_its_own_is_held_against_a_history_of_other_column_names(line):
    history = "| 改版 | 年月日 | 改版内容 |\n|---|---|---|\n| 第1.2版 | 令和6年8月19日 | 見直し |\n"

    (found,) = outcome(
        "document.version_mismatch",
        f"# 基本設計書\n\n{line}\n\n## 更新の記録\n\n{history}\n## 第1章 目的\n\n定める。\n",
    ).findings

    assert (found.data["field"], found.data["newest"]) == ("version", "第1.2版")
    assert outcome("document.missing_history", f"# 設計書\n\n{history}").findings == ()


COVER_LINE = "> **Document No.** CAP-BD-001　**Rev.** 2.0.1　**Last Updated:** 2025-06-20\n\n"


def test_several_fields_on_a_line_are_held_against_a_history_that_is_a_list():
    listed = (
        "## Revision log\n\n- Rev. 1.0.0 (2025-03-31) – Initial\n- Rev. {} ({}) – 2.3 節の誤記\n\n## 1. 目的\n\n文。\n"
    )

    same = outcome("document.version_mismatch", f"# 設計書\n\n{COVER_LINE}{listed.format('2.0.1', '2025-06-20')}")
    other = outcome("document.version_mismatch", f"# 設計書\n\n{COVER_LINE}{listed.format('2.1', '2025-07-01')}")

    assert (same.findings, same.skip_reason) == ((), None)
    assert [found.data["field"] for found in other.findings] == ["version", "date"]


def test_numbers_of_sections_in_a_listed_history_are_no_editions():
    text = "# 設計書\n\n版数：1.1\n\n## 変更履歴\n\n- 第1.1版: 見直し\n- 3.2 節を直した\n\n## 1 目的\n\n文。\n"

    assert outcome("document.version_mismatch", text).findings == ()


def test_the_edition_among_the_particulars_of_a_workbook_is_held_against_its_history(tmp_path):
    book = Workbook()
    history = book.active
    history.title = "変更来歴"
    for row in (("版", "変更日", "変更内容"), ("1.0", "2024-07-01", "新規"), ("1.2", "2024-09-11", "通知の文面を変更")):
        history.append(row)
    book.create_sheet("はじめに").append(["システム名", "健診予約システム", None, "版", "1.1"])
    book.save(tmp_path / "設計書.xlsx")
    parsed = parse_file(tmp_path / "設計書.xlsx", filename="設計書.xlsx", limits=ParseLimits())
    sections = build_sections(parsed.markdown, parsed.blocks)

    edition = read_edition(parsed.markdown, sections, parsed.blocks)

    assert [stated.version for stated in edition.versions] == [(1, 1)]
    assert [entry.version.written for entry in edition.entries if entry.version] == ["1.0", "1.2"]
