"""GET /audit: what happened, for those who may know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hub.access.principals import ALL_SCOPES, Role, Scope, local_operator
from hub.access.services import create_token
from knowledge.models import Collection, Document
from tests.factories import upload_text
from tests.hub.admin.support import grant, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


def ask(user: User, path: str, scopes: frozenset[Scope] = ALL_SCOPES) -> Any:
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=scopes)
    return Client().get(f"/api/v1{path}", headers={"Authorization": f"Bearer {token}"})


def upload(folder: Path, title: str) -> Document:
    return upload_text(local_operator(), folder, f"# {title}\n\n本文。\n", name=f"{title}.md").document


def test_a_superuser_reads_the_trail_newest_first_and_page_by_page(tmp_path):
    document = upload(tmp_path, "監査")
    admin = User.objects.create_superuser("管理者")
    first = ask(admin, "/audit?limit=1").json()
    assert len(first["items"]) == 1
    assert first["next_cursor"]
    uploads = ask(admin, f"/audit?action=DOCUMENT_UPLOAD&resource=document:{document.public_id}").json()["items"]
    assert [event["action"] for event in uploads] == ["DOCUMENT_UPLOAD"]
    assert ask(admin, "/audit?since=2999-01-01T00:00:00Z").json()["items"] == []


def test_an_auditor_reads_only_of_the_collections_audited(tmp_path):
    seen, hidden = upload(tmp_path, "見える"), upload(tmp_path, "見えない")
    other = Collection.objects.create(slug="other", name="他")
    hidden.collection = other
    hidden.save()
    auditor = make_user("監査人")
    grant(auditor, Role.AUDITOR, seen.collection)
    resources = {event["resource"] for event in ask(auditor, "/audit?limit=200").json()["items"]}
    assert f"document:{seen.public_id}" in resources
    assert f"document:{hidden.public_id}" not in resources


def test_without_the_scope_nothing_is_told():
    admin = User.objects.create_superuser("管理者")
    assert ask(admin, "/audit", frozenset({Scope.READ})).status_code == 403
