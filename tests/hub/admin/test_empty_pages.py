"""Pages that have nothing for a person say why, and offer nothing that is refused."""

from __future__ import annotations

import pytest
from django.urls import reverse

from hub.access.principals import Role
from knowledge.models import Collection
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
REVIEWS, START = "admin:review_review_changelist", "admin:review_review_start"


def test_an_empty_list_says_whether_nothing_fits_nothing_is_there_or_a_role_is_missing() -> None:
    nobody = client_of(make_user("高橋"))
    administrator = client_of(make_user("佐藤", is_superuser=True))
    shown = nobody.get(reverse(REVIEWS)).content.decode()
    assert "まだ何もないか、閲覧できるものがありません" in shown
    assert "絞り込みを解除" not in shown
    found = nobody.get(reverse(REVIEWS), {"q": "受発注"}).content.decode()
    assert "指定した言葉と絞り込みに合うものがありません" in found
    assert "絞り込みを解除" in found
    sources = administrator.get(reverse("admin:knowledge_source_changelist")).content.decode()
    assert "まだ何もありません" in sources
    assert reverse("admin:knowledge_source_add") in sources


def test_who_may_start_no_review_is_told_whom_to_ask_and_gets_no_form() -> None:
    user = make_user("高橋")
    shown = client_of(user).get(reverse(START)).content.decode()
    assert "data-pickers" not in shown
    assert "レビュー担当者" in shown
    grant(user, Role.REVIEWER, Collection.objects.get(slug="default"))
    assert "data-pickers" in client_of(user).get(reverse(START)).content.decode()


def test_scopes_of_a_token_are_explained() -> None:
    shown = client_of(make_user("佐藤", is_superuser=True)).get(reverse("admin:access_accesstoken_add"))
    assert "triage: 指摘を判断し、レビューを承認する" in shown.content.decode()
