"""The rules against the judged documents of the shared review data: agreement per check type."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

import pytest

from knowledge.ontology.topics import load_topics
from review.rules import list_rules, run_rules
from review.types import FindingDraft, RuleInput, RuleOutcome
from tests.review.markdown import rule_input

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "review"
TYPES = {
    "基本設計書": "basic_design",
    "概要設計書": "basic_design",
    "要件定義書": "requirements",
    "テスト計画書": "test_plan",
}
IDENTIFIER = re.compile(r"[A-Z]{1,5}(?:-[A-Z]+)?-\d{2,4}")
FLOORS = {"required_section": 0.95, "traceability": 0.95, "terminology": 0.95, "coverage": 1.0, "style": 1.0}
# Rows that one document alone and these rules cannot decide; the reason is printed with them.
OTHER_RULES = {
    "dev-077": "which chapter a requirement belongs in: structure of content, for an LLM",
    "dev-079": "whether a definition is right: world knowledge, for an LLM",
    "dev-080": "acceptance criteria per requirement: a compliance rule",
    "dev-081": "figures in requirements: wording.unquantified_requirement",
}

pytestmark = pytest.mark.skipif(not (DATA / "gold.jsonl").exists(), reason=f"no review data in {DATA}")


def gold_rows() -> list[dict]:
    lines = (DATA / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["confidence"] != "low"]


@lru_cache(maxsize=8)
def target_of(name: str) -> RuleInput:
    document_type = next(code for word, code in TYPES.items() if word in name)
    text = (DATA / "documents" / name).read_text(encoding="utf-8")
    return rule_input(text, document_type=document_type, topics=load_topics(document_type))


@lru_cache(maxsize=8)
def outcomes_of(name: str) -> dict[str, RuleOutcome]:
    return run_rules([rule.id for rule in list_rules()], target_of(name))


@lru_cache(maxsize=1)
def topic_of_row() -> dict[str, str]:
    """Required sections stand in the file in the order of the contract's topic codes."""
    codes: dict[str, str] = {}
    lines = (DATA / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    by_document: dict[str, list[str]] = defaultdict(list)
    for row in map(json.loads, lines):
        if row["check_type"] == "required_section":
            by_document[row["document"]].append(row["id"])
    for name, ids in by_document.items():
        topics = target_of(name).topics
        codes |= dict(zip(ids, (topic.code for topic in topics), strict=True))
    return codes


def is_cross_document(row: dict) -> bool:
    """D1's requirement ids are judged against D2, which a rule on D1 alone does not see."""
    about_d2 = "D2 で定義" in row["note"] or "D2 に定義" in row["note"]
    return row["document"].startswith("D1") and about_d2 and not re.search(r"設計書のマトリクス", row["note"])


def findings_for(row: dict) -> list[FindingDraft] | None:
    """Return the findings of the mapped rules that are about the row, or None when no rule decided."""
    outcomes = outcomes_of(row["document"])
    if row["check_type"] == "required_section":
        code = topic_of_row()[row["id"]]
        return matching(
            outcomes, ("coverage.missing_topic", "coverage.empty_section"), lambda f: f.data["topic"] == code
        )
    if row["check_type"] == "terminology":
        forms = re.split(r"[／/]", row["item"])
        return matching(outcomes, ("terminology.variant",), lambda f: len(set(forms) & set(f.data["variants"])) > 1)
    if row["check_type"] == "coverage" and "版数" in row["item"]:
        return matching(outcomes, ("document.version_mismatch",), lambda f: True)
    if row["check_type"] == "style":
        words = [word.rstrip("な") for word in re.findall(r"「([^」]+)」", row["item"])]
        found = matching(outcomes, ("wording.ambiguous",), lambda f: True)
        return [f for f in found or () if any(word in form for word in words for form in f.data["expressions"])]
    return traceability_findings(row, outcomes)


def traceability_findings(row: dict, outcomes: dict[str, RuleOutcome]) -> list[FindingDraft] | None:
    if "要件IDへの対応" in row["item"]:
        return matching(outcomes, ("traceability.no_upstream_reference",), lambda f: True)
    rules = ("traceability.undefined_reference", "traceability.unreferenced_definition")
    if "欠番" in row["item"] or "重複" in row["item"]:
        rules = ("traceability.duplicate_definition", "traceability.numbering_gap")
    elif "一致" in row["item"]:
        rules = ("traceability.inconsistent_mapping",)
    wanted = set(IDENTIFIER.findall(row["item"]))
    if "〜" in row["item"]:
        prefixes = {name.rpartition("-")[0] for name in wanted}
        return matching(outcomes, rules, lambda f: f.data["family"] in prefixes)
    return matching(outcomes, rules, lambda f: wanted <= set(f.data["identifiers"]) if wanted else True)


def matching(outcomes, rules, is_about) -> list[FindingDraft] | None:
    decided = [outcomes[rule] for rule in rules if not outcomes[rule].skip_reason]
    if not decided:
        return None
    return [finding for outcome in decided for finding in outcome.findings if is_about(finding)]


def verdict(row: dict) -> str:
    found = findings_for(row)
    if found is None:
        return "undecided"
    return "fail" if found else "pass"


def judged_rows() -> list[dict]:
    return [
        row
        for row in gold_rows()
        if row["id"] not in OTHER_RULES and row["check_type"] != "consistency" and not is_cross_document(row)
    ]


@pytest.mark.parametrize("check_type", sorted(FLOORS))
def test_agreement_with_the_judged_rows_is_at_or_above_the_floor(check_type):
    rows = [row for row in judged_rows() if row["check_type"] == check_type]
    misses = [
        (row["id"], row["item"], row["expected"], verdict(row)) for row in rows if verdict(row) != row["expected"]
    ]
    agreement = 1 - len(misses) / len(rows)
    print(f"{check_type}: {agreement:.3f} of {len(rows)} rows; misses: {misses}")  # noqa: T201
    assert agreement >= FLOORS[check_type], misses


def test_the_only_rows_left_out_need_another_document_or_another_kind_of_rule():
    left_out = [row for row in gold_rows() if row not in judged_rows()]

    kinds = {row["check_type"] for row in left_out if row["id"] not in OTHER_RULES and not is_cross_document(row)}

    assert kinds == {"consistency"}
    assert len(judged_rows()) >= 80


def test_the_design_alone_leaves_three_requirements_undefined():
    outcome = outcomes_of("D1_基本設計書_SmartReviewer.md")["traceability.undefined_reference"]

    assert [finding.data["identifiers"] for finding in outcome.findings] == [["NFR-004", "NFR-005", "NFR-006"]]


@pytest.mark.parametrize("path", sorted((DATA / "documents").glob("*.md")), ids=lambda path: path.name[:2])
def test_every_finding_rests_on_exact_slices_and_says_what_to_do(path):
    target = target_of(path.name)

    for outcome in outcomes_of(path.name).values():
        for finding in outcome.findings:
            starts = [span.start for span in finding.evidence]
            assert starts == sorted(starts)
            assert all(target.text[span.start : span.end].strip() for span in finding.evidence)
            assert finding.evidence or finding.searched or finding.rule_id == "document.missing_history"
            assert finding.suggestion
            assert finding.message.ja
            assert finding.message.en
            assert (finding.confidence is None) == (finding.confidence_basis is None)


@pytest.mark.parametrize("path", sorted((DATA / "documents").glob("*.md")), ids=lambda path: path.name[:2])
def test_a_second_run_says_the_same_in_the_same_order(path):
    target = target_of(path.name)

    again = run_rules([rule.id for rule in list_rules()], target)

    assert again == outcomes_of(path.name)
