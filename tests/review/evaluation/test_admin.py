"""The admin's pages of evaluation: who may look, importing with a preview, running, the trend."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from hub.access.principals import local_operator
from hub.evaluation.models import EvaluationDataset, EvaluationRun
from review.evaluation import execution
from tests.factories import upload_file, work_through
from tests.hub.admin.support import client_of, make_user
from tests.review.evaluation.test_evaluation import CASES, SAMPLE

pytestmark = pytest.mark.django_db
LIST = "admin:evaluation_evaluationdataset_changelist"


def test_a_curator_makes_imports_runs_and_sees_the_trend(queue) -> None:
    work_through(upload_file(local_operator(), SAMPLE, document_type="basic_design").document)
    client = client_of(make_user("品質", is_superuser=True))
    client.post(reverse("admin:evaluation_evaluationdataset_create"), {"code": "gold", "name": "正解データ"})
    page = reverse("admin:evaluation_evaluationdataset_change", args=[EvaluationDataset.objects.get().pk])
    assert "正解データ" in client.get(reverse(LIST)).content.decode()

    door = reverse("admin:evaluation_evaluationdataset_import", args=["gold"])
    lines = [json.dumps(case, ensure_ascii=False) for case in CASES]
    wrong = SimpleUploadedFile("c.jsonl", "\n".join([*lines, '{"path": "x"}']).encode())
    assert "name what decides" in client.post(door, {"file": wrong}).content.decode()
    shown = client.post(door, {"file": SimpleUploadedFile("c.jsonl", "\n".join(lines).encode()), "preview": "1"})
    assert "無い文書.md" in shown.content.decode()
    client.post(door, {"file": SimpleUploadedFile("c.jsonl", "\n".join(lines).encode())})
    assert EvaluationDataset.objects.get().cases.count() == len(CASES)

    for _time in range(2):
        client.post(reverse("admin:evaluation_evaluationdataset_run", args=["gold"]))
        execution.execute(EvaluationRun.objects.order_by("-pk")[0].pk)
    assert "<polyline" in client.get(page).content.decode()
    run = EvaluationRun.objects.order_by("-pk")[0]
    detail = reverse("admin:evaluation_evaluationrun_page", args=[run.public_id])
    assert "false_positive_rate" in client.get(detail).content.decode()
    client.post(reverse("admin:evaluation_evaluationrun_baseline", args=[run.public_id]))
    run.refresh_from_db()
    assert run.is_baseline
    change = {"name": "新", "guards": "checklist:basic-design", "readers": "品質", "is_nightly": "on"}
    client.post(reverse("admin:evaluation_evaluationdataset_change_dataset", args=["gold"]), change)
    dataset = EvaluationDataset.objects.get()
    assert (dataset.name, dataset.is_nightly, dataset.guards) == ("新", True, ["checklist:basic-design"])


def test_who_reads_no_dataset_sees_neither_list_nor_run() -> None:
    dataset = EvaluationDataset.objects.create(code="gold", name="秘密の正解")
    run = EvaluationRun.objects.create(dataset=dataset, kind="review", subject="x", principal="x")
    client = client_of(make_user("他人"))
    assert client.get(reverse(LIST)).status_code == 403
    detail = client.get(reverse("admin:evaluation_evaluationrun_page", args=[run.public_id]), follow=True)
    assert "秘密の正解" not in detail.content.decode()
