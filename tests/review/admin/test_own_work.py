"""What waits for a person: only theirs, only what they may see, and never more statements than there are reviews."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import Role
from hub.access.services import principal_for_user
from knowledge.models import Collection
from review.models import Finding, Review
from review.triage import own_work
from review.triage.signing import sign_off
from tests.hub.admin.support import client_of, grant, make_user
from tests.review.triage.deciding import decide, settle_everything

pytestmark = pytest.mark.django_db
PAGE = "admin:review_own_work"


def shown(user: Any) -> str:
    response = client_of(user).get(reverse(PAGE))
    assert response.status_code == 200
    return response.content.decode()


def reviewer(review: Review, name: str) -> Any:
    assert review.version is not None
    user = make_user(name)
    grant(user, Role.REVIEWER, review.version.document.collection)
    return user


def test_findings_are_listed_for_who_they_are_assigned_to_until_they_are_settled(review: Review) -> None:
    sato, suzuki = reviewer(review, "佐藤"), reviewer(review, "鈴木")
    one, other = Finding.objects.filter(result__review=review)[:2]
    for finding in (one, other):
        decide(finding, assignee="佐藤")
    decide(other, triage="fixed")
    page = shown(sato)
    assert f"#{one.public_id}" in page
    assert f"#{other.public_id}" not in page
    assert review.version.document.title in page
    assert "doc_" not in page.split('id="main"')[1]
    assert f"#{one.public_id}" not in shown(suzuki)
    seen = AuditEvent.objects.filter(action="RESULT_VIEW", user=sato, details__part="own_work")
    assert seen.get().resource == f"review:{review.public_id}"


def test_late_findings_come_first_and_say_so(review: Review) -> None:
    sato, today = reviewer(review, "佐藤"), timezone.localdate()
    undated, later, late = Finding.objects.filter(result__review=review)[:3]
    decide(undated, assignee="佐藤")
    decide(later, assignee="佐藤", due_on=today + timedelta(days=3))
    decide(late, assignee="佐藤", due_on=today - timedelta(days=1))
    page = shown(sato)
    places = [page.index(f"#{one.public_id}") for one in (late, later, undated)]
    assert places == sorted(places)
    assert page.count("期限切れ: ") == 1
    assert f"期限切れ: {today - timedelta(days=1)}" in page
    assert f"期限切れ: {today - timedelta(days=1)}" in client_of(sato).get(reverse("work")).content.decode()


def test_who_lost_the_collection_sees_nothing_of_it_any_more(review: Review) -> None:
    sato = reviewer(review, "佐藤")
    finding = Finding.objects.filter(result__review=review).first()
    decide(finding, assignee="佐藤")
    sato.collectiongrant_set.all().delete()
    grant(sato, Role.REVIEWER, Collection.objects.create(slug="betsu", name="別"))
    assert finding.message_ja not in shown(sato)


def test_waivers_that_end_soon_are_listed_for_those_who_decide(review: Review) -> None:
    sato, reader = reviewer(review, "佐藤"), make_user("読者")
    grant(reader, Role.READER, review.version.document.collection)
    soon, later = Finding.objects.filter(result__review=review)[:2]
    decide(soon, triage="waived", reason="次期で対応", expires_at=timezone.now() + timedelta(days=10, hours=1))
    decide(later, triage="waived", reason="次期で対応", expires_at=timezone.now() + timedelta(days=90))
    page = shown(sato)
    assert f"#{soon.public_id}" in page
    assert "あと 10 日" in page
    assert f"#{later.public_id}" not in page
    assert f"#{soon.public_id}" not in shown(reader)


def test_a_review_that_another_person_signed_waits_for_those_who_may_be_the_second(
    review: Review, settings: Any
) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    first, second, requester = (reviewer(review, name) for name in ("一人目", "二人目", "依頼者"))
    Review.objects.filter(pk=review.pk).update(requested_by=requester)
    settle_everything(review)
    desk = f"{reverse('admin:review_review_triage', args=[review.pk])}#hub-sign-off"
    assert desk not in shown(second)
    sign_off(principal=principal_for_user(first), review_id=review.public_id)
    assert desk in shown(second)
    home = client_of(second).get("/").content.decode()
    assert "1 件のレビューがあなたの承認を待っています" in home
    assert "承認を待っています" not in client_of(first).get("/").content.decode()
    assert desk not in shown(first)
    assert desk not in shown(requester)
    sign_off(principal=principal_for_user(second), review_id=review.public_id)
    assert desk not in shown(second)


@pytest.mark.parametrize("address", [PAGE, "work"])
def test_a_page_of_findings_is_shown_and_read_and_the_next_one_leads_on(
    review: Review, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(own_work, "MOST_SHOWN", 2)
    sato, today = reviewer(review, "佐藤"), timezone.localdate()
    undated, second, first = Finding.objects.filter(result__review=review)[:3]
    for finding, due_on in ((undated, None), (second, today + timedelta(days=2)), (first, today)):
        decide(finding, assignee="佐藤", due_on=due_on)
    client, link = client_of(sato), reverse(address)
    page = client.get(link).content.decode()
    assert [one.public_id in page for one in (first, second, undated)] == [True, True, False]
    assert "2 / 3" in page
    behind = re.search(r'href="(\?cursor=[^"]+)"', page)
    assert behind is not None
    page = client.get(link + unescape(behind[1])).content.decode()
    assert [one.public_id in page for one in (first, second, undated)] == [False, False, True]
    assert 'rel="next"' not in page
    assert client.get(f"{link}?cursor=nonsense").status_code in (400, 422)


def test_open_findings_of_own_reviews_are_counted_as_far_as_the_person_may_see_them(review: Review) -> None:
    sato = reviewer(review, "佐藤")
    Review.objects.filter(pk=review.pk).update(requested_by=sato)
    findings = Finding.objects.filter(result__review=review)
    decide(findings[0], triage="rejected")
    assert f"未対応の指摘 {findings.filter(triage='open').counted().count()} 件" in shown(sato)


@pytest.mark.parametrize(("address", "most"), [(PAGE, 17), ("work", 12)])
def test_the_page_costs_the_same_statements_for_one_finding_and_for_many(
    review: Review, address: str, most: int
) -> None:
    sato = reviewer(review, "佐藤")
    client = client_of(sato)
    Review.objects.filter(pk=review.pk).update(requested_by=sato)
    findings = Finding.objects.filter(result__review=review)
    findings.filter(pk=findings[0].pk).update(assignee=sato)
    client.get(reverse(address))
    of_one = statements_of(client, reverse(address))
    findings.update(assignee=sato)
    assert of_one == statements_of(client, reverse(address)) <= most


def statements_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as statements:
        assert client.get(address).status_code == 200
    return len(statements)
