"""The steps beside the checks against a strong reader's answers, recorded once with a relay.

``HUB_TEST_RELAY=http://127.0.0.1:8899/v1`` runs the whole path against an endpoint whose answers somebody else writes;
``HUB_TEST_RECORD`` names a file that takes what it came to. Without it the recording is read again: the same requests,
the same answers, the same findings.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hub.access.principals import local_operator
from hub.core.errors import HubError
from hub.llm.json_answers import read_answer
from hub.llm.models import RecordedAnswer
from hub.llm.providers.registry import close_provider
from hub.llm.types import LlmRequest
from review.judging.overview import cut_stretches
from review.judging.second_opinion.proving import proven
from review.judging.second_opinion.request import (
    Decision,
    Doubt,
    Reviewed,
    group_doubts,
    opinion_request,
    read_opinions,
)
from review.judging.sweep.asking import subject_of
from review.judging.sweep.merging import distinct, merge
from review.judging.sweep.reading import Proposal, cut_parts, part_tokens, read_part, reading_request, rounds_for
from review.judging.sweep.refuting import Examined, group_proposals, read_verdicts, refuting_request, windows_for
from review.judging.unseen import NOTHING_UNFIT, joined, unfit_for_proof, unseen_in
from review.models import Review
from review.runs.estimates import estimate_review
from review.runs.reviews import ReviewOptions, get_review, review_facts
from review.types import RuleInput, Severity, Span
from tests.factories import upload_text, work_through
from tests.hub.llm.conftest import configure  # noqa: F401 (fixture)
from tests.review.judging.conftest import finish, start
from tests.review.judging.strong_text import PLANTED, strong_text
from tests.review.markdown import rule_input

RECORDING = Path(__file__).resolve().parent / "data" / "strong_model.json"
RELAY = os.environ.get("HUB_TEST_RELAY", "")
TOKENS = 16_000
ITEMS = (
    *("BD-A02", "BD-A03", "BD-A04", "BD-A05", "BD-B01", "BD-B02", "BD-B03"),
    *("BD-C02", "BD-C03", "BD-C08", "BD-E01", "BD-E02", "BD-E03", "BD-E04"),
)


@pytest.fixture
def text() -> str:
    found = strong_text()
    if found is None:
        pytest.skip("needs the documents of the test data (HUB_TEST_DATA)")
    return found


@pytest.mark.skipif(
    not RELAY, reason="measured by hand: needs an endpoint whose answers somebody writes (HUB_TEST_RELAY)"
)
@pytest.mark.django_db
def test_the_whole_path(text: str, tmp_path: Path, configure: Any) -> None:  # noqa: F811
    configure(llm_provider="openai", llm_base_url=RELAY, llm_model="strong", llm_timeout_s=1800.0)
    configure(llm_reading_tokens=TOKENS, llm_price_in=Decimal(1), llm_price_out=Decimal(5))
    document = work_through(upload_text(local_operator(), tmp_path, text, document_type="basic_design").document)
    options: dict[str, Any] = {"check_items": ITEMS, "second_opinion": "on", "sweep": "on"}
    told = estimate_review(principal=local_operator(), document_id=document.public_id, options=ReviewOptions(**options))
    review = start(document, **options)
    finish(review)
    facts = review_facts(get_review(local_operator(), review.public_id), everything=True)
    stored = Review.objects.get(public_id=review.public_id)
    recording = {
        "answers": {row.key: row.text for row in RecordedAnswer.objects.all()},
        "prompts": stored.steps["sweep"]["record"]["prompts"],
        "steps": {name: row["counts"] for name, row in stored.steps.items()},
        "estimate": told.model_dump(),
        "usage": facts.usage.model_dump(),
        "findings": [_line(one) for one in facts.findings],
        "overturned": [_line(one) for one in facts.overturned],
        "candidates": [_line(one) for one in facts.candidates],
        "asked": {name: row["record"]["asked"] for name, row in stored.steps.items()},
        "notices": [notice["en"] for notice in facts.notices],
    }
    Path(os.environ["HUB_TEST_RECORD"]).write_text(
        json.dumps(recording, ensure_ascii=False, indent=1), encoding="utf-8"
    )
    close_provider()


def _line(finding: Any) -> dict[str, Any]:
    said = finding.second_opinion
    return {
        "item": finding.check_item_id,
        "rule": finding.rule_id,
        "severity": finding.severity,
        "message": finding.message,
        "quotes": [one.quote for one in finding.evidence],
        "verified": all(one.verified for one in finding.evidence),
        "opinion": said
        and {"decision": said.decision, "reason": said.reason, "quotes": [q.quote for q in said.quotes]},
    }


@pytest.fixture
def recording() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDING.read_text(encoding="utf-8"))
    return found


def document_of(text: str) -> RuleInput:
    return replace(rule_input(text), title="コアデータモデル全体概要")


def test_the_recorded_reading_gives_the_same_findings(text: str, recording: dict[str, Any]) -> None:
    answers, prompts = recording["answers"], recording["texts"]
    subject = subject_of(document_of(text), joined(unseen_in(text)))
    proposals: list[Proposal] = []
    for number, reading in enumerate(rounds_for(has_related=False)):
        parts = cut_parts(text, subject.bodies, tokens=part_tokens(TOKENS, reading))
        (part,) = parts
        request = reading_request(subject, part, reading, facts=(), related=(), tokens=TOKENS, prompt=prompts["sweep"])
        assert request.schema is not None
        said = answers[f"reading{number}.0"]
        assert not errors_in(said, request)
        read = read_part(said, subject, part, ())
        assert not read.unverified
        proposals += read.proposals
    tested: list[Examined] = []
    bodies = cut_stretches(text, subject.bodies, tokens=TOKENS)
    for number, group in enumerate(group_proposals(distinct(proposals, subject), is_whole=False)):
        windows = windows_for(group, subject, bodies)
        request = refuting_request(group, subject, windows, prompt=prompts["refute"])
        assert not errors_in(answers[f"refute{number}"], request)
        tested += read_verdicts(answers[f"refute{number}"], group, subject, windows, NOTHING_UNFIT)
    merged = merge(tested, [], subject, limit=5, least=Severity.MINOR)
    found = {one.draft.message.ja for one in merged.kept if one.counts}
    assert set(recording["reading_findings"]) <= found
    assert {one.draft.message.ja for one in merged.kept if one.decision == "doubted"} == set(recording["doubted"])
    quoted = {text[span.start : span.end] for one in merged.kept if one.counts for span in one.draft.evidence}
    for _before, after in PLANTED.values():
        assert any(quote.strip() and quote in after for quote in quoted), after


def test_the_recorded_second_opinion_overturns_the_same(text: str, recording: dict[str, Any]) -> None:
    target, answers = document_of(text), recording["answers"]
    withheld = joined(unseen_in(text))
    unfit = unfit_for_proof(text, target.sections, withheld=withheld, planted=())
    reviewed = Reviewed(text=text, withheld=withheld, unfit=unfit)
    passages = cut_stretches(text, subject_of(target, withheld).bodies, tokens=TOKENS)
    doubts = [
        Doubt(
            pk=number,
            fingerprint="",
            item=row["item"],
            rule_id=row["rule_id"],
            severity=Severity(row["severity"]),
            message=row["message"],
            searched=tuple(row["searched"]),
            named=tuple(row["named"]),
            spans=tuple(Span(start=start, end=end) for start, end in row["spans"]),
            is_about_history=row["is_about_history"],
        )
        for number, row in enumerate(recording["doubts"])
    ]
    overturned: list[str] = []
    for number, group in enumerate(group_doubts(doubts)):
        request = opinion_request(group, reviewed, passages, document="", prompt="")
        assert not errors_in(answers[f"opinion{number}"], request)
        read = [one for one in read_opinions(answers[f"opinion{number}"], group, reviewed, passages) if one.needs_proof]
        held = proven(answers[f"proof{number}"], read)
        overturned += [one.doubt.message for one in held if one.decision is Decision.OVERTURNED]
    assert len(overturned) == len(recording["overturned"])
    assert all(any(one.startswith(said) for said in recording["overturned"]) for one in overturned)


def errors_in(answer: Any, request: LlmRequest) -> str:
    """What an answer has that its schema does not allow."""
    assert request.schema is not None
    try:
        read_answer(json.dumps(answer, ensure_ascii=False), request.schema)
    except HubError as error:
        return str(error)
    return ""
