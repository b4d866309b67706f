"""Several answers to one check: what they agree on holds, and what they don't is shown."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from hub.core.texts import Text
from hub.llm.providers.registry import close_provider
from review.judging.types import Opinion
from review.judging.votes import combine
from review.runs.estimates import estimate_review
from review.runs.reviews import replay_review
from review.types import FindingDraft, Severity, Verdict
from tests.llm_server import Fault
from tests.review.judging.conftest import FAIL, GROUND, PASS, VAGUE, codes, finish, judged, run, verdicts


def vote(verdict: str, *keys: str) -> Opinion:
    findings = tuple(
        FindingDraft(
            rule_id="llm.judgement",
            severity=Severity.MAJOR,
            message=Text(ja=key, en=key),
            key=key,
            confidence=1.0,
            confidence_basis=Text(ja="割合", en="share"),
        )
        for key in keys
    )
    return Opinion(verdict=Verdict(verdict), findings=findings, score=0.5)


@pytest.mark.parametrize(
    ("cast", "verdict"),
    [
        ("pass pass pass", "pass"),
        ("pass warning pass", "warning"),
        ("pass pass fail", "skipped"),
        ("pass fail fail", "fail"),
        ("pass pass error", "skipped"),
        ("fail error skipped", "skipped"),
        ("error error error", "error"),
        ("skipped skipped skipped", "skipped"),
        ("pass fail", "skipped"),
    ],
)
def test_a_pass_is_unanimous_a_fail_has_the_majority_and_the_rest_is_for_people(cast, verdict):
    opinion = combine([vote(one) for one in cast.split()])
    assert opinion.verdict == verdict
    told = {notice.code for notice in opinion.notices}
    assert ("llm_votes_disagree" in told) == (len(set(cast.split())) > 1)


def test_each_finding_tells_in_how_many_votes_it_came():
    opinion = combine([vote("fail", "甲", "乙"), vote("fail", "甲"), vote("pass")])
    counted = {finding.key: (finding.data["votes"], finding.confidence) for finding in opinion.findings}
    assert counted == {"甲": (2, 0.667), "乙": (1, 0.333)}
    assert opinion.findings[0].confidence_basis == Text(
        ja="割合。3回の判定のうち2回で指摘", en="share; found by 2 of 3 answers"
    )


def test_one_vote_is_what_it_says():
    only = vote("pass")
    assert combine([only]) is only


@pytest.mark.django_db
def test_votes_are_asked_one_by_one_and_their_disagreement_is_shown(document, configured, configure):
    configure(llm_votes=3)
    configured.answer = lambda asked: (PASS if asked.get("seed") == 1 else FAIL)(asked)
    facts = run(document)
    assert [asked.get("seed") for asked in configured.requests] == [None, 1, 2]
    assert [asked["temperature"] for asked in configured.requests] == [0.0, 0.7, 0.7]
    result = facts.results[0]
    assert (result.verdict, result.judgement.votes) == ("fail", ["fail", "pass", "fail"])
    assert "llm_votes_disagree" in codes(facts)
    assert facts.findings[0].evidence[0].quote == VAGUE
    assert (facts.findings[0].data["votes"], facts.findings[0].data["votes_asked"]) == (2, 3)


@pytest.mark.django_db
def test_a_vote_that_fails_takes_the_pass_away(document, configured, configure):
    configure(llm_votes=2)
    configured.answer, configured.script = PASS, [Fault.REFUSE]
    facts = run(document)
    assert (facts.results[0].verdict, facts.results[0].judgement.votes) == ("skipped", ["error", "pass"])
    assert {"llm_refused", "llm_votes_undecided"} <= codes(facts)


@pytest.mark.django_db
def test_a_budget_that_ends_among_the_votes_decides_nothing(document, configured, configure):
    configure(llm_votes=3, hub_llm_token_budget=3500)
    configured.answer = PASS
    facts = run(document)
    assert facts.results[0].verdict == "skipped"
    assert codes(facts) == {"llm_budget_stop"}
    assert facts.usage.tokens_in + facts.usage.tokens_out <= 3500


@pytest.mark.django_db
@pytest.mark.parametrize("script", [(), (Fault.REFUSE,)])
def test_votes_are_replayed_without_a_model_byte_for_byte(document, configured, configure, script):
    configure(llm_votes=3)
    configured.script = list(script)
    other = judged("fail", findings=({"kind": "missing", "message": "所要時間がない。"},), quotes=(GROUND,))
    configured.answer = lambda asked: (other if asked.get("seed") == 2 else FAIL)(asked)
    original = run(document)
    asked = len(configured.requests)
    close_provider()
    configure(llm_provider="none", llm_model="", llm_base_url="", llm_votes=1)
    replay = replay_review(principal=local_operator(), review_id=original.review_id)
    assert verdicts(finish(replay)) == verdicts(original)
    assert len(configured.requests) == asked


@pytest.mark.django_db
def test_an_estimate_counts_every_vote(document, configured, configure):
    once = estimate_review(principal=local_operator(), document_id=document.public_id)
    configure(llm_votes=3)
    thrice = estimate_review(principal=local_operator(), document_id=document.public_id)
    assert (thrice.tokens_in, thrice.tokens_out) == (3 * once.tokens_in, 3 * once.tokens_out)
    assert once.tokens_in > 0
