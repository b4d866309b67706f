"""The engine: from what rules say to a verdict. Pure, no database."""

from __future__ import annotations

import pytest

from hub.core.texts import Text
from review.judging import engine
from review.judging.engine import CheckSpec, judge, overall_verdict, unique_findings
from review.judging.strategies import strategy_of
from review.rules import RuleCrash
from review.types import Consulted, FindingDraft, Master, RuleInput, RuleOutcome, Severity, Span, Verdict

TARGET = RuleInput(text="本文", title="題", document_type="basic_design", sections=(), blocks=())
TEXT = Text(ja="説明", en="text")


def finding(severity: Severity = Severity.MAJOR, key: str = "k", start: int | None = 0) -> FindingDraft:
    evidence = () if start is None else (Span(start=start, end=start + 1),)
    return FindingDraft(rule_id="r.x", severity=severity, message=TEXT, key=key, evidence=evidence)


def check(*rule_ids: str, check_type: str = "style", strategy: str = "") -> CheckSpec:
    rules = [{"rule_id": rule_id} for rule_id in rule_ids]
    return CheckSpec(code="BD-X01", check_type=check_type, strategy=strategy, criteria={"rules": rules})


@pytest.fixture
def outcomes(monkeypatch):
    """Rules by id, each answering what the test puts there."""
    answers: dict[str, RuleOutcome | RuleCrash] = {}
    monkeypatch.setattr(engine, "run_rule", lambda rule_id, target, params: answers[rule_id])
    return answers


@pytest.mark.parametrize(
    ("severities", "verdict"),
    [
        ([], Verdict.PASS),
        ([Severity.INFO], Verdict.PASS),
        ([Severity.MINOR, Severity.INFO], Verdict.WARNING),
        ([Severity.MINOR, Severity.MAJOR], Verdict.FAIL),
        ([Severity.CRITICAL], Verdict.FAIL),
    ],
)
def test_the_worst_finding_decides(outcomes, severities, verdict):
    found = tuple(finding(severity, key=str(number)) for number, severity in enumerate(severities))
    outcomes["a"] = RuleOutcome(findings=found, examined=1)
    assert judge(check("a"), TARGET).verdict is verdict


def test_a_crash_is_an_error_even_beside_a_clean_rule(outcomes):
    outcomes["a"] = RuleOutcome(examined=1)
    outcomes["b"] = RuleCrash(rule_id="b", error_type="ValueError", message=TEXT)
    judgement = judge(check("a", "b"), TARGET)
    assert judgement.verdict is Verdict.ERROR
    assert [notice.code for notice in judgement.notices] == ["rule_crashed"]


def test_rules_that_had_nothing_to_judge_skip_the_check_and_say_why_once(outcomes):
    outcomes["a"] = outcomes["b"] = RuleOutcome(skip_reason=TEXT)
    judgement = judge(check("a", "b"), TARGET)
    assert judgement.verdict is Verdict.SKIPPED
    assert [notice.code for notice in judgement.notices] == ["rule_skipped"]


def test_one_rule_that_decided_is_enough_beside_one_that_skipped(outcomes):
    outcomes["a"], outcomes["b"] = RuleOutcome(skip_reason=TEXT), RuleOutcome(examined=3)
    assert judge(check("a", "b"), TARGET).verdict is Verdict.PASS


def test_an_unknown_rule_is_an_error():
    assert judge(check("no.such"), TARGET).verdict is Verdict.ERROR


def test_an_item_without_rules_needs_a_model_and_is_skipped():
    judgement = judge(check(), TARGET)
    assert judgement.verdict is Verdict.SKIPPED
    assert judgement.notices[0].code == "needs_llm"


def test_findings_come_by_place_and_missing_things_last(outcomes):
    outcomes["a"] = RuleOutcome(findings=(finding(key="missing", start=None), finding(key="late", start=9)))
    outcomes["b"] = RuleOutcome(findings=(finding(key="early", start=2),))
    assert [item.key for item in judge(check("a", "b"), TARGET).findings] == ["early", "late", "missing"]


@pytest.mark.parametrize(
    ("reads", "consulted", "strategy"),
    [
        (frozenset(), (Consulted.RULES,), "rules"),
        (frozenset({Master.ARTICLES, Master.RELATED}), (Consulted.RULES,), "rules"),
        (frozenset({Master.TOPICS}), (Consulted.RULES, Consulted.ONTOLOGY), "ontology"),
    ],
)
def test_what_was_consulted_is_what_the_rules_read_whatever_the_items_type(outcomes, reads, consulted, strategy):
    outcomes["a"] = RuleOutcome(examined=1, reads=reads)
    judgement = judge(check("a", check_type="traceability", strategy="hybrid"), TARGET)
    assert judgement.consulted == consulted
    assert strategy_of(judgement.consulted) == strategy


def test_an_item_without_rules_consulted_nothing():
    assert judge(check(check_type="coverage"), TARGET).consulted == ()
    assert strategy_of(()) == "none"


@pytest.mark.parametrize(
    ("severities", "verdict"),
    [([], Verdict.SKIPPED), ([Severity.MINOR], Verdict.SKIPPED), ([Severity.MAJOR], Verdict.FAIL)],
)
def test_a_rule_whose_master_is_away_leaves_no_pass(outcomes, severities, verdict):
    found = tuple(finding(severity, key=str(at)) for at, severity in enumerate(severities))
    outcomes["a"] = RuleOutcome(findings=found, examined=1)
    outcomes["b"] = RuleOutcome(skip_reason=TEXT, reads=frozenset({Master.TOPICS}))
    judgement = judge(check("a", "b"), TARGET)
    assert judgement.verdict is verdict
    assert [notice.code for notice in judgement.notices] == ["ontology_unavailable"]
    assert judgement.is_partial


@pytest.mark.parametrize(
    ("verdicts", "overall"),
    [
        ([], Verdict.ERROR),
        ([Verdict.SKIPPED], Verdict.ERROR),
        ([Verdict.PASS, Verdict.SKIPPED], Verdict.PASS),
        ([Verdict.PASS, Verdict.WARNING], Verdict.WARNING),
        ([Verdict.WARNING, Verdict.FAIL], Verdict.FAIL),
        ([Verdict.FAIL, Verdict.ERROR], Verdict.ERROR),
    ],
)
def test_a_review_is_as_bad_as_its_worst_decided_check_and_nothing_decided_is_an_error(verdicts, overall):
    assert overall_verdict(verdicts) is overall


def test_a_fingerprint_does_not_depend_on_the_place_and_one_defect_is_one_finding():
    named = unique_findings("BD-X01", [finding(start=3), finding(start=80), finding(key="other", start=5)])
    assert len(named) == 2
    (moved, _draft), _other = unique_findings("BD-X01", [finding(start=500), finding(key="other")])
    assert moved == named[0][0]
