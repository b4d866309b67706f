"""Scenarios tick themselves: each shipped one is walked through, and the hub sees the steps being done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hub.access.models import HubRoleGrant
from hub.access.permissions import HubRole, Role
from hub.access.principals import Principal, local_operator
from hub.access.services import principal_for_user
from review import scenarios
from review.curation.master_versions import approve_checklist_version, copy_checklist_version
from review.evaluation import cases, runs
from review.evaluation.datasets import change_dataset, create_dataset
from review.masters.listing import get_checklist, version_in_force
from review.models import CheckResult, Finding, Review, Triage
from review.runs.reviews import start_review
from review.triage.decisions import Answer, TriageChange, triage_findings
from review.triage.signing import sign_off
from review.triage.verdicts import decide_result
from tests.factories import new_user
from tests.hub.admin.support import client_of, grant
from tests.review.conftest import DESIGN, review_text
from tests.review.triage.deciding import decide, settle_everything

pytestmark = pytest.mark.django_db
PJMO, QUALITY, MASTERS = "pjmo-self-review", "quality-sign-off", "admin-master-revision"


@pytest.fixture
def review(queue: None, tmp_path: Path) -> Review:
    return review_text(tmp_path, DESIGN)


def reviewer(review: Review) -> tuple[Principal, Client]:
    user = new_user(username="点検者")
    assert review.version is not None
    grant(user, Role.REVIEWER, review.version.document.collection)
    return principal_for_user(user), client_of(user)


def seen(principal: Principal, code: str) -> set[str]:
    return set(scenarios.walkthrough(principal, code).seen)


def decide_all(review: Review) -> None:
    open_ones = Finding.objects.counted().filter(result__review=review, triage=Triage.OPEN)
    change = TriageChange(triage=Triage.ACCEPTED)
    triage_findings(
        principal=local_operator(), finding_ids=list(open_ones.values_list("public_id", flat=True)), change=change
    )


def keep_a_case(principal: Principal, review: Review, dataset: str) -> None:
    item = CheckResult.objects.filter(review=review).order_by("position")[0].item_version.item.code
    asked: dict[str, Any] = {"principal": principal, "review_id": review.public_id, "check_item_id": item}
    decide_result(verdict="fail", reason="文書を読んだ", **asked)
    cases.case_from_result(dataset=dataset, **asked)


def open_page(client: Client, name: str, *arguments: Any) -> None:
    answer = client.get(reverse(name, args=arguments))
    assert answer.status_code == 200


def test_the_way_of_a_design_to_its_corrected_version_ticks_itself(review: Review, tmp_path: Path) -> None:
    who, client = reviewer(review)
    document_id = review.document_id_text
    assert seen(who, PJMO) == set()
    scenarios.walk_with(principal=who, code=PJMO, document_id=document_id)
    known = {"upload", "start-review"}
    assert seen(who, PJMO) == known

    open_page(client, "document", document_id)
    known |= {"look-at-text"}
    assert seen(who, PJMO) == known
    open_page(client, "review", review.public_id)
    known |= {"read-findings"}
    assert seen(who, PJMO) == known
    decide_all(review)
    known |= {"decide"}
    assert seen(who, PJMO) == known

    again = review_text(tmp_path, DESIGN.replace("FR-006", "FR-001"))
    known |= {"new-version", "review-again"}
    assert seen(who, PJMO) == known
    open_page(client, "document-compare", document_id)
    known |= {"compare"}
    assert seen(who, PJMO) == known
    open_page(client, "review-report", again.public_id, "html")
    assert scenarios.walkthrough(who, PJMO).next_step is None
    with CaptureQueriesContext(connection) as asked:
        rows = {row.id: row for row in scenarios.list_scenarios(who)}
    assert (rows[PJMO].steps_done, rows[PJMO].steps_total) == (9, 9)
    assert len(asked) <= 3 + 5


def test_the_way_to_a_sign_off_ticks_itself(review: Review) -> None:
    who, client = reviewer(review)
    scenarios.walk_with(principal=who, code=QUALITY, document_id=review.document_id_text)
    assert seen(who, QUALITY) == set()
    open_page(client, "review", review.public_id)
    decide_all(review)
    assert seen(who, QUALITY) == {"open-review", "triage"}
    settle_everything(review)
    assert "decide-checks" in seen(who, QUALITY)
    finding = Finding.objects.counted().filter(result__review=review).first()
    assert finding is not None
    decide(finding, answer=Answer(text="次の版で直します。"))
    assert "read-answers" in seen(who, QUALITY)
    create_dataset(principal=local_operator(), code="triage-set")
    change_dataset(principal=local_operator(), code="triage-set", readers=["点検者"])
    keep_a_case(who, review, "triage-set")
    open_page(client, "review-report", review.public_id, "html")
    assert {"keep-cases", "send-table"} <= seen(who, QUALITY)
    sign_off(principal=local_operator(), review_id=review.public_id)
    assert "sign-off" in seen(who, QUALITY)
    assert "archive" not in seen(who, QUALITY)
    open_page(client, "review-report", review.public_id, "html")
    assert scenarios.walkthrough(who, QUALITY).next_step is None


def test_a_sign_off_is_of_the_newest_review_and_so_is_what_is_decided_before(review: Review, tmp_path: Path) -> None:
    who, _client = reviewer(review)
    scenarios.walk_with(principal=who, code=QUALITY, document_id=review.document_id_text)
    decide_all(review)
    settle_everything(review)
    assert {"triage", "decide-checks"} <= seen(who, QUALITY)
    again = review_text(tmp_path, DESIGN.replace("FR-006", "FR-001"))
    assert not {"triage", "decide-checks"} & seen(who, QUALITY)
    decide_all(again)
    settle_everything(again)
    assert {"triage", "decide-checks"} <= seen(who, QUALITY)


def test_what_others_read_and_what_is_hidden_is_not_seen(review: Review) -> None:
    who, _client = reviewer(review)
    other = new_user(username="ほかの人")
    assert review.version is not None
    grant(other, Role.REVIEWER, review.version.document.collection)
    open_page(client_of(other), "review", review.public_id)
    open_page(client_of(other), "document", review.document_id_text)
    scenarios.walk_with(principal=who, code=PJMO, document_id=review.document_id_text)
    assert seen(who, PJMO) == {"upload", "start-review"}
    review.version.document.collection.grants.all().delete()
    assert seen(who, PJMO) == set()


def test_a_revision_of_masters_ticks_itself_from_when_it_was_begun(review: Review, settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_second_person": False})
    user = new_user(username="管理者", is_staff=True)
    assert review.version is not None
    grant(user, Role.REVIEWER, review.version.document.collection)
    for role in (HubRole.MASTER_CURATOR, HubRole.EVALUATOR, HubRole.AUDITOR):
        HubRoleGrant.objects.create(user=user, role=role)
    who, client = principal_for_user(user), client_of(user)
    create_dataset(principal=who, code="gold")
    keep_a_case(who, review, "gold")

    def publish() -> None:
        current = version_in_force(get_checklist("basic-design"))
        assert current is not None
        approve_checklist_version(principal=who, version=copy_checklist_version(principal=who, version=current))

    publish()
    scenarios.begin(principal=who, code=MASTERS)
    assert seen(who, MASTERS) == set()
    runs.start_run(principal=who, dataset="gold")
    assert seen(who, MASTERS) == {"measure-before"}
    publish()
    known = {"measure-before", "draft", "publish"}
    assert seen(who, MASTERS) == known
    runs.start_run(principal=who, dataset="gold")
    start_review(principal=who, document_id=review.document_id_text)
    known |= {"measure-after", "review-again"}
    assert seen(who, MASTERS) == known
    open_page(client, "admin:access_auditevent_changelist")
    assert seen(who, MASTERS) == known | {"record"}
    left = [step.action for step in scenarios.get_scenario(who, MASTERS).steps.all() if step.action not in known]
    assert left == ["lint", "try-prompt", "record"]
