"""What a model says of a finding that rests on a hidden document is withheld with it, and asked about apart."""

from __future__ import annotations

from typing import Any

import pytest

from knowledge.documents.deletion import delete_document
from review.models import CheckResult, Finding, Review
from review.report import RENDERERS, build_report
from review.runs import execution
from review.runs.reviews import ReviewOptions, start_review
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.llm_server import prompt_of
from tests.review.hidden.support import CANARIES, OPERATOR, Person, names_nothing
from tests.review.hidden.test_reviews import DOORS
from tests.review.judging.second_model import opinion, schema_of, second_model
from tests.review.report.test_reports import words

pytestmark = pytest.mark.django_db

PROOF = "予約登録画面は FR-001 を満たす。"
REASON = f"{CANARIES[0]}は秘密の監視機能であり、本文にある。"


def overturned(person: Person, document: Any, related: Any) -> Review:
    """A review in which a model took back what rests on the related document, and says why in its words."""
    options = ReviewOptions(
        related_documents=(related.public_id,), check_items=("BD-B02", "BD-B01"), second_opinion="on", sweep="off"
    )
    review = start_review(principal=person.principal, document_id=document.public_id, options=options)
    assert execution.execute(review.pk)
    return Review.objects.get(pk=review.pk)


def decide(label: str, text: str) -> dict[str, Any]:
    if CANARIES[0] in text:
        return opinion(label, "overturned", PROOF, reason=REASON)
    return opinion(label, "confirmed")


@pytest.fixture
def review(design, requirements, alice, configured) -> Review:  # noqa: F811
    configured.answer = second_model(decide)
    made = overturned(alice, design, requirements)
    assert Finding.objects.filter(result__review=made, state="overturned", second_opinion__reason=REASON).exists()
    return made


@pytest.mark.parametrize("door", DOORS)
def test_why_a_model_took_it_back_is_withheld_at_every_door(door, review, heidi, alice, requirements, queue):
    assert names_nothing(DOORS[door](heidi, review), requirements)
    assert door in ("rest_sign_off", "triage_search", "triage_page") or CANARIES[0] in DOORS[door](alice, review)


@pytest.mark.parametrize("report_format", RENDERERS)
def test_reports_withhold_it(report_format, review, heidi, requirements):
    report = build_report(
        principal=heidi.principal, review_id=review.public_id, report_format=report_format, language="ja"
    )
    assert names_nothing(words(report.content, report_format), requirements)


def test_it_is_asked_about_apart(review, configured):  # noqa: F811
    asked = [prompt_of(one) for one in configured.requests if schema_of(one) == "second_opinion"]
    naming = [one for one in asked if CANARIES[0] in one]
    assert naming
    assert len(naming) < len(asked)


def test_it_goes_with_the_related_document(review, requirements):
    Finding.objects.filter(result__review=review, state="overturned").update(evidence=[])
    delete_document(principal=OPERATOR, document_id=requirements.public_id)
    said = [*Finding.objects.values_list("second_opinion", flat=True)]
    said += [*CheckResult.objects.values_list("judgement", flat=True)]
    assert "秘密の" not in str(said)
