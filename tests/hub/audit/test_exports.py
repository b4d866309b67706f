"""Lines as files, what they are searched by, and what a call says of itself."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token, record_event
from hub.core.context import CallContext, call_context, purpose_of
from knowledge.models import Collection
from tests.factories import upload_text
from tests.hub.admin.support import grant, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
EVIL = '=HYPERLINK("http://x")'


def exported(file_format: str, *more: str) -> str:
    out = io.StringIO()
    call_command("audit", "export", "--format", file_format, *more, stdout=out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def no_lines_of_others(db: None) -> None:
    """Lines stay when the rows of a test go: nobody may remove single ones."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE access_auditevent")


@pytest.fixture
def line(db: None) -> AuditEvent:
    with call_context(
        CallContext(door="rest", request_id="r|1", agent=EVIL, address="2001:db8::1", purpose="監査|a=b")
    ):
        record_event(local_operator(), "DOCUMENT_READ", "document:doc_1", text="a\nb=c\\d|")
    return AuditEvent.objects.get()


def test_csv_has_no_formulas_and_every_column(line):
    row, _own = csv.DictReader(io.StringIO(exported("csv").removeprefix("\ufeff")))
    assert row["agent"] == f"'{EVIL}"
    assert json.loads(row["details"])["text"] == "a\nb=c\\d|"
    assert (row["purpose"], row["code"]) == ("監査|a=b", line.code)
    assert not any(value.startswith(("=", "+", "-", "@")) for value in row.values())


def test_json_lines_are_what_is_stored(line):
    row, _own = map(json.loads, exported("jsonl").splitlines())
    assert row["at"] == line.at.isoformat()
    assert (row["id"], row["address"], row["kind"]) == (line.pk, "2001:db8::1", "read")


def test_cef_escapes_what_would_begin_another_field(line):
    text, _own = exported("cef").splitlines()
    assert text.startswith("CEF:0|Hub|Knowledge hub|1|DOCUMENT_READ|DOCUMENT_READ|3|rt=")
    assert "cs4=監査|a\\=b" in text
    assert "c6a2=2001:db8::1" in text
    assert "requestClientApplication=\\=HYPERLINK" in text


def test_taking_lines_out_is_a_line_and_bad_days_are_named(line):
    exported("cef", "--day", "2026-03-31", "--person", "x")
    taken = AuditEvent.objects.get(action="AUDIT_EXPORT")
    assert taken.details == {"format": "cef", "asked": {"principal": "x", "day": "2026-03-31"}}
    assert taken.kind == "access"
    with pytest.raises(CommandError, match="--day"):
        exported("csv", "--day", "31.3.2026")


def asked(user: User, query: str) -> list[str]:
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)
    answer = Client().get(f"/api/v1/audit?limit=200&{query}", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.content
    return [one["resource"] or one["action"] for one in answer.json()["items"]]


def test_lines_are_found_by_person_object_day_action_kind_question_and_purpose(settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_audit_queries": "hash"})
    from hub.access.audit_lines import query_facts

    admin = User.objects.create_superuser("管理者")
    with call_context(CallContext(door="rest", request_id="r", purpose="年次監査")):
        record_event(local_operator(), "SEARCH", "", documents=["doc_a", "doc_b"], **query_facts("性能の目標"))
        record_event(local_operator(), "DOCUMENT_READ", "document:doc_a")
        record_event(local_operator(), "REVIEW_START", "review:rev_a", document_id="doc_c")
    assert set(asked(admin, "about=doc_a")) == {"document:doc_a", "SEARCH"}
    assert asked(admin, "about=doc_b") == ["SEARCH"]
    assert asked(admin, "about=doc_c") == ["review:rev_a"]
    assert asked(admin, "question=性能の目標") == ["SEARCH"]
    assert len(asked(admin, "purpose=年次")) == 3
    assert asked(admin, "kind=change&principal=operator") == ["review:rev_a"]
    today = timezone.localdate()
    assert "document:doc_a" in asked(admin, f"day={today.isoformat()}")
    assert asked(admin, f"day={(today - timedelta(days=2)).isoformat()}") == []


def test_an_auditor_is_given_the_file_of_what_they_audit_and_no_ids_of_other_documents(tmp_path):
    document = upload_text(local_operator(), tmp_path, "# 監査\n\n本文。\n").document
    auditor = make_user("監査人")
    grant(auditor, Role.AUDITOR, document.collection)
    other = Collection.objects.create(slug="other", name="他")
    record_event(local_operator(), "SEARCH", f"collection:{other.slug}", documents=["doc_hidden"])
    record_event(local_operator(), "SEARCH", f"collection:{document.collection.slug}", documents=["doc_hidden"])
    _row, token = create_token(principal=local_operator(), user=auditor, name="t", scopes=ALL_SCOPES)
    answer: Any = Client().get("/api/v1/audit/export?format=jsonl", headers={"Authorization": f"Bearer {token}"})
    text = b"".join(answer.streaming_content).decode()
    rows = [json.loads(row) for row in text.splitlines()]
    assert {row["resource"] for row in rows} >= {f"document:{document.public_id}"}
    assert "collection:other" not in text
    assert "doc_hidden" not in text


def test_the_admin_finds_lines_by_person_day_and_document(client):
    admin = User.objects.create_superuser("管理者")
    client.force_login(admin)
    record_event(local_operator(), "SEARCH", "", documents=["doc_shown"])
    record_event(local_operator(), "SEARCH", "", documents=["doc_else"])
    for term, expected in (("doc_shown", 1), (timezone.localdate().isoformat(), 2), ("2001-01-01", 0), ("operator", 2)):
        page = client.get(reverse("admin:access_auditevent_changelist"), {"q": term})
        found = [one for one in page.context_data["cl"].result_list if one.action == "SEARCH"]
        assert len(found) == expected, term


def test_a_call_says_what_it_is_for(client):
    admin = User.objects.create_superuser("管理者")
    _row, token = create_token(principal=local_operator(), user=admin, name="t", scopes=ALL_SCOPES)
    headers = {"Authorization": f"Bearer {token}", "X-Purpose": "%E7%9B%A3%E6%9F%BB 2026"}
    Client().get("/api/v1/audit", headers=headers)
    assert AuditEvent.objects.get(action="AUDIT_READ").purpose == "監査 2026"
    call_command("audit", "export", "--purpose", "引き継ぎ", stdout=io.StringIO())
    assert AuditEvent.objects.get(action="AUDIT_EXPORT").purpose == "引き継ぎ"


def test_a_purpose_is_one_line_of_two_hundred_characters():
    assert purpose_of("a\r\nb\x00c") == "a b c"
    assert purpose_of("監査".encode().decode("latin-1")) == "監査"
    assert len(purpose_of("長" * 900)) == 200
    assert purpose_of(None) == purpose_of(7) == ""
