"""A review is started at home against related documents, which are picked by title."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from hub.access.permissions import Role
from hub.access.principals import local_operator
from knowledge.models import Collection, Document
from review.models import Finding, RelatedVersion, Review
from review.runs import execution
from review.runs.reviews import ReviewOptions, start_review
from review.shipped import load_shipped_content
from tests.factories import new_collection, new_user, upload_text, work_through
from tests.hub.admin.support import client_of, grant, make_user
from tests.review.conftest import DESIGN

pytestmark = pytest.mark.django_db


def taken_in(folder: Path, name: str, text: str, kind: str) -> Document:
    return work_through(upload_text(local_operator(), folder, text, name=name, document_type=kind).document)


@pytest.fixture
def client(queue: None) -> Client:
    load_shipped_content()
    user = new_user(username="点検者")
    grant(user, Role.REVIEWER, Collection.objects.get(slug="default"))
    return client_of(user)


def test_a_design_is_reviewed_against_its_requirements(client: Client, tmp_path: Path) -> None:
    design = taken_in(tmp_path, "基本設計書.md", DESIGN, "basic_design")
    other = taken_in(tmp_path, "要件定義書.md", "# 要件定義書\n\nFR-006 通知を設定する。\n", "requirements")
    offered = client.get(reverse("documents-offered"), {"q": "要件", "scope": "read"}).json()["found"]
    assert [one["id"] for one in offered] == [other.public_id]
    begin = reverse("review-begin", args=[design.public_id])
    asked = {"checklist": "basic-design", "related": other.public_id}
    estimated = client.post(begin, asked | {"estimate": "1"}, follow=True).content.decode()
    assert f'value="{other.public_id}"' in estimated
    assert other.title in estimated
    answer = client.post(begin, asked)
    review = Review.objects.get(document_id_text=design.public_id)
    assert answer["Location"] == reverse("review", args=[review.public_id])
    assert RelatedVersion.objects.get(review=review).version.document == other
    start = reverse("review-start", args=[design.public_id])
    proposed = f'value="{other.public_id}"'
    assert proposed in client.get(start).content.decode()
    assert proposed not in client.get(start, {"related": ""}).content.decode()
    Document.objects.filter(pk=other.pk).update(collection=new_collection())
    assert other.public_id not in client.get(start).content.decode()


def test_what_the_person_may_not_read_is_neither_offered_nor_taken(client: Client, tmp_path: Path) -> None:
    design = taken_in(tmp_path, "基本設計書.md", DESIGN, "basic_design")
    hidden = taken_in(tmp_path, "秘密の要件.md", "# 秘密の要件\n\n本文。\n", "requirements")
    Document.objects.filter(pk=hidden.pk).update(collection=new_collection())
    assert client.get(reverse("documents-offered"), {"q": "秘密"}).json() == {"found": []}
    begin = reverse("review-begin", args=[design.public_id])
    refused = client.post(begin, {"checklist": "basic-design", "related": hidden.public_id})
    assert refused.status_code == 404
    assert hidden.title not in refused.content.decode()
    assert not Review.objects.exists()
    assert Client().get(reverse("documents-offered")).status_code == 302


def test_a_quote_of_another_document_stands_with_its_title_and_leads_to_its_place(
    client: Client, tmp_path: Path
) -> None:
    design = taken_in(tmp_path, "基本設計書.md", DESIGN, "basic_design")
    table = "# 図書予約の要件\n\n| ID | 要件 |\n|---|---|\n| FR-001 | 予約できること |\n| FR-901 | 監視すること |\n"
    other = taken_in(tmp_path, "要件定義書.md", table, "requirements")
    options = ReviewOptions(related_documents=(other.public_id,), check_items=("BD-B02",))
    review = start_review(principal=local_operator(), document_id=design.public_id, options=options)
    assert execution.execute(review.pk)
    finding = Finding.objects.get(result__review=review, data__identifiers=["FR-901"])
    (evidence,) = finding.evidence
    place = f"version=1&amp;start={evidence['start_offset']}&amp;end={evidence['end_offset']}"
    at_home = client.get(reverse("review", args=[review.public_id])).content.decode()
    assert f'href="{reverse("passage", args=[other.public_id])}?{place}" data-drawer>{other.title} v1</a>' in at_home
    staff = client_of(make_user("佐藤", is_superuser=True))
    part = reverse("admin:review_review_triage_finding", args=[review.pk, finding.public_id])
    for address in (reverse("admin:review_review_change", args=[review.pk]), part):
        shown = staff.get(address, headers={"X-Requested-With": "fetch"}).content.decode()
        assert f"{reverse('admin:knowledge_document_by_id', args=[other.public_id])}?{place}" in shown
        assert f">{other.title} v1</a>" in shown
