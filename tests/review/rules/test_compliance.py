from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from knowledge.guidelines import imports
from knowledge.types.requirements import Article, RequiredElement
from review.types import RuleOutcome, Severity
from tests.review.markdown import outcome_of, rule_input

NAME = "設計書作成指針"


def article(number: str, title: str, *elements: RequiredElement, **more) -> Article:
    facts = {"document_types": ("basic_design",), "severity": "major", **more}
    return Article(
        code=f"GL-{number}",
        number=number,
        title=title,
        guideline="guide",
        guideline_name=NAME,
        prefix="GL-",
        edition=2,
        elements=elements,
        **facts,
    )


CHAPTER = article("2", "非機能要件", document_types=())
PERFORMANCE = article(
    "2.1",
    "性能要件",
    RequiredElement(name="目標値", patterns=(r"\d+\s*秒",)),
    RequiredElement(name="測定条件", words=("測定条件", "測定方法")),
    headings=("性能", "性能設計"),
)
MONITORING = article("3", "監視", RequiredElement(name="監視項目", words=("監視項目",)), headings=("運用監視",))
API = article("4", "API仕様", RequiredElement(name="エンドポイント"), applies_when=(r"\bAPI",))
GUIDE = (CHAPTER, PERFORMANCE, MONITORING, API)


def run(rule: str, text: str, articles=GUIDE, document_type="basic_design", **params) -> RuleOutcome:
    target = replace(rule_input(text, document_type=document_type, params=params), articles=tuple(articles))
    return outcome_of(rule, target)


def absent(text: str, **more) -> dict[str, str]:
    found = run("compliance.article_not_addressed", text, **more).findings
    return {finding.data["article"]: finding.data["status"] for finding in found}


def missing(text: str, **more) -> dict[str, list[str]]:
    found = run("compliance.required_element_missing", text, **more).findings
    return {finding.data["article"]: finding.data["missing_elements"] for finding in found}


DESIGN = """# 設計書

## 目次

- 1. 性能
- 2. 運用監視

## 1. 性能

検索の応答時間は３秒以内とする。測定方法は負荷試験計画に従う。

## 2. 運用

監視は別の文書で述べる。
"""


def test_an_article_that_only_the_contents_list_and_the_words_name_is_not_addressed():
    assert absent(DESIGN) == {"GL-3": "mentioned"}


def test_an_article_treated_in_a_section_with_its_elements_gives_no_finding():
    assert missing(DESIGN) == {}
    assert absent(DESIGN.replace("## 2. 運用", "## 2. 運用監視").replace("監視は別", "監視項目は別")) == {}


def test_a_heading_without_content_is_empty_and_its_place_is_shown():
    (found,) = run(
        "compliance.article_not_addressed",
        DESIGN.replace("監視は別の文書で述べる。", "TBD").replace("## 2. 運用", "## 2. 運用監視"),
    ).findings
    assert found.data["status"] == "empty"
    assert found.severity is Severity.MAJOR
    assert found.suggestion is not None
    assert "監視項目" in found.suggestion.content.ja


def test_a_missing_element_is_listed_and_the_found_one_has_its_span():
    text = "# 設計書\n\n## 1. 性能\n\n応答時間は３秒以内とする。\n\n## 2. 運用監視\n\n監視項目は次のとおり。\n"
    (found,) = run("compliance.required_element_missing", text).findings
    assert found.data["missing_elements"] == ["測定条件"]
    (shown,) = found.data["found_elements"]
    assert text[shown["start_offset"] : shown["end_offset"]] == "３秒"
    assert found.searched == ("1. 性能",)
    assert [text[span.start : span.end] for span in found.evidence] == ["## 1. 性能", "３秒"]


def test_an_element_elsewhere_in_the_document_does_not_count_unless_it_has_its_own_section():
    text = "# 設計書\n\n## 1. 性能\n\n応答時間は3秒以内とする。\n\n## 2. 運用監視\n\n監視項目の測定方法を定める。\n"
    assert missing(text) == {"GL-2.1": ["測定条件"]}
    assert missing(text + "\n## 3. 測定条件\n\n200人が同時に利用する。\n") == {}


def test_a_section_under_another_name_that_holds_the_elements_treats_the_article():
    text = "# 設計書\n\n## 1. 速さの目安\n\n検索は 3 秒以内。測定条件は同時200人。\n\n## 2. 監視\n\n監視項目は死活。\n"
    assert absent(text) == {}


def test_the_glossary_and_the_change_history_do_not_treat_an_article():
    text = "# 設計書\n\n## 用語集\n\n3 秒とは測定条件の例である。\n\n## 監視\n\n監視項目は死活。\n"
    assert absent(text) == {"GL-2.1": "missing"}


def test_an_article_with_a_condition_applies_only_to_documents_that_meet_it():
    assert "GL-4" not in absent(DESIGN)
    assert absent(DESIGN + "\n## 3. API連携\n\n外部と連携する。\n")["GL-4"] == "missing"


def test_other_document_types_and_guidelines_without_obligations_are_not_judged():
    for rule in ("compliance.article_not_addressed", "compliance.required_element_missing"):
        assert run(rule, DESIGN, document_type="test_plan").skip_reason
        assert run(rule, DESIGN, articles=()).skip_reason
        assert run(rule, DESIGN, articles=(CHAPTER,)).skip_reason


def test_params_narrow_the_articles():
    rule, bare = "compliance.article_not_addressed", "# 設計書\n\n文。\n"
    assert list(absent(bare)) == ["GL-2.1", "GL-3"]
    assert [found.data["article"] for found in run(rule, bare, articles=GUIDE).findings] == ["GL-2.1", "GL-3"]
    only = replace(rule_input(bare, params={"articles": ["GL-3"]}), articles=GUIDE)
    outcome = outcome_of(rule, only)
    assert [found.data["article"] for found in outcome.findings] == ["GL-3"]
    assert run(rule, bare, guidelines=["other"]).skip_reason


def unknown(text: str) -> list[str]:
    return [f.data["article"] for f in run("compliance.unknown_article", text).findings]


def test_references_to_articles_that_are_not_there_are_found_by_code_and_by_name():
    text = f"# 設計書\n\nGL-2.1 と GL-9.9 による。{NAME}第５章、「{NAME}」（第2版）2.1 及び {NAME}の 2.7 も見る。\n"
    assert unknown(text) == ["GL-2.7", "GL-5", "GL-9.9"]


def test_what_is_no_reference_to_an_article_is_left_alone():
    text = f"# 設計書\n\n{NAME} 2025年版、{NAME} 第2版、要件 GL-001、XGL-9、GL-9-1。\n\n```\nGL-9.9\n```\n"
    assert run("compliance.unknown_article", text).skip_reason


def test_several_references_to_one_unknown_article_are_one_finding_with_near_articles():
    (found,) = run("compliance.unknown_article", "# 設計書\n\nGL-2.7 と GL-2.7 による。\n").findings
    assert len(found.evidence) == 2
    assert found.suggestion is not None
    assert "GL-2.1" in found.suggestion.content.ja


def test_comments_in_a_type_s_code_describe_its_data_items():
    element = next(one for one in _shipped_elements("4.1") if one.name == "説明")
    items = article("4.1", "データ項目の説明", element, headings=("データ設計",))
    code = "```csharp\npublic class File\n{\n    public int Width;  // 解像度 (幅)\n}\n```"
    described = f"# 設計書\n\n## 3. データ設計\n\n{code}\n"
    assert missing(described, articles=[items]) == {}
    bare = described.replace("  // 解像度 (幅)", "")
    assert missing(bare, articles=[items]) == {"GL-4.1": ["説明"]}


def _shipped_elements(number: str) -> list[RequiredElement]:
    path = Path(imports.__file__).parents[1] / "data" / "guidelines" / "public-practice-guides.json"
    found = next(one for one in json.loads(path.read_text(encoding="utf-8"))["articles"] if one["number"] == number)
    return [
        RequiredElement(name=one["name"], words=tuple(one["words"]), patterns=tuple(one["patterns"]))
        for one in found["required_elements"]
    ]
