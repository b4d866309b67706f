"""Rules whose subject curators write: elements, patterns, terms."""

from __future__ import annotations

import pytest

from review.judging.engine import CheckSpec, judge
from review.rules import run_rule
from review.rules.content.curated import rules_of
from review.rules.content.curated_patterns import pattern_problem
from review.types import FindingDraft, RuleOutcome, Verdict
from tests.review.markdown import rule_input

TEXT = """# 全体テスト計画書

## 目次

- 1. 体制

## 1. 体制

テスト責任者は総務課長とする。サーバの管理者はサーバーレス基盤も受け持つ。

| 役割 | 担当 |
|---|---|
| 試験実施 | Ａ社 |

## 2. 環境

サーバは２台とし、TBD とする。
"""


def findings(rule_id: str, text: str = TEXT, **params: object) -> tuple[FindingDraft, ...]:
    outcome = run_rule(rule_id, rule_input(text, params=params))
    assert isinstance(outcome, RuleOutcome)
    return outcome.findings


def quotes(finding: FindingDraft) -> list[str]:
    return [TEXT[span.start : span.end] for span in finding.evidence]


def test_an_element_is_looked_for_in_its_sections_only() -> None:
    elements = [{"name": "責任者", "patterns": ["責任者"]}, {"name": "連絡方法", "patterns": ["連絡|報告"]}]
    (missing,) = findings("coverage.required_element", elements=elements, sections=["体制"])
    assert "「1. 体制」に「連絡方法」の記載がありません" in missing.message.ja
    assert missing.key == "連絡方法"
    assert quotes(missing) == ["## 1. 体制"]
    elsewhere = findings("coverage.required_element", elements=["責任者"], sections=["環境"])
    assert [finding.key for finding in elsewhere] == ["責任者"]


def test_an_element_is_asked_of_documents_only_that_it_concerns() -> None:
    elements = [{"name": "個人情報の扱い", "patterns": ["匿名"], "when": ["氏名|住所"]}]
    data = "# 計画書\n\n## 1. データ\n\n{}を用意する。\n"
    assert findings("coverage.required_element", data.format("住民の氏名"), elements=elements, sections=["データ"])
    other = rule_input(data.format("惑星の質量"), params={"elements": elements, "sections": ["データ"]})
    assert isinstance(outcome := run_rule("coverage.required_element", other), RuleOutcome)
    assert outcome.skip_reason is not None
    assert not outcome.findings


def test_a_paper_named_in_brackets_is_not_what_a_section_is_on() -> None:
    text = (
        "# 計画\n\n## 網羅率の目標（障害対応設計書 §5 と連動）\n\n60% とする。\n\n## 障害の扱い（重大）\n\n記録する。\n"
    )

    (found,) = findings("coverage.required_element", text, elements=["期限"], sections=["障害"])

    assert found.data["sections"] == ["障害の扱い（重大）"]


def test_a_section_that_is_not_there_is_no_pass() -> None:
    target = rule_input(TEXT, params={"patterns": ["x"], "sections": ["移行"]})
    assert isinstance(found := run_rule("pattern.required", target), RuleOutcome)
    assert found.skip_reason is not None


def test_full_width_letters_and_digits_count_as_half_width() -> None:
    assert findings("pattern.required", patterns=["サーバは[0-9]台", "A社"]) == ()
    (found,) = findings("pattern.forbidden", patterns=["TBD|未定", "後日"])
    assert quotes(found) == ["TBD"]


def test_an_avoided_word_is_found_but_not_in_longer_words() -> None:
    (found,) = findings("terminology.preferred_term", terms=[{"use": "サーバー", "avoid": ["サーバ"]}])
    assert quotes(found) == ["サーバ", "サーバ"]
    assert found.suggestion is not None
    assert found.suggestion.example == "サーバー"


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a|a)*b", "(?:[0-9]+,)*x", "(a)\\1", ".*.*.*x", "(", "a*", "(?:a?){30}", "x" * 501, "(?(1)a|b)"],
)
def test_patterns_that_might_take_forever_or_match_nothing_are_refused(pattern: str) -> None:
    assert pattern_problem(pattern) is not None


def test_what_can_not_be_read_is_named_by_its_place() -> None:
    problem = pattern_problem("版(未定")
    assert problem is not None
    assert problem.ja == "正規表現として読めません: 2 文字目から読めません。"


@pytest.mark.parametrize(
    "pattern",
    ["責任者|管理者", r"[0-9]{1,4} ?(?:年|月)", r"第[0-9]+章.*参照", r"(?:ab){3}c", "[*+(]", "a+|b+|c+|d+|e+"],
)
def test_ordinary_patterns_are_accepted(pattern: str) -> None:
    assert pattern_problem(pattern) is None


def test_an_item_is_decided_by_its_elements_patterns_and_terms_alone() -> None:
    criteria = {
        "required_elements": ["責任者"],
        "patterns": [{"pattern": "役割", "must_occur": True}, {"pattern": "TBD", "must_occur": False}],
        "terms": [{"use": "試験", "avoid": ["検査"]}],
    }
    check = CheckSpec(code="TP-X01", check_type="coverage", strategy="", criteria=criteria)
    judged = judge(check, rule_input(TEXT))
    assert judged.verdict is Verdict.WARNING
    assert [finding.rule_id for finding in judged.findings] == ["pattern.forbidden"]
    assert judged.examined == 4


def test_beside_a_prompt_required_elements_are_for_the_model() -> None:
    criteria = {
        "prompt": "担当が書かれているか。",
        "required_elements": ["担当"],
        "terms": [{"use": "a", "avoid": ["b"]}],
    }
    assert [entry["rule_id"] for entry in rules_of(criteria)] == ["terminology.preferred_term"]
