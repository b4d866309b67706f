"""Scenarios at home: walked through by people without rights as staff, with links to the pages that they may open."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from hub.access.permissions import HubRole, Role
from knowledge.models import Collection
from review.models import Review, ScenarioProgress
from tests.factories import make_holder, new_collection, new_user
from tests.hub.admin.support import client_of, grant
from tests.review.conftest import DESIGN, review_text

pytestmark = pytest.mark.django_db
CODE = "pjmo-self-review"
PAGE, ACT = (f"/scenarios/{CODE}/", f"/scenarios/{CODE}/act/")


@pytest.fixture
def review(tmp_path: Path, queue: None) -> Review:
    return review_text(tmp_path, DESIGN)


@pytest.fixture
def client(review: Review) -> Client:
    user = new_user(username="担当")
    grant(user, Role.REVIEWER, Collection.objects.get(slug="default"))
    return client_of(user)


def shown(client: Client, address: str = PAGE) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_a_person_walks_through_with_a_document_and_is_led_to_pages_at_home(client: Client, review: Review) -> None:
    assert PAGE in shown(client, "/scenarios/")
    assert "/scenarios/" in shown(client, "/")
    assert "0 / 9" in shown(client)
    assert "管理画面で行います" not in shown(client)
    assert client.post(ACT, {"document": review.document_id_text})["Location"] == PAGE
    page = shown(client)
    assert "2 / 9" in page
    for name, argument in (
        ("document", review.document_id_text),
        ("review", review.public_id),
        ("review-start", review.document_id_text),
        ("document-compare", review.document_id_text),
    ):
        assert f'href="{reverse(name, args=[argument])}"' in page
    assert 'href="/admin/review' not in page
    assert client.post(ACT, {"action": "decide", "done": "1"})["Location"] == f"{PAGE}#step-decide"
    assert "3 / 9" in shown(client)
    assert "3 / 9" in shown(client, "/scenarios/")
    client.post(ACT, {"begin": "1"})
    assert "0 / 9" in shown(client)


def test_what_is_refused_says_so_and_changes_nothing(client: Client, review: Review) -> None:
    review.version.document.collection = new_collection()
    review.version.document.save(update_fields=["collection"])
    refused = client.post(ACT, {"document": review.document_id_text}, follow=True).content.decode()
    assert 'class="notice bad"' in refused
    assert review.document_id_text not in shown(client)
    assert 'class="notice bad"' in client.post(ACT, {"action": "nothing"}, follow=True).content.decode()
    assert not ScenarioProgress.objects.exists()
    assert client.get("/scenarios/nothing/").status_code == 404
    assert client.get(ACT).status_code == 405
    assert Client().get(PAGE).status_code == 302


def test_what_only_the_desk_can_is_told_as_done_in_the_administration(client: Client, review: Review) -> None:
    code = "quality-sign-off"
    client.post(f"/scenarios/{code}/act/", {"document": review.document_id_text})
    steps = shown(client, f"/scenarios/{code}/").split("<li ")
    (kept,) = [one for one in steps if 'id="step-keep-cases"' in one]
    (decided,) = [one for one in steps if 'id="step-triage"' in one]
    assert "管理画面で行います" in kept
    assert "/reviews/" not in kept
    assert reverse("review", args=[review.public_id]) in decided


@pytest.mark.parametrize(("role", "may_open"), [(HubRole.AUDITOR, False), (HubRole.CURATOR, True)])
def test_a_step_leads_to_no_list_that_the_person_may_not_open(review: Review, role: HubRole, may_open: bool) -> None:
    """An auditor with staff rights was led from 「今の成績を測る」 to a page that refused them."""
    client = client_of(make_holder(new_user(username="担当", is_staff=True), role))
    address, code = reverse("admin:evaluation_evaluationdataset_changelist"), "admin-master-revision"
    assert (client.get(address).status_code == 200) is may_open
    for page in (f"/scenarios/{code}/", reverse("admin:review_scenario_walk", args=[code])):
        assert (f'href="{address}"' in shown(client, page)) is may_open
