"""What people decided becomes cases: by the services, by REST, and on the triage page with one click."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token
from hub.core.errors import Conflict, NotFound
from hub.evaluation.cases import review_case
from hub.evaluation.datasets import save_case
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from review.evaluation import cases, datasets, execution, runs
from review.models import Finding, Review
from review.triage.decisions import TriageChange, triage_finding
from review.triage.verdicts import decide_result
from tests.factories import principal_with, upload_text, work_through
from tests.hub.admin.support import client_of, make_user
from tests.review.conftest import DESIGN, review, reviewed_once  # noqa: F401 (fixtures)

pytestmark = pytest.mark.django_db
ME = local_operator()


@pytest.fixture
def dataset() -> EvaluationDataset:
    return datasets.create_dataset(principal=ME, code="triage-set", name="裁定の事例")


def finding_of(found: Review, rule_id: str) -> Finding:
    return Finding.objects.filter(result__review=found, rule_id=rule_id).first()


def decide(finding: Finding, **change: Any) -> Finding:
    return triage_finding(principal=ME, finding_id=finding.public_id, change=TriageChange(**change))


def keep(finding: Finding, **more: str) -> tuple[EvaluationCase, bool]:
    return cases.case_from_finding(principal=ME, finding_id=finding.public_id, dataset="triage-set", **more)


def test_the_state_of_a_finding_tells_what_is_expected(review, dataset) -> None:  # noqa: F811
    first, second, third = Finding.objects.filter(result__review=review)[:3]
    assert keep(decide(first, triage="accepted"))[0].expected == {"verdict": "fail"}
    assert keep(decide(second, triage="rejected"))[0].expected == {"verdict": "pass"}
    with pytest.raises(Conflict) as undecided:
        keep(third)
    assert undecided.value.error_code == "not_decided"
    assert keep(third, expected_verdict="pass")[0].expected == {"verdict": "pass"}
    case, is_new = keep(decide(first, triage="rejected", reason="見直した"))
    assert (is_new, case.expected, dataset.cases.count()) == (False, {"verdict": "pass"}, 3)


def test_a_person_s_verdict_on_a_check_becomes_a_case_of_its_item(review, dataset) -> None:  # noqa: F811
    item = review.results.first().item_version.item.code
    asked = {"principal": ME, "review_id": review.public_id, "check_item_id": item, "dataset": "triage-set"}
    with pytest.raises(Conflict):
        cases.case_from_result(**asked)
    decide_result(principal=ME, review_id=review.public_id, check_item_id=item, verdict="warning", reason="確認した")
    case, is_new = cases.case_from_result(**asked)
    assert (case.input["check_item_id"], case.input["version"], case.expected["verdict"]) == (item, 1, "fail")
    assert is_new
    assert not cases.case_from_result(**asked)[1]
    for wrong in ({"check_item_id": "BD-X99"}, {"review_id": "rev_x"}, {"dataset": "none"}):
        with pytest.raises(NotFound):
            cases.case_from_result(**{**asked, **wrong})
    reviewer = principal_with(Role.REVIEWER, review.version.document.collection)
    with pytest.raises(NotFound):
        cases.case_from_result(**{**asked, "principal": reviewer})


def test_a_case_stays_right_when_the_document_is_corrected(review, dataset, tmp_path: Path, queue) -> None:  # noqa: F811
    finding = decide(finding_of(review, "document.version_mismatch"), triage="accepted")
    case, _is_new = keep(finding)
    name = review.version.filename
    work_through(upload_text(ME, tmp_path, DESIGN.replace("版数: 1.2", "版数: 1.1"), name=name).document)
    run = runs.start_run(principal=ME, dataset="triage-set", rounds=1)
    execution.execute(run.pk)
    run.refresh_from_db()
    assert run.scores[str(case.pk)]["said"] == "fail"
    assert run.details["by_document"].keys() == {f"{review.document_id_text}#v1"}


def test_a_version_that_is_not_there_is_told_and_nothing_is_decided_of_it(review, dataset) -> None:  # noqa: F811
    case, _is_new = keep(decide(finding_of(review, "document.version_mismatch"), triage="accepted"))
    gone = review_case(
        {"document_id": review.document_id_text, "version": 9, "rule_id": "style.*", "expected_verdict": "pass"}
    )
    save_case(dataset, gone)
    run = runs.start_run(principal=ME, dataset="triage-set", rounds=1)
    assert run.details["notices"] == [{"code": "document_missing", "text": f"{review.document_id_text}#v9"}]
    assert case.input["version"] == 1


@pytest.mark.parametrize("version", [0, -1, 1.5, "x", True])
def test_a_version_is_a_number_from_one(version: Any) -> None:
    with pytest.raises(ValueError, match="version"):
        review_case({"path": "設計書.md", "version": version, "rule_id": "style.*", "expected_verdict": "pass"})


def post(client: Client, found: Review, **body: Any) -> Any:
    door = reverse("admin:review_review_keep", args=[found.pk])
    return client.post(door, json.dumps(body), content_type="application/json")


def test_one_click_makes_the_dataset_and_the_case_and_the_choice_is_remembered(review) -> None:  # noqa: F811
    user = make_user("佐藤", is_superuser=True)
    client = client_of(user, language="en")
    page = reverse("admin:review_review_triage", args=[review.pk])
    own = f"triage-{user.pk}"
    assert f'<option value="{own}"' in client.get(page).content.decode()
    finding = finding_of(review, "document.version_mismatch")
    assert post(client, review, dataset=own, finding_ids=[finding.public_id]).json()["code"] == "not_decided"
    decide(finding, triage="accepted")
    assert post(client, review, dataset=own, finding_ids=[finding.public_id]).json()["new"] == 1
    assert post(client, review, dataset=own, finding_ids=[finding.public_id]).json()["new"] == 0
    assert EvaluationDataset.objects.get(code=own).cases.count() == 1
    EvaluationDataset.objects.create(code="a-first", name="別")
    assert f'<option value="{own}" selected' in client.get(page).content.decode()
    assert post(client, review, dataset="", finding_ids=[finding.public_id]).status_code == 422
    assert post(client, review, dataset=own, finding_ids=["fnd_x"]).status_code == 422
    assert post(client, review, dataset=own, check_item_id="BD-X99").status_code == 404


def test_rest_keeps_a_finding_and_a_verdict(review, dataset) -> None:  # noqa: F811
    user = make_user("鈴木", is_superuser=True)
    token = create_token(principal=ME, user=user, name="t", scopes=ALL_SCOPES)[1]
    client = Client(headers={"Authorization": f"Bearer {token}"})
    door = "/api/v1/evaluation/datasets/triage-set/cases/from-"
    finding = finding_of(review, "document.version_mismatch")
    undecided = client.post(f"{door}finding", {"finding_id": finding.public_id}, content_type="application/json")
    assert (undecided.status_code, undecided.json()["code"]) == (409, "not_decided")
    decide(finding, triage="accepted")
    made = client.post(f"{door}finding", {"finding_id": finding.public_id}, content_type="application/json")
    assert (made.status_code, made.json()["expected"]) == (201, {"verdict": "fail"})
    item = review.results.first().item_version.item.code
    decide_result(principal=ME, review_id=review.public_id, check_item_id=item, verdict="pass", reason="確認した")
    body = {"review_id": review.public_id, "check_item_id": item}
    made = client.post(f"{door}result", body, content_type="application/json")
    assert (made.status_code, made.json()["expected"]) == (201, {"verdict": "pass"})
