"""Sources, jobs and holds over REST: shapes, codes, and that what is left out stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token, principal_for_user
from knowledge.documents import scans, sources
from knowledge.models import Collection, Document, Source
from tests.factories import upload_text
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]

CHUNKING = {"strategy": "section", "size": 200, "overlap": 20, "unit": "tokens"}


@pytest.fixture
def call():
    """Call the API as the first administrator."""
    user = User.objects.create_superuser("管理者")
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)
    client = Client()

    def ask(method: str, path: str, body: object | None = None) -> Any:
        return client.generic(
            method,
            f"/api/v1{path}",
            b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}", "Accept-Language": "ja"},
        )

    return ask


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "資料"
    root.mkdir()
    (root / "用語.md").write_text("# 用語\n\nサーバーとは計算機をいう。\n", encoding="utf-8")
    return root


def test_a_source_is_made_read_changed_scanned_and_deleted(call, folder):
    made = call("POST", "/sources", {"name": "資料室", "location": f"{folder}/", "chunking": CHUNKING})
    assert made.status_code == 201
    assert made.json() == {
        "name": "資料室",
        "kind": "folder",
        "location": str(folder),
        "collection": "default",
        "chunking": CHUNKING,
        "enabled": True,
        "scan_every_minutes": 15,
        "scanned_at": None,
        "report": None,
    }
    scans.scan(Source.objects.get().pk)
    read = call("GET", "/sources/資料室").json()
    assert (read["report"]["state"], read["report"]["new"]) == ("completed", 1)
    changed = call("PATCH", "/sources/資料室", {"scan_every_minutes": 60}).json()
    assert (changed["scan_every_minutes"], changed["chunking"], changed["enabled"]) == (60, CHUNKING, True)
    assert call("PATCH", "/sources/資料室", {"chunking": None}).json()["chunking"] is None
    asked = call("POST", "/sources/資料室/scan")
    assert asked.status_code == 202
    assert call("GET", asked["Location"].removeprefix("/api/v1")).json()["name"] == "資料室"
    assert [item["name"] for item in call("GET", "/sources").json()["items"]] == ["資料室"]
    assert call("DELETE", "/sources/資料室").status_code == 204
    assert call("GET", "/sources/資料室").json()["code"] == "source_not_found"
    assert Document.objects.count() == 1


def test_only_the_scan_that_was_seen_is_taken_back(call, folder):
    source = sources.create_source(
        principal=local_operator(), name="資料室", location=str(folder), collection="default"
    )
    scans.scan(source.pk)
    seen = call("GET", "/sources/資料室").json()["report"]["undo"]["scan"]
    (folder / "規程.md").write_text("# 規程\n\n本文。\n", encoding="utf-8")
    Source.objects.update(scanned_at=None)
    scans.scan(source.pk)
    assert call("POST", "/sources/資料室/undo").status_code == 422
    refused = call("POST", "/sources/資料室/undo", {"scan": seen})
    assert (refused.status_code, refused.json()["code"]) == (409, "scanned_meanwhile")
    assert Document.objects.count() == 2
    last = call("GET", "/sources/資料室").json()["report"]["undo"]["scan"]
    assert call("POST", "/sources/資料室/undo", {"scan": last}).json()["deleted"] == ["規程.md"]
    assert call("GET", "/sources/資料室").json()["report"]["state"] == "taken_back"


def test_a_look_names_the_documents_of_others_at_the_paths_of_files(call, folder, tmp_path):
    owner = make_user("hsato")
    grant(owner, Role.REVIEWER, Collection.objects.get(slug="default"))
    document = upload_text(principal_for_user(owner), tmp_path, "# 用語\n\n別の文書。\n", name="用語.md").document
    seen = call("POST", "/sources/preview", {"location": str(folder)}).json()["effects"]
    assert seen["others"] == [{"path": "用語.md", "document_id": document.public_id, "owner": "hsato"}]
    assert (seen["new"], seen["left_alone"]) == (0, 1)


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x"},
        {"name": "x", "location": "relative"},
        {"name": "x", "location": "/srv", "kind": "ftp"},
        {"name": "x", "location": "/srv", "scan_every_minutes": 0},
        {"name": "x", "location": "/srv", "scan_every_minutes": 10**9},
        {"name": "x", "location": "/srv", "chunking": {"size": 5}},
        {"name": "a/b", "location": "/srv"},
    ],
)
def test_a_source_that_can_not_be_is_422(call, body):
    assert call("POST", "/sources", body).status_code == 422
    assert not Source.objects.exists()


def test_what_is_under_way_is_listed_with_scans_first(call, folder, tmp_path):
    sources.create_source(principal=local_operator(), name="資料室", location=str(folder), collection="default")
    for number in range(3):
        upload_text(local_operator(), tmp_path, f"# 第 {number} 号\n\n本文。\n", name=f"{number}.md")
    first = call("GET", "/jobs?limit=2").json()
    assert [(item["kind"], item["status"]) for item in first["items"]] == [
        ("source", "queued"),
        ("document", "stored"),
        ("document", "stored"),
    ]
    rest = call("GET", f"/jobs?limit=2&cursor={first['next_cursor']}").json()
    assert [item["kind"] for item in rest["items"]] == ["document"]
    assert rest["next_cursor"] is None


def test_a_hold_is_set_shown_stops_deletion_and_is_lifted(call, tmp_path):
    document = upload_text(local_operator(), tmp_path, "# 契約\n\n本文。\n").document.public_id
    held = call("PATCH", f"/documents/{document}", {"legal_hold": "訴訟", "metadata": {"年": 7}}).json()
    assert (held["legal_hold"], held["metadata"], held["title"]) == ("訴訟", {"年": 7}, "設計書.md")
    refused = call("DELETE", f"/documents/{document}")
    assert (refused.status_code, refused.json()["code"]) == (409, "legal_hold")
    assert "訴訟" in refused.json()["detail"]
    assert call("PATCH", f"/documents/{document}", {"legal_hold": ""}).json()["legal_hold"] is None
    assert call("DELETE", f"/documents/{document}").status_code == 200


@pytest.mark.parametrize("body", [{"title": ""}, {"document_type": "novel"}, {"classification": "c9"}, {"title": 5}])
def test_a_change_that_can_not_be_is_422(call, tmp_path, body):
    document = upload_text(local_operator(), tmp_path, "# 契約\n\n本文。\n").document.public_id
    assert call("PATCH", f"/documents/{document}", body).status_code == 422


def admin_fields(**changed: object) -> dict[str, object]:
    return {
        "name": "資料室",
        "kind": "folder",
        "location": "/srv/documents",
        "collection": Collection.objects.get(slug="default").pk,
        "policy": "",
        "enabled": "on",
        "scan_every_minutes": 15,
        **changed,
    }


def test_an_administrator_makes_and_changes_a_source_in_the_admin(folder):
    client = client_of(make_user("佐藤", is_superuser=True))
    made = client.post(reverse("admin:knowledge_source_add"), admin_fields(location=str(folder)))
    assert made.status_code == 302
    source = Source.objects.get()
    scans.scan(source.pk)
    page = reverse("admin:knowledge_source_change", args=[source.pk])
    assert client.post(page, {"location": str(folder), "policy": "", "scan_every_minutes": 30}).status_code == 302
    source.refresh_from_db()
    assert (source.enabled, source.scan_every_minutes, source.name) == (False, 30, "資料室")
    shown = client.get(reverse("admin:knowledge_source_changelist")).content.decode()
    assert str(folder) in shown
    assert client.get(page).status_code == 200


def test_a_bad_location_is_told_in_the_admin_and_nothing_is_made():
    client = client_of(make_user("佐藤", is_superuser=True))
    shown = client.post(reverse("admin:knowledge_source_add"), admin_fields(location="相対"), follow=True)
    assert "相対" in shown.content.decode()
    assert not Source.objects.exists()


def test_a_curator_scans_in_the_admin_and_changes_nothing(folder):
    source = sources.create_source(
        principal=local_operator(), name="資料室", location=str(folder), collection="default"
    )
    scans.scan(source.pk)
    curator = make_user("担当")
    grant(curator, Role.CURATOR, source.collection)
    client = client_of(curator)
    page = reverse("admin:knowledge_source_changelist")
    client.post(page, {"action": "scan_now", "_selected_action": [source.pk]})
    source.refresh_from_db()
    assert source.scanned_at is None
    change = reverse("admin:knowledge_source_change", args=[source.pk])
    assert client.post(change, admin_fields(location="/etc")).status_code == 403
    assert client.get(reverse("admin:knowledge_source_add")).status_code == 403


def test_a_reader_sees_no_source_in_the_admin(folder):
    source = sources.create_source(
        principal=local_operator(), name="資料室", location=str(folder), collection="default"
    )
    reader = make_user("高橋")
    grant(reader, Role.READER, source.collection)
    assert client_of(reader).get(reverse("admin:knowledge_source_changelist")).status_code == 403


def test_deleting_a_source_in_the_admin_keeps_its_documents(folder):
    source = sources.create_source(
        principal=local_operator(), name="資料室", location=str(folder), collection="default"
    )
    scans.scan(source.pk)
    client = client_of(make_user("佐藤", is_superuser=True))
    client.post(reverse("admin:knowledge_source_delete", args=[source.pk]), {"post": "yes"})
    assert not Source.objects.exists()
    assert Document.objects.count() == 1
