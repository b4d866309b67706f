"""Rules of style as rules of a check item: one finding for each rule, its places inside."""

from __future__ import annotations

from review.rules import run_rule
from review.types import RuleOutcome
from tests.review.markdown import rule_input

TEXT = "# 概要\n\n" + "画面から履歴を見れる。\n\n" * 30


def outcome(rule_id: str, text: str, **params: object) -> RuleOutcome:
    said = run_rule(rule_id, rule_input(text, params=params))
    assert isinstance(said, RuleOutcome)
    return said


def test_thirty_places_are_one_finding_with_the_first_twenty_shown():
    (finding,) = outcome("style.ra_dropping", TEXT).findings
    assert finding.data["places"] == 30
    assert len(finding.evidence) == len(finding.data["shown"]) == 20
    assert {TEXT[span.start : span.end] for span in finding.evidence} == {"見れる"}
    assert "30 か所" in finding.message.ja
    assert finding.suggestion is not None
    assert finding.suggestion.example == "画面から履歴を見られる。"


def test_fewer_places_than_asked_for_are_no_finding():
    assert outcome("style.ra_dropping", TEXT, at_least=31).findings == ()


def test_a_document_without_prose_is_skipped_and_no_pass():
    said = outcome("style.ra_dropping", "```\n見れる\n```\n")
    assert said.examined == 0
    assert said.skip_reason is not None


def test_the_finding_keeps_its_key_when_text_moves():
    (before,) = outcome("style.ra_dropping", TEXT).findings
    (after,) = outcome("style.ra_dropping", "前書き。\n\n" + TEXT).findings
    assert before.key == after.key
