"""Which of the topics that a document leaves out it owes itself, and which another document usually has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review.types import FindingDraft, RuleInput
from tests.review.markdown import outcome_of, rule_input
from tests.shipped_topics import load_topics

RULE = "coverage.missing_topic"
BODY = "# {title}\n\n## 1. 目的\n受付を電子化する。\n\n## 2. 監視\n5 分ごとに死活監視を行う。\n{more}"
CASES = "# 結合テスト\n\n| No | テスト内容 | 想定結果 | 結果 |\n| --- | --- | --- | --- |\n" + "".join(
    f"| {number} | 氏名を空欄にして登録ボタンを押す。 | 「氏名を入力してください」と表示される。 | OK |\n"
    for number in range(1, 13)
)


def design(title: str = "受付システム基本設計書", more: str = "") -> RuleInput:
    text = BODY.format(title=title, more=more)
    return replace(rule_input(text, topics=load_topics("basic_design")), title=title)


def left_to_others(target: RuleInput) -> FindingDraft | None:
    found = [each for each in outcome_of(RULE, target).findings if each.data["certainty_kind"] == "elsewhere"]
    assert len(found) <= 1
    return found[0] if found else None


def missing(target: RuleInput) -> set[str | None]:
    return {each.data["topic"] for each in outcome_of(RULE, target).findings}


def test_topics_that_nothing_in_the_document_calls_for_are_one_finding_that_is_no_defect():
    found = left_to_others(design())

    assert found is not None
    assert found.data["topics"] == ["nfr_migration", "test_policy"]
    assert (found.severity, found.data["topic"]) == ("info", None)
    assert found.message.ja.startswith("「移行性」、「テスト方針」を主題とする見出しや記述が見当たりません。")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("現行システムのデータを使う。", "nfr_migration"),
        ("台帳のデータは新年度に引き継ぐ。", "nfr_migration"),
        ("結合テストの結果を見る。", "test_policy"),
    ],
)
def test_what_the_document_itself_speaks_of_is_due(more: str, code: str):
    target = design(more=f"\n## 3. その他\n{more}\n")
    found = left_to_others(target)

    assert found is not None
    assert code not in found.data["topics"]


def test_a_document_on_one_topic_owes_that_one_and_what_is_said_of_every_document():
    target = design(title="受付システム データベース設計書")
    found = left_to_others(target)

    assert found is not None
    assert {"nfr_availability", "interface_design"} <= set(found.data["topics"])
    assert {"data_design", "scope", "glossary"} <= missing(target)
    assert "データ設計" in found.message.ja


@pytest.mark.parametrize("more", ["担当が替わるときは後任に引き継ぐ。", "表示するタブを切り替える。"])
def test_people_who_follow_and_switches_of_a_screen_call_for_no_migration(more: str):
    assert "nfr_migration" in (found.data["topics"] if (found := left_to_others(design(more=more))) else ())


@pytest.mark.parametrize(
    ("title", "own"),
    [
        ("受付システム移行計画書", "nfr_migration"),
        ("運用マニュアル（受付システム）", "nfr_operation"),
        ("B02_移行計画書_受付システム.xlsx", "nfr_migration"),
        ("02_外部インタフェース設計書.docx", "interface_design"),
    ],
)
def test_a_plan_or_a_manual_is_on_what_its_title_says(title: str, own: str):
    found = left_to_others(design(title=title))

    assert found is not None
    assert {"nfr_availability", "nfr_performance"} <= set(found.data["topics"])
    assert own not in found.data["topics"]


@pytest.mark.parametrize("title", ["受付システム 運用手順書", "運用マニュアル（受付システム）", "セキュリティ対策要領"])
def test_the_title_of_a_manual_alone_treats_no_topic(title: str):
    text = "# 窓口\n\n## 1. 画面の開き方\n\n1. 管理の画面を開く。\n2. 「編集」を押す。\n"
    target = replace(rule_input(text, topics=load_topics("basic_design")), title=title)

    assert ("nfr_security" if "セキュリティ" in title else "nfr_operation") in missing(target)


@pytest.mark.parametrize("title", ["受付システム基本設計書", "要件定義書", "運用テスト計画書", "A1_基本設計書_運用.md"])
def test_a_document_on_the_whole_system_is_on_no_single_topic(title: str):
    assert "nfr_availability" in missing(design(title=title))


@pytest.mark.parametrize(
    "title",
    [
        "F1_画面設計書_登録.xlsx",
        "システム機能設計書（画面）",
        "受付システム 詳細設計書",
        "バッチ処理設計書",
        "API仕様書",
        "受付システム API 仕様書",
    ],
)
def test_a_design_of_a_part_leaves_what_is_of_the_whole_system_to_others(title: str):
    found = left_to_others(design(title=title))

    assert found is not None
    assert {"nfr_availability", "nfr_security", "system_architecture"} <= set(found.data["topics"])
    assert found.severity == "minor"
    assert "設計の一部" in found.message.ja
    assert {"scope", "glossary"} <= missing(design(title=title))


@pytest.mark.parametrize(
    "title", ["基本設計書（画面編）", "機能要件定義書", "受付システム方式設計書", "概要設計書_詳細設計方針"]
)
def test_what_the_title_says_besides_makes_no_part(title: str):
    assert "nfr_availability" in missing(design(title=title))


def test_a_workbook_without_a_title_is_what_its_file_is_called():
    named = replace(design(title=""), document_name="画面設計書_STEP1.xlsx")

    assert "設計の一部" in (found.message.ja if (found := left_to_others(named)) else "")
    assert "nfr_availability" in missing(replace(named, title="受付システム基本設計書"))


@pytest.mark.parametrize(
    "title", ["受付システム 引き継ぎ手順書", "環境構築マニュアル", "データ移行ガイド", "Deployment runbook"]
)
def test_instructions_owe_what_they_are_for_and_no_design(title: str):
    found = left_to_others(design(title=title))

    assert found is not None
    assert {"glossary", "nfr_availability", "data_design"} <= set(found.data["topics"])
    assert found.severity == "minor"
    assert "scope" in missing(design(title=title))


def test_minutes_owe_no_topic_of_a_design():
    (found,) = outcome_of(RULE, design(title="第 3 回 打合せ議事録")).findings

    assert {"scope", "glossary", "nfr_availability"} <= set(found.data["topics"])
    assert "議事の記録" in found.message.ja


def test_a_list_of_test_cases_is_no_test_plan():
    target = rule_input(CASES, document_type="test_plan", topics=load_topics("test_plan"))

    (found,) = outcome_of(RULE, target).findings

    assert {"tp_schedule", "tp_entry_criteria", "tp_risk"} <= set(found.data["topics"])
    assert "テストケースの一覧" in found.message.ja


def test_a_plan_with_cases_stays_a_plan():
    target = rule_input(CASES, document_type="test_plan", topics=load_topics("test_plan"))

    assert "tp_schedule" in missing(replace(target, title="結合テスト計画書"))


def test_who_wrote_minutes_is_not_told_to_add_the_sections_of_a_design():
    found = left_to_others(replace(design("打合せ議事録"), document_name="議事録.docx"))

    assert found is not None
    assert "節を設け" not in found.suggestion.content.ja
    assert "add sections" not in found.suggestion.content.en
