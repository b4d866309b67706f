"""What a caller's own model says is that caller's word: it serves one call, is marked, and decides nothing alone."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from hub.access.principals import local_operator
from hub.core.errors import Conflict, NotFound
from hub.llm.models import RecordedAnswer
from hub.llm.types import Completion, FinishReason
from review.evaluation.judging import earlier_model
from review.judging.sampling import SamplingProvider
from review.models import Finding, Review
from review.report import ReportOptions, build_report
from review.runs import execution, sampling
from review.runs.reviews import replay_review
from review.triage.carry_over import carry_triage
from review.triage.comparing import compare_reviews, difference
from review.triage.signing import sign_off, sign_off_state
from review.triage.verdicts import decide_result
from tests.review.judging.conftest import FAIL, GROUND, ITEM, PASS, codes, finish, judged, run, show, start
from tests.review.triage.deciding import decide

pytestmark = pytest.mark.django_db
FORGED = judged("pass", quotes=(GROUND,), reason="FORGED-BY-BOB")
SHOWN = {"messages": [{"role": "user", "content": "x"}]}


def answer_of_client(model) -> Completion:
    text = model({"messages": [{"role": "system", "content": "s"}, *SHOWN["messages"]], "model": "client"})
    return Completion(text=text, finish_reason=FinishReason.STOP, model="client")


def asked_of(review: Review) -> SamplingProvider:
    """What a new call about the review asks its caller's model."""
    provider = SamplingProvider()
    assert execution.execute(review.pk, sampling=provider)
    return provider


def sampled(document, model, **options) -> Review:
    """A review that a caller's model has judged."""
    review = start(document, judge="sampling", **options)
    wanted = asked_of(review).wanted
    answers = dict.fromkeys(wanted, answer_of_client(model))
    assert execution.execute(review.pk, sampling=SamplingProvider(answers=answers))
    review.refresh_from_db()
    assert review.status == "completed"
    return review


def test_what_one_callers_model_said_is_served_to_nobody_else(document):
    sampled(document, FORGED)
    hers = asked_of(start(document, judge="sampling"))
    assert len(hers.wanted) == 1
    assert not RecordedAnswer.objects.exists()


def test_a_result_and_its_findings_say_whose_model_it_was(document):
    facts = show(sampled(document, FAIL))
    assert (facts.results[0].method, facts.results[0].judged_by) == ("llm", "callers_model")
    assert {finding.judged_by for finding in facts.findings} == {"callers_model"}
    assert all(one.made_by == "callers_model" for one in facts.suggestions)
    assert "judged_by_callers_model" in codes(facts) & {notice["code"] for notice in facts.notices}


@pytest.mark.parametrize(("language", "words"), [("ja", "依頼した人自身の言語モデル"), ("en", "own language model")])
@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_reports_say_whose_model_it_was(document, language, words, form):
    review = sampled(document, FAIL)
    report = build_report(
        principal=local_operator(),
        review_id=review.public_id,
        report_format=form,
        language=language,
        baseline="",
        options=ReportOptions(),
    )
    assert words in report.content.decode().replace("&#x27;", "'")


def test_what_the_hubs_model_said_is_the_hubs(document, configured):
    configured.answer = FAIL
    facts = run(document)
    assert (facts.results[0].judged_by, facts.findings[0].judged_by) == ("hub_model", "hub_model")
    assert not facts.notices


def test_a_callers_pass_is_not_signed_off_until_a_person_has_decided(document):
    review = sampled(document, PASS)
    with pytest.raises(Conflict) as refused:
        sign_off(principal=local_operator(), review_id=review.public_id)
    assert refused.value.error_code == "sign_off_blocked"
    state = sign_off_state(local_operator(), review.public_id)
    assert [(one.code, one.check_item_id) for one in state.blocking] == [("callers_model", ITEM)]
    decide_result(
        principal=local_operator(), review_id=review.public_id, check_item_id=ITEM, verdict="pass", reason="読んだ。"
    )
    assert show(review).results[0].judged_by == "human"
    assert sign_off(principal=local_operator(), review_id=review.public_id).signed


def test_rejecting_a_callers_findings_decides_nothing_for_its_check(document):
    review = sampled(document, FAIL)
    for finding in Finding.objects.filter(result__review=review):
        decide(finding, triage="rejected", reason="ちがう。")
    state = sign_off_state(local_operator(), review.public_id)
    assert [one.code for one in state.blocking] == ["callers_model"]


def test_a_replay_repeats_no_callers_answer(document):
    review = sampled(document, PASS)
    replay = finish(replay_review(principal=local_operator(), review_id=review.public_id))
    assert [(one.verdict, one.judged_by) for one in replay.results] == [("skipped", "rules")]
    assert codes(replay) == {"callers_model_not_repeated"}


def test_a_replay_takes_no_persons_verdict_for_the_models(document):
    review = start(document, judge="rules")
    finish(review)
    decide_result(
        principal=local_operator(), review_id=review.public_id, check_item_id=ITEM, verdict="pass", reason="読んだ。"
    )
    replay = finish(replay_review(principal=local_operator(), review_id=review.public_id))
    assert replay.results[0].verdict == "skipped"


def test_what_a_callers_model_finds_no_more_is_not_taken_for_fixed(document, configured):
    configured.answer = FAIL
    base = start(document)
    finish(base)
    review = sampled(document, PASS)
    compared = difference(compare_reviews(local_operator(), review.public_id, base_id=base.public_id))
    assert (compared.fixed, len(compared.undecided)) == ([], 1)
    carry_triage(principal=local_operator(), review_id=review.public_id, base_id=base.public_id)
    assert set(Finding.objects.filter(result__review=base).values_list("triage", flat=True)) == {"open"}


def test_evaluations_read_again_what_the_hubs_model_said_and_no_callers(document, configured):
    sampled(document, PASS)
    assert earlier_model() == {}
    configured.answer = PASS
    run(document)
    sampled(document, PASS)
    assert earlier_model()["provider"] != "sampling"


def test_only_who_began_a_sampled_review_goes_on_with_it(document):
    review = start(document, judge="sampling")
    assert sampling.take_up(local_operator(), review.public_id) == review
    Review.objects.filter(pk=review.pk).update(requested_by=User.objects.create(username="bob"))
    with pytest.raises(NotFound):
        sampling.take_up(local_operator(), review.public_id)
