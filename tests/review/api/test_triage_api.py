"""Triage, verdicts, answers, comparing and signing off through REST; reports through REST, MCP and command line."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import openpyxl
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import translation

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from mcp_bridge.caller import Caller, caller_context
from mcp_bridge.servers.core import create_report
from review.models import Finding
from review.report import build_report
from tests.review.conftest import DESIGN, review_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(db: None, queue: None) -> Iterator[Any]:
    user = User.objects.create_superuser("admin", password="x")
    token = create_token(principal=local_operator(), user=user, name="t", scopes=frozenset(ALL_SCOPES))[1]
    client = Client(headers={"Authorization": f"Bearer {token}", "Accept-Language": "en"})

    def call(method: str, path: str, body: object = None, **more: Any) -> Any:
        data = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        return getattr(client, method)(f"/api/v1{path}", **data, **more)

    with translation.override("ja"):  # the client's language is not to stay
        yield call


def test_a_finding_is_decided_and_its_history_told(api, review):
    finding = Finding.objects.filter(result__review=review).first().public_id
    body = {"triage": "waived", "reason": "次期で対応", "expires_at": "2099-03-31", "assignee": "admin", "revision": 0}
    answer = api("patch", f"/findings/{finding}", body)
    assert answer.status_code == 200, answer.content
    shown = answer.json()
    assert (shown["triage"], shown["assignee"], shown["revision"]) == ("waived", "admin", 1)
    assert shown["expires_at"].startswith("2099-03-31T")
    stale = api("patch", f"/findings/{finding}", body | {"triage": "open", "expires_at": None})
    assert (stale.status_code, stale.json()["code"]) == (409, "changed_meanwhile")
    history = api("get", f"/findings/{finding}/history").json()["history"]
    assert [line["kind"] for line in history] == ["triage", "assign"]
    assert api("patch", "/findings/fnd_x", {"triage": "open"}).status_code == 404


def test_a_finding_is_assigned_with_the_day_when_it_is_due(api, review):
    finding = Finding.objects.filter(result__review=review).first().public_id
    shown = api("patch", f"/findings/{finding}", {"assignee": "admin", "due_on": "2026-12-01"}).json()
    assert (shown["assignee"], shown["due_on"]) == ("admin", "2026-12-01")
    assert api("patch", f"/findings/{finding}", {"comment": "着手"}).json()["due_on"] == "2026-12-01"
    assert api("patch", f"/findings/{finding}", {"due_on": ""}).json()["due_on"] is None
    assert api("patch", f"/findings/{finding}", {"due_on": "そのうち"}).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"triage": "done"},
        {"triage": "waived", "reason": "x", "expires_at": "tomorrow"},
        {"triage": "waived", "reason": "x", "expires_at": "2099-13-01"},
        {"triage": "waived"},
        {"triage": 7},
        {"answer": {"answered_on": "x"}},
        {"assignee": "nobody"},
    ],
)
def test_what_makes_no_sense_is_422_and_never_500(api, review, body):
    finding = Finding.objects.filter(result__review=review).first().public_id
    assert api("patch", f"/findings/{finding}", body).status_code == 422


def test_several_findings_are_changed_at_once(api, review):
    ids = list(Finding.objects.filter(result__review=review).values_list("public_id", flat=True))
    answer = api("patch", "/findings", {"finding_ids": ids, "triage": "rejected", "reason": "対象外"})
    assert [one["id"] for one in answer.json()["findings"]] == ids
    assert {one["triage_reason"] for one in answer.json()["findings"]} == {"対象外"}
    assert api("get", f"/reviews/{review.public_id}").json()["verdict"] == "pass"


def test_a_verdict_by_a_person_and_the_sign_off(api, review):
    item = review.results.first().item_version.item.code
    decided = api("patch", f"/reviews/{review.public_id}/results/{item}", {"verdict": "pass", "reason": "確認済み"})
    assert decided.json()["method"] == "human"
    assert decided.json()["decision"]["decided_by"] == "admin"
    review.results.filter(pk=review.results.last().pk).update(verdict="skipped")
    state = api("get", f"/reviews/{review.public_id}/sign-off").json()
    assert {one["code"] for one in state["blocking"]} == {"skipped", "critical"}
    refused = api("post", f"/reviews/{review.public_id}/sign-off", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "sign_off_blocked")
    for blocker in state["blocking"]:
        if blocker["finding_id"]:
            api("patch", f"/findings/{blocker['finding_id']}", {"triage": "accepted"})
        else:
            path = f"/reviews/{review.public_id}/results/{blocker['check_item_id']}"
            api("patch", path, {"verdict": "warning", "reason": "目視で確認"})
    seen = state["revision"]
    stale = api("post", f"/reviews/{review.public_id}/sign-off", {"comment": "承認", "revision": seen})
    assert (stale.status_code, stale.json()["code"]) == (409, "changed_meanwhile")
    seen = api("get", f"/reviews/{review.public_id}/sign-off").json()["revision"]
    signed = api("post", f"/reviews/{review.public_id}/sign-off", {"comment": "承認", "revision": seen})
    assert signed.json()["signed"]
    assert api("get", f"/reviews/{review.public_id}").json()["signatures"][0]["name"] == "admin"


def test_the_difference_between_two_reviews(api, review, tmp_path):
    second = review_text(tmp_path, DESIGN.replace("版数: 1.2", "版数: 1.1"))
    found = api("get", f"/reviews/{second.public_id}/diff?base={review.public_id}").json()
    assert [one["rule_id"] for one in found["fixed"]] == ["document.version_mismatch"]
    assert found["new"] == found["moved"] == []
    assert len(found["open"]) == len(api("get", f"/reviews/{second.public_id}").json()["findings"])
    assert api("get", f"/reviews/{second.public_id}/diff").status_code == 422
    assert api("get", f"/reviews/{second.public_id}/diff?base={second.public_id}").status_code == 422


def test_reports_are_downloads_of_their_own_type(api, review):
    for report_format, kind in (("html", "text/html"), ("xlsx", "spreadsheetml"), ("docx", "wordprocessingml")):
        answer = api("get", f"/reviews/{review.public_id}/report?format={report_format}&evidence=false")
        assert kind in answer["Content-Type"]
        assert answer["Content-Disposition"].startswith("attachment")
        assert "sandbox" in answer["Content-Security-Policy"]
    assert api("get", f"/reviews/{review.public_id}/report?format=pdf").status_code == 422


def test_answers_come_back_through_rest(api, review):
    report = api("get", f"/reviews/{review.public_id}/report?format=xlsx&language=ja")
    book = openpyxl.load_workbook(BytesIO(report.content))
    book.worksheets[0].cell(5, 9, "直しました")
    target = BytesIO()
    book.save(target)

    def send(query: str = "", content: bytes = target.getvalue()) -> Any:
        file = SimpleUploadedFile("表.xlsx", content)
        return api("post", f"/reviews/{review.public_id}/answers{query}", data={"file": file})

    preview = send().json()
    assert (preview["applied"], preview["changes"][0]["fields"][0]["after"]) == (False, "直しました")
    assert not Finding.objects.filter(answer__text="直しました").exists()
    assert send("?apply=true").json()["applied"]
    assert Finding.objects.filter(answer__text="直しました").count() == 1
    assert send(content=b"x").status_code == 422
    assert send(content=b"x" * (10 * 1024 * 1024 + 1)).status_code == 413


def test_assistants_get_the_same_reports(review):
    with caller_context(Caller(principal=local_operator(), is_local=True)):
        for report_format in ("html", "xlsx"):
            result = create_report(review.public_id, report_format)
            same = build_report(
                principal=local_operator(), review_id=review.public_id, report_format=report_format
            ).content
            content = result.report_content
            encoded = result.content_encoding == "base64"
            assert (base64.b64decode(content) if encoded else content.encode()) == same


def test_the_command_line_writes_files_and_compares_with_a_baseline(review, tmp_path):
    target = tmp_path / "表.xlsx"
    with pytest.raises(SystemExit) as done:
        call_command(
            "review", review.document_id_text, format="xlsx", output=target, baseline=review.public_id, token=""
        )
    assert done.value.code == 1
    assert len(openpyxl.load_workbook(target).worksheets) == 4
