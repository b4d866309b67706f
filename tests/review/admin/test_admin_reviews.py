from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.urls import reverse
from django.utils.timezone import localtime

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from knowledge.documents.deletion import delete_document
from knowledge.models import Collection, Document, DocumentVersion
from knowledge.text.quotes import in_one_line
from review.models import Finding, Review, ReviewStatus
from review.runs import execution
from review.runs.reviews import get_review, review_facts, start_review
from tests.hub.admin.support import add_document, client_of, grant, make_user

pytestmark = pytest.mark.django_db
CHANGE = "admin:review_review_change"
START = "admin:review_review_start"


@pytest.fixture
def document(tmp_path: Path) -> Document:
    return add_document(tmp_path)


@pytest.fixture
def review(document: Document) -> Review:
    made = start_review(principal=local_operator(), document_id=document.public_id)
    execution.execute(made.pk)
    made.refresh_from_db()
    return made


@pytest.fixture
def client() -> Any:
    return client_of(make_user("佐藤", is_superuser=True))


def test_a_review_is_started_from_a_document(client: Any, document: Document) -> None:
    page = client.get(reverse("admin:knowledge_document_change", args=[document.pk])).content.decode()
    link = f"{reverse(START)}?document={document.public_id}"
    assert link in page
    assert document.public_id in client.get(link).content.decode()
    response = client.post(reverse(START), {"document": document.public_id, "checklist": "basic-design"})
    review = Review.objects.get()
    assert response["Location"] == reverse(CHANGE, args=[review.pk])
    assert review.requested_by is not None
    assert review.requested_by.username == "佐藤"
    assert AuditEvent.objects.filter(action="REVIEW_START", door="admin").exists()


def test_related_documents_are_named_on_the_start_page(client: Any, document: Document, tmp_path: Path) -> None:
    others = [
        add_document(tmp_path, text=f"# 要件{n}\n\n応答時間は{n}秒とする。\n", filename=f"要件{n}.md") for n in (1, 2)
    ]
    named = "、".join(other.public_id for other in others)
    client.post(reverse(START), {"document": document.public_id, "related_documents": f" {named} "})
    pinned = Review.objects.get().related.values_list("document_id_text", flat=True)
    assert list(pinned) == [other.public_id for other in others]
    shown = client.post(reverse(START), {"document": document.public_id, "related_documents": "doc_none"})
    assert "文書「doc_none」はありません" in shown.content.decode()


@pytest.mark.parametrize(("language", "judge"), [("ja", "規則"), ("en", "rules")])
def test_who_decided_a_check_is_named_in_the_persons_language(review: Review, language: str, judge: str) -> None:
    client = client_of(make_user("佐藤", is_superuser=True), language=language)
    shown = client.get(reverse(CHANGE, args=[review.pk])).content.decode()
    checks = shown.split('id="hub-checks"')[1].split("</table>")[0]
    assert f"<td>{judge}" in checks
    assert ("<td>rules" in checks) == (language == "en")


def test_documents_are_offered_by_title_to_those_who_may_have_them_reviewed(
    client: Any, document: Document, tmp_path: Path
) -> None:
    door = reverse("admin:knowledge_document_offered")
    asked = {"q": document.title[:3], "scope": "review"}
    (offered,) = client.get(door, asked).json()["found"]
    assert (offered["id"], offered["title"]) == (document.public_id, document.title)
    assert client.get(door, {"q": "そのような題名はない"}).json() == {"found": []}
    add_document(tmp_path, filename="壊れた.pdf", text="%PDF-1.4 broken")
    assert client.get(door, {"q": "壊れた", "scope": "review"}).json() == {"found": []}
    reader, stranger = make_user("鈴木"), make_user("高橋")
    grant(reader, Role.READER, document.collection)
    assert client_of(reader).get(door, asked).json() == {"found": []}
    assert client_of(reader).get(door, {"q": asked["q"], "scope": "read"}).json()["found"] == [offered]
    assert client_of(stranger).get(door, {"scope": "read"}).json() == {"found": []}


def test_the_check_list_is_proposed_with_its_reason_and_what_a_model_would_take(
    client: Any, document: Document, django_assert_max_num_queries: Any
) -> None:
    door = reverse("admin:review_review_plan")
    Document.objects.filter(pk=document.pk).update(document_type="basic_design", type_guess="made")
    with django_assert_max_num_queries(25):
        shown = client.get(door, {"document": document.public_id}).content.decode()
    assert "基本設計書" in shown
    assert "推定" in shown
    assert 'id="estimate"' in shown
    chosen = client.get(door, {"document": document.public_id, "checklist": "test-plan"}).content.decode()
    assert "のためのリストではありません" in chosen
    stranger = client_of(make_user("高橋")).get(door, {"document": document.public_id}).content.decode()
    assert "文書「" in stranger
    assert 'id="estimate"' not in stranger
    assert document.title not in stranger


def test_a_file_is_taken_in_from_the_list_by_those_who_may(client: Any, document: Document) -> None:
    reader = make_user("鈴木")
    grant(reader, Role.READER, document.collection)
    door = reverse("admin:review_review_changelist")
    assert "data-upload=" in client.get(door).content.decode()
    assert "data-upload=" not in client_of(reader).get(door).content.decode()


def test_a_document_that_is_not_there_is_told_on_the_form(client: Any) -> None:
    shown = client.post(reverse(START), {"document": "doc_none", "checklist": ""}).content.decode()
    assert "文書「doc_none」はありません" in shown


def test_the_page_shows_verdicts_findings_quotes_and_suggestions(client: Any, review: Review) -> None:
    assert review.status == ReviewStatus.COMPLETED
    shown = client.get(reverse(CHANGE, args=[review.pk])).content.decode()
    findings = Finding.objects.filter(result__review=review)
    assert findings.exists()
    for finding in findings:
        assert finding.public_id in shown
    quoted = next(finding for finding in findings if finding.evidence)
    assert f"<blockquote>{in_one_line(quoted.evidence[0]['quote'])}</blockquote>" in shown
    place = f"version=1&amp;start={quoted.location['start_offset']}"
    assert place in shown
    assert "改善案" in shown
    assert "不合格" in shown


def test_how_long_a_review_took_is_said_in_words(client: Any, review: Review) -> None:
    Review.objects.filter(pk=review.pk).update(
        started_at=review.created_at, finished_at=review.created_at + timedelta(seconds=185)
    )
    assert "3 分 5 秒" in client.get(reverse(CHANGE, args=[review.pk])).content.decode()


def test_findings_can_be_limited_to_one_severity(client: Any, review: Review) -> None:
    severities = set(Finding.objects.filter(result__review=review).values_list("severity", flat=True))
    one = sorted(severities)[0]
    shown = client.get(reverse(CHANGE, args=[review.pk]), {"severity": one}).content.decode()
    for finding in Finding.objects.filter(result__review=review):
        assert (f'id="{finding.public_id}"' in shown) == (finding.severity == one)


@pytest.mark.parametrize(("language", "heading"), [("ja", "# レビュー報告書"), ("en", "# Review report")])
def test_the_markdown_report_speaks_the_persons_language(review: Review, language: str, heading: str) -> None:
    client = client_of(make_user("佐藤", is_superuser=True), language=language)
    response = client.get(reverse("admin:review_review_report", args=[review.pk, "markdown"]))
    kind = {"ja": "レビュー報告書", "en": "Review report"}[language]
    day = f"{localtime(review.finished_at):%Y%m%d}"
    name = f"{kind}_{review.version.document.title}_v1_{day}.md"
    assert unquote(response["Content-Disposition"]) == f"attachment; filename*=utf-8''{name}"
    assert response.content.decode().startswith(heading)


def test_the_json_report_holds_the_reviews_facts(client: Any, review: Review) -> None:
    response = client.get(reverse("admin:review_review_report", args=[review.pk, "json"]))
    assert json.loads(response.content)["review_id"] == review.public_id
    assert AuditEvent.objects.filter(action="REPORT_DOWNLOAD", details__format="json").exists()


def test_an_unknown_report_format_is_told(client: Any, review: Review) -> None:
    response = client.get(reverse("admin:review_review_report", args=[review.pk, "pdf"]), follow=True)
    assert "format: " in response.content.decode()


def test_the_list_leads_to_the_desk_of_a_finished_review(client: Any, review: Review, document: Document) -> None:
    waiting = start_review(principal=local_operator(), document_id=document.public_id)
    shown = client.get(reverse("admin:review_review_changelist")).content.decode()
    assert f'href="{reverse("admin:review_review_triage", args=[review.pk])}"' in shown
    assert reverse(CHANGE, args=[waiting.pk]) in shown


def test_the_list_is_searched_by_title_path_and_id(client: Any, review: Review, document: Document) -> None:
    def listed(words: str) -> list[int]:
        response = client.get(reverse("admin:review_review_changelist"), {"q": words})
        return [one.pk for one in response.context["cl"].result_list]

    for words in (document.title[:4], document.path, document.public_id, review.public_id):
        assert listed(words) == [review.pk]
    assert listed("そのような題名") == []


def test_cancelling_stops_a_review(client: Any, document: Document) -> None:
    review = start_review(principal=local_operator(), document_id=document.public_id)
    shown = client.post(reverse("admin:review_review_cancel", args=[review.pk]), follow=True).content.decode()
    assert "レビューの状態: 中止" in shown
    review.refresh_from_db()
    assert review.status == ReviewStatus.CANCELLED
    assert client.get(reverse("admin:review_review_cancel", args=[review.pk])).status_code == 405


def test_reviews_of_hidden_documents_are_not_there(review: Review, document: Document) -> None:
    staff = make_user("高橋")
    grant(staff, Role.READER, Collection.objects.create(slug="betsu", name="別"))
    hidden = client_of(staff)
    assert hidden.get(reverse(CHANGE, args=[review.pk])).status_code == 302
    assert hidden.get(reverse("admin:review_review_report", args=[review.pk, "json"])).status_code == 404
    assert hidden.post(reverse("admin:review_review_cancel", args=[review.pk])).status_code == 404
    assert hidden.get(reverse("admin:review_review_progress"), {"of": review.pk}).json() == {}
    assert review.public_id not in hidden.get(reverse("admin:review_review_changelist")).content.decode()


def test_what_is_left_of_a_review_can_be_seen_when_its_document_is_deleted(client: Any, review: Review) -> None:
    delete_document(principal=local_operator(), document_id=review.document_id_text)
    assert review.document_id_text in client.get(reverse("admin:review_review_changelist")).content.decode()
    assert review.document_id_text in client.get(reverse(CHANGE, args=[review.pk])).content.decode()


def test_while_its_document_is_read_a_review_shows_the_documents_stage(client: Any, document: Document) -> None:
    review = start_review(principal=local_operator(), document_id=document.public_id)
    DocumentVersion.objects.filter(pk=review.version_id).update(status="embedding", progress=45)
    shown = client.get(reverse(CHANGE, args=[review.pk])).content.decode()
    assert "文書: ベクトル化中" in shown
    (state,) = client.get(reverse("admin:review_review_progress"), {"of": str(review.pk)}).json().values()
    assert (state["progress"], state["done"]) == (45, False)
    waiting = review_facts(get_review(local_operator(), review.public_id)).waiting_for
    assert waiting is not None
    assert (waiting.document_id, waiting.status, waiting.progress) == (document.public_id, "embedding", 45)
    DocumentVersion.objects.filter(pk=review.version_id).update(status="ready", progress=100)
    assert review_facts(get_review(local_operator(), review.public_id)).waiting_for is None
