"""Batches over REST: what came in together, how far it is, tried again, taken back; nobody else's."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hub.access.permissions import Role
from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from knowledge.documents import batches
from knowledge.models import Collection, Document
from tests.factories import new_user, work_through
from tests.hub.admin.support import grant

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
BATCH = "令和7年度"


def caller(username: str) -> Any:
    """A way to call as a new person who may upload."""
    user = new_user(username=username)
    grant(user, Role.CURATOR, Collection.objects.get(slug="default"))
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)
    client = Client(headers={"Authorization": f"Bearer {token}", "Accept-Language": "ja"})

    def call(method: str, address: str, **fields: Any) -> Any:
        return getattr(client, method)(f"/api/v1{address}", fields or None)

    return call


def send(call: Any, name: str, content: bytes, **more: str) -> Any:
    return call("post", "/documents", file=SimpleUploadedFile(name, content), **more)


def test_a_batch_is_followed_tried_again_and_taken_back() -> None:
    call = caller("登録者")
    assert send(call, "前から.md", "# 前\n\n前の内容。\n".encode()).status_code == 202
    for name, content in (("前から.md", "# 前\n\n新しい内容。\n".encode()), ("壊れた.pdf", b"%PDF-1.4 broken")):
        assert send(call, name, content, batch="office-7").status_code == 202
    for document in Document.objects.all():
        work_through(document)
    counts = {"name": "office-7", "in_work": 0, "ready": 1, "needs_ocr": 0, "failed": 1, "retired": 0}
    assert call("get", "/batches/office-7").json() == counts
    listed = call("get", "/batches/office-7/documents").json()
    assert [one["path"] for one in listed["items"]] == ["前から.md", "壊れた.pdf"]
    retried = call("post", "/batches/office-7/retry")
    assert (retried.status_code, retried.headers["Location"]) == (202, "/api/v1/batches/office-7")
    assert retried.json() == {"started": [Document.objects.get(path="壊れた.pdf").public_id], "refused": []}
    undone = call("post", "/batches/office-7/undo")
    assert undone.json() == {"deleted": ["壊れた.pdf"], "restored": ["前から.md"], "refused": [], "left": 0}
    assert call("post", "/batches/office-7/undo").json()["restored"] == []


def test_one_request_tries_a_bounded_number_again(monkeypatch: pytest.MonkeyPatch) -> None:
    call = caller("登録者")
    for number in range(3):
        send(call, f"壊れた{number}.pdf", b"%PDF-1.4 broken" + bytes([number]), batch="office-8")
    for document in Document.objects.all():
        work_through(document)
    monkeypatch.setattr(batches, "MOST_AT_ONCE", 2)
    assert [len(call("post", "/batches/office-8/retry").json()["started"]) for _again in range(3)] == [2, 1, 0]


def test_a_batch_is_its_uploaders_own_and_has_a_name_of_letters() -> None:
    call = caller("登録者")
    assert send(call, "文書.md", "# 文書\n\n内容。\n".encode(), batch="own").status_code == 202
    assert send(call, "文書2.md", "# 文書\n\n内容。\n".encode(), batch=BATCH).status_code == 422
    other = caller("同僚")
    for method, address in (("get", "own"), ("get", "own/documents"), ("post", "own/retry"), ("post", "own/undo")):
        answer = other(method, f"/batches/{address}")
        assert (answer.status_code, answer.json()["code"]) == (404, "batch_not_found")
    assert Document.objects.filter(path="文書.md").exists()
