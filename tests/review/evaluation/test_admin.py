"""The admin's pages of evaluation: who may look, importing with a preview, running, the trend."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from hub.access.models import HubRoleGrant
from hub.access.principals import HubRole, local_operator
from hub.core.errors import InvalidInput
from hub.evaluation.models import EvaluationDataset, EvaluationRun
from review.evaluation import cases, datasets, execution, runs
from tests.factories import upload_file, work_through
from tests.hub.admin.support import client_of, make_user
from tests.review.evaluation.sample_cases import CASES, SAMPLE, UNDEFINED

pytestmark = pytest.mark.django_db
LIST = "admin:evaluation_evaluationdataset_changelist"


def test_a_curator_makes_imports_runs_and_sees_the_trend(queue) -> None:
    document = work_through(upload_file(local_operator(), SAMPLE, document_type="basic_design").document)
    client = client_of(make_user("品質", is_superuser=True))
    client.post(reverse("admin:evaluation_evaluationdataset_create"), {"code": "gold", "name": "正解データ"})
    page = reverse("admin:evaluation_evaluationdataset_change", args=[EvaluationDataset.objects.get().pk])
    assert "正解データ" in client.get(reverse(LIST)).content.decode()

    door = reverse("admin:evaluation_evaluationdataset_import", args=["gold"])
    given = (*CASES, UNDEFINED | {"path": document.public_id})
    lines = [json.dumps(case, ensure_ascii=False) for case in given]
    wrong = SimpleUploadedFile("c.jsonl", "\n".join([*lines, '{"path": "x"}']).encode())
    assert "name what decides" in client.post(door, {"file": wrong}).content.decode()
    shown = client.post(door, {"file": SimpleUploadedFile("c.jsonl", "\n".join(lines).encode()), "preview": "1"})
    assert "無い文書.md" in shown.content.decode()
    client.post(door, {"file": SimpleUploadedFile("c.jsonl", "\n".join(lines).encode())})
    assert EvaluationDataset.objects.get().cases.count() == len(given)

    for _time in range(2):
        client.post(reverse("admin:evaluation_evaluationdataset_run", args=["gold"]))
        execution.execute(EvaluationRun.objects.order_by("-pk")[0].pk)
    trend = reverse("admin:evaluation_evaluationdataset_trend", args=["gold"])
    assert trend in client.get(page).content.decode()
    lines = json.loads(client.get(trend).context["measures_chart"])["datasets"]
    assert lines[-1]["data"] == [1.0, 1.0]  # reproducibility
    run = EvaluationRun.objects.order_by("-pk")[0]
    detail = reverse("admin:evaluation_evaluationrun_page", args=[run.public_id])
    shown = client.get(detail)
    assert "false_positive_rate" in shown.content.decode()
    assert {name for name, _figures in shown.context["documents"]} >= {document.title, SAMPLE.name}
    client.post(reverse("admin:evaluation_evaluationrun_baseline", args=[run.public_id]))
    run.refresh_from_db()
    assert run.is_baseline
    change = {"name": "新", "guards": "checklist:basic-design", "is_nightly": "on"}
    client.post(reverse("admin:evaluation_evaluationdataset_change_dataset", args=["gold"]), change)
    dataset = EvaluationDataset.objects.get()
    assert (dataset.name, dataset.is_nightly, dataset.guards) == ("新", True, ["checklist:basic-design"])


def test_who_names_readers_does_so_on_the_page_without_reading_the_dataset() -> None:
    datasets.create_dataset(principal=local_operator(), code="gold", name="秘密の正解")
    evaluator, approver = make_user("評価者"), make_user("整備者")
    HubRoleGrant.objects.create(user=evaluator, role=HubRole.EVALUATOR)
    HubRoleGrant.objects.create(user=approver, role=HubRole.CURATOR)
    door = reverse("admin:evaluation_evaluationdataset_readers", args=["gold"])
    refused = client_of(evaluator).post(door, {"readers": "評価者"}, follow=True).content.decode()
    assert not EvaluationDataset.objects.get().readers.exists()
    assert "整備者" not in refused

    client = client_of(approver)
    listed = client.get(reverse(LIST)).content.decode()
    assert door in listed
    assert "秘密の正解" not in listed
    assert "いない人" in client.post(door, {"readers": "評価者、いない人"}, follow=True).content.decode()
    client.post(door, {"readers": "評価者"})
    assert [user.username for user in EvaluationDataset.objects.get().readers.all()] == ["評価者"]
    assert "秘密の正解" in client_of(evaluator).get(reverse(LIST)).content.decode()
    assert door not in client_of(evaluator).get(reverse(LIST), follow=True).content.decode()


def test_who_reads_no_dataset_sees_neither_list_nor_run() -> None:
    dataset = EvaluationDataset.objects.create(code="gold", name="秘密の正解")
    run = EvaluationRun.objects.create(dataset=dataset, kind="review", subject="x", principal="x")
    client = client_of(make_user("他人"))
    assert client.get(reverse(LIST)).status_code == 403
    detail = client.get(reverse("admin:evaluation_evaluationrun_page", args=[run.public_id]), follow=True)
    assert "秘密の正解" not in detail.content.decode()


def measured(dataset: EvaluationDataset, f1: float, **fields: Any) -> EvaluationRun:
    """A completed run as it is stored."""
    metrics = {name: {"value": f1, "low": f1, "high": f1} for name in ("f1_score", "agreement", "precision", "recall")}
    return EvaluationRun.objects.create(
        dataset=dataset, kind="review", principal="夜間", metrics=metrics, **{"subject": "basic-design v1", **fields}
    )


def test_the_trend_shows_baseline_flips_and_what_was_changed_in_between() -> None:
    dataset = EvaluationDataset.objects.create(code="gold", name="正解")
    client = client_of(make_user("品質", is_superuser=True), language="en")
    door = reverse("admin:evaluation_evaluationdataset_trend", args=["gold"])
    assert "Nothing was measured yet" in client.get(door).content.decode()
    first = measured(dataset, 0.8, is_baseline=True, parameters={"documents": {"a.md": 1}, "last_case": 4})
    second = measured(
        dataset,
        0.7,
        subject="basic-design v2",
        baseline=first,
        parameters={"documents": {"a.md": 2}, "last_case": 5},
        flips=[{"is_worse": True}, {"is_worse": True}, {"is_worse": False}],
    )
    second.metrics |= {"delta": {"f1_score": -0.1}, "regression": True, "improved": False}
    second.save(update_fields=["metrics"])
    shown = client.get(door)
    newest, oldest = shown.context["rows"]
    assert (newest["worse"], newest["better"], newest["delta"], oldest["delta"]) == (2, 1, -0.1, None)
    assert newest["changes"] == ["basic-design v1 → basic-design v2", "1 document", "cases"]
    chart = json.loads(shown.context["measures_chart"])
    assert chart["datasets"][0]["data"] == [0.8, 0.7]
    assert chart["datasets"][0]["pointRadius"] == [7, 3]
    assert "★" in chart["labels"][0]
    assert [line["data"] for line in json.loads(shown.context["flips_chart"])["datasets"]] == [[0, 1], [0, -2]]
    assert "unfold/js/chart/chart.js" in shown.content.decode()
    stranger = client_of(make_user("他人")).get(door, follow=True)
    assert "正解" not in stranger.content.decode()


def test_any_two_runs_of_a_dataset_are_compared(queue) -> None:
    work_through(upload_file(local_operator(), SAMPLE, document_type="basic_design").document)
    datasets.create_dataset(principal=local_operator(), code="gold")
    rows = cases.rows_of(CASES)
    cases.import_cases(principal=local_operator(), dataset="gold", rows=rows)
    started = [runs.start_run(principal=local_operator(), dataset="gold", rounds=3) for _time in range(2)]
    for run in started:
        execution.execute(run.pk)
    first, second = (runs.get_run(local_operator(), run.public_id) for run in started)
    flipped = next(iter(first.scores))
    first.scores[flipped]["said"] = "pass" if first.scores[flipped]["said"] == "fail" else "fail"
    first.save(update_fields=["scores"])
    told = runs.compare_runs(local_operator(), second.public_id, base_id=first.public_id)
    assert (told.baseline_evaluation_id, told.compared_cases) == (first.public_id, len(CASES))
    assert [flip["case"] for flip in told.flips] == [int(flipped)]
    second.refresh_from_db()
    assert (second.baseline, second.metrics["reproducibility"]["value"]) == (None, 1.0)
    client = client_of(make_user("品質", is_superuser=True), language="en")
    page = reverse("admin:evaluation_evaluationrun_page", args=[second.public_id])
    assert f"Against {first.public_id}" in client.get(page, {"base": first.public_id}).content.decode()
    with pytest.raises(InvalidInput):
        runs.compare_runs(local_operator(), first.public_id, base_id=first.public_id)
