"""The REST door of evaluation, from a dataset to a comparison."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from openpyxl import Workbook

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from tests.factories import upload_file, work_through
from tests.review.evaluation.sample_cases import CASES, SAMPLE

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(queue) -> Client:
    user = User.objects.create_superuser("quality")
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


def test_from_a_dataset_to_a_comparison(client: Client) -> None:
    work_through(upload_file(local_operator(), SAMPLE, document_type="basic_design").document)
    base = "/api/v1/evaluation"
    made = client.post(f"{base}/datasets", {"code": "gold", "name": "正解"}, content_type="application/json")
    assert (made.status_code, made["Location"]) == (201, f"{base}/datasets/gold")
    again = client.post(f"{base}/datasets", {"code": "gold"}, content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "dataset_exists")

    door = f"{base}/datasets/gold/cases/import"
    bad = client.post(door, {"cases": [CASES[0], {"path": "x"}]}, content_type="application/json")
    assert (bad.status_code, bad.json()["code"]) == (422, "bad_cases")
    assert client.post(door, {"cases": CASES[:1]}, content_type="application/json").json()["created"] == 1
    lines = "\n".join(json.dumps(case, ensure_ascii=False) for case in CASES)
    file = SimpleUploadedFile("cases.jsonl", lines.encode())
    assert client.post(f"{door}/preview", {"file": file}).json()["created"] == 4
    file.seek(0)
    assert client.post(door, {"file": file}).json() | {"unknown_documents": []} == {
        "dataset": "gold",
        "created": 4,
        "replaced": 0,
        "unchanged": 1,
        "bad_rows": [],
        "skipped_rows": [],
        "unknown_documents": [],
    }
    assert len(client.get(f"{base}/datasets/gold/cases").json()["items"]) == 5

    first = client.post(f"{base}/runs", {"dataset": "gold", "metrics": ["f1"]}, content_type="application/json")
    assert first.status_code == 202
    assert first.json()["status"] == "completed"
    assert list(first.json()["metrics"]) == ["f1_score"]
    second = client.post(
        f"{base}/runs", {"dataset": "gold", "compare_baseline": True}, content_type="application/json"
    ).json()
    assert second["comparison"]["regression"] is False
    assert second["comparison"]["baseline_evaluation_id"] == first.json()["evaluation_id"]
    assert client.get(first["Location"]).json()["details"]["samples_evaluated"] == 5
    assert client.post(f"{first['Location']}/baseline").json()["is_baseline"] is True
    assert len(client.get(f"{base}/runs?dataset=gold").json()["items"]) == 2
    assert client.delete(f"{base}/datasets/gold").status_code == 204


def test_an_excel_file_and_a_file_of_something_else(client: Client) -> None:
    client.post("/api/v1/evaluation/datasets", {"code": "gold"}, content_type="application/json")
    book = Workbook()
    book.active.append(["path", "topic", "item", "expected_verdict"])
    book.active.append(["設計書.md", "purpose", "目的", "pass"])
    content = io.BytesIO()
    book.save(content)
    door = "/api/v1/evaluation/datasets/gold/cases/import"
    file = SimpleUploadedFile("cases.xlsx", content.getvalue())
    assert client.post(door, {"file": file}).json()["created"] == 1
    refused = client.post(door, {"file": SimpleUploadedFile("cases.pdf", b"%PDF-1.7\xff")})
    assert (refused.status_code, refused.json()["code"]) == (422, "unreadable_cases")
    assert client.post(door, {"cases": 1}, content_type="application/json").status_code == 422
    assert client.post(door, {}).status_code == 422
