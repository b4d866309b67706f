"""Working on several documents again over REST: what failed, what is named, and what is refused one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from knowledge.documents.deletion import retire_document
from knowledge.models import Document, DocumentStatus
from tests.factories import new_collection, upload_text, work_through

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


@pytest.fixture
def retry() -> Any:
    user = User.objects.create_superuser("管理者")
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)

    def ask(body: object, *, path: str = "/documents/retry", method: str = "post") -> Any:
        return Client().generic(
            method.upper(),
            f"/api/v1{path}",
            json.dumps(body) if body is not None else "",
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}", "Accept-Language": "ja"},
        )

    return ask


def add(folder: Any, name: str, text: str, collection: str = "default") -> Document:
    return work_through(upload_text(local_operator(), folder, text, name=name, collection=collection).document)


def status(document: Document) -> str:
    document.refresh_from_db()
    assert document.latest_version is not None
    return document.latest_version.status


def test_what_failed_in_a_collection_is_worked_on_again(retry: Any, tmp_path: Any) -> None:
    elsewhere = new_collection()
    failed = add(tmp_path, "空.md", "")
    ready = add(tmp_path, "規程.md", "# 規程\n\n三年保存する。\n")
    other = add(tmp_path, "空2.md", "", elsewhere.slug)
    assert (status(failed), status(other)) == (DocumentStatus.FAILED, DocumentStatus.FAILED)

    answer = retry({"collection": "default"})

    assert answer.status_code == 202
    assert answer.json() == {"started": [failed.public_id], "refused": []}
    assert (status(failed), status(ready), status(other)) == ("stored", "ready", "failed")


def test_each_refusal_is_told_and_the_others_go_on(retry: Any, tmp_path: Any) -> None:
    document = add(tmp_path, "規程.md", "# 規程\n\n三年保存する。\n")
    retired = add(tmp_path, "旧.md", "# 旧規程\n\n一年保存する。\n")
    retire_document(retired)

    answer = retry({"document_ids": ["doc_unknown", retired.public_id, document.public_id]}).json()

    assert answer["started"] == [document.public_id]
    assert [(one["document_id"], one["code"]) for one in answer["refused"]] == [
        ("doc_unknown", "document_not_found"),
        (retired.public_id, "document_retired"),
    ]


@pytest.mark.parametrize("body", [{}, {"document_ids": ["doc_a"], "collection": "default"}])
def test_either_documents_or_a_collection_are_named(retry: Any, body: object) -> None:
    assert retry(body).status_code == 422


def test_a_collection_says_how_its_documents_are_cut_and_those_cut_otherwise_are_cut_anew(
    retry: Any, tmp_path: Any
) -> None:
    document = add(tmp_path, "規程.md", "# 規程\n\n三年保存する。\n")
    chunking = {"strategy": "section", "size": 128, "overlap": 16, "unit": "tokens"}

    told = retry({"chunking": chunking}, path="/collections/default/chunking", method="put")
    again = retry({"collection": "default", "cut_otherwise": True})

    assert told.json() == {"chunking": chunking, "cut_otherwise": 1}
    assert again.json() == {"started": [document.public_id], "refused": []}
    refused = retry({"chunking": {**chunking, "overlap": 100}}, path="/collections/default/chunking", method="put")
    assert refused.status_code == 422
    shown = retry(None, path="/collections/default/chunking", method="get")
    assert shown.json() == {"chunking": chunking, "cut_otherwise": 0}
