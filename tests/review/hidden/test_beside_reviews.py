"""What rests on hidden documents beside the review itself: the audit trail, evaluation cases and runs, suggestions."""

from __future__ import annotations

import pytest
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Classification, Role
from hub.evaluation.cases import review_case
from hub.evaluation.datasets import save_case
from hub.evaluation.models import EvaluationRun
from knowledge.documents.deletion import delete_document
from review.evaluation import execution
from review.evaluation.runs import start_run
from review.judging.model_session import ModelSession
from review.runs.work import Work
from tests.review.hidden.support import OPERATOR, Person, hidden_finding, names_nothing, reviewed

pytestmark = pytest.mark.django_db

CASE = {"rule_id": "traceability.undefined_reference", "item": "FR-901 が未定義", "identifiers": ["FR-901"]}


def test_the_audit_lines_of_a_review_name_no_other_document(design, requirements, open_shelf, alice):
    eve = Person("eve", Role.AUDITOR, open_shelf)
    review = reviewed(alice, design, requirements)
    of_before = AuditEvent.objects.create(
        action="REVIEW_START",
        principal="x",
        resource=f"review:{review.public_id}",
        details={"related_documents": [requirements.public_id]},
        door="rest",
    )

    trail = eve.get("/audit?limit=100").content.decode()
    page = eve.browser.get(reverse("admin:access_auditevent_change", args=[of_before.pk]))

    assert review.public_id in trail
    assert page.status_code == 200
    assert all(names_nothing(text, requirements) for text in (trail, page.content.decode()))
    compared = AuditEvent.objects.get(action="REVIEW_COMPARE")
    assert (compared.resource, compared.details) == (
        f"document:{requirements.public_id}",
        {"review": review.public_id},
    )


@pytest.fixture
def cases(design, requirements, dataset):
    """A case of a document that bob reads, and two that touch one that he does not, by its id and by its path."""
    own = {"document_id": design.public_id}
    rows = [
        {**CASE, **own, "expected_verdict": "pass", "item": "設計の確認", "identifiers": []},
        {
            **CASE,
            "document_id": design.public_id,
            "related_documents": [requirements.public_id],
            "expected_verdict": "fail",
        },
        {**CASE, "path": requirements.path, "collection": requirements.collection.slug, "expected_verdict": "fail"},
    ]
    return [save_case(dataset, review_case(row))[0] for row in rows]


def test_a_reader_of_a_dataset_sees_its_cases_of_documents_that_they_may_read(cases, requirements, bob, alice):
    listed = {who: who.get("/evaluation/datasets/gold/cases") for who in (bob, alice)}
    page = bob.browser.get(reverse("admin:evaluation_evaluationdataset_change", args=[cases[0].dataset_id]))

    ids = {who: [one["case_id"] for one in answer.json()["items"]] for who, answer in listed.items()}
    assert ids == {bob: [cases[0].pk], alice: [cases[2].pk, cases[1].pk, cases[0].pk]}
    assert page.status_code == 200
    assert names_nothing(listed[bob].content.decode(), requirements)
    assert names_nothing(page.content.decode(), requirements)


def test_a_run_says_nothing_of_cases_about_hidden_documents(cases, requirements, bob, alice):
    first = start_run(principal=OPERATOR, dataset="gold", rounds=1)
    assert execution.execute(first.pk)
    run = start_run(principal=OPERATOR, dataset="gold", rounds=1, compare_baseline=True)
    flip = {"document": requirements.public_id, "item": "FR-901", "decided_by": "x", "expected": "fail"}
    flips = [{**flip, "case": case.pk, "before": "fail", "after": "pass", "is_worse": True} for case in cases[1:]]
    assert execution.execute(run.pk)
    EvaluationRun.objects.filter(pk=run.pk).update(flips=flips)

    seen = {who: who.get(f"/evaluation/runs/{run.public_id}") for who in (bob, alice)}
    compared = bob.get(f"/evaluation/runs/{run.public_id}/compare?base={first.public_id}")
    page = bob.browser.get(reverse("admin:evaluation_evaluationrun_page", args=[run.public_id]))

    assert [answer.status_code for answer in (*seen.values(), compared, page)] == [200] * 4
    assert len(seen[alice].json()["comparison"]["flips"]) == 2
    assert seen[bob].json()["comparison"]["flips"] == []
    path = f"{requirements.collection.slug}:{requirements.path}"
    assert path in seen[alice].json()["by_document"]
    for answer in (seen[bob], compared, page):
        assert names_nothing(answer.content.decode(), requirements)
        assert path not in answer.content.decode()


def test_suggestions_are_asked_for_under_the_highest_classification_of_the_documents(design, secret, alice):
    review = reviewed(alice, design, secret)
    session = ModelSession(review=review, target=Work.on(review, fence=lambda: None).target, lease=None)

    purpose = session.suggestions_purpose()

    assert purpose.classification == Classification.C3
    assert purpose.document_ids == [design.public_id, secret.public_id]


def test_deleting_a_related_document_erases_what_people_said_of_checks_beside_it(design, requirements, heidi, alice):
    review = reviewed(alice, design, requirements)
    check = hidden_finding(review).result.item_version.item.code
    verdict = {"verdict": "pass", "reason": "FR-902 は別冊"}
    alice.send("patch", f"/reviews/{review.public_id}/results/{check}", verdict)

    delete_document(principal=OPERATOR, document_id=requirements.public_id)

    for who in (heidi, alice):
        assert names_nothing(who.get(f"/reviews/{review.public_id}").content.decode(), requirements)
