"""The pages of rights and of roles that end in a real browser: nothing runs off a narrow or a wide screen."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from hub.access.models import HubRoleGrant
from hub.access.principals import HubRole, local_operator
from knowledge.grants import Grantee, end_role, grant_role
from knowledge.models import Collection, CollectionGrant
from tests.factories import new_user
from tests.review.admin.test_pages_browser import NARROW, RUNS_OFF, WIDE, picture, resize

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "出張中の代理として、基本設計書の照査と受入れの判定を、担当課長の承認の下で行うため。" * 3


@pytest.fixture
def addresses() -> dict[str, str]:
    until = timezone.now() + timedelta(days=30)
    holder, other = new_user(username="yamada.hanako.of-the-office@example.jp"), new_user(username="suzuki")
    for user in (holder, other):
        to = Grantee(user=user.username)
        grant_role(principal=local_operator(), slug="default", to=to, role="reviewer", until=until, reason=LONG[:200])
    end_role(principal=local_operator(), slug="default", to=Grantee(user="suzuki"), role="reviewer")
    default = Collection.objects.get(slug="default")
    CollectionGrant.objects.create(collection=default, user=other, role="curator", until=until, delegator=holder)
    HubRoleGrant.objects.create(user=holder, role=HubRole.OPERATOR, until=until, reason=LONG[:200])
    return {
        "roles-that-end": reverse("admin:hub_collection_grants", args=["default"]),
        "hub-roles-that-end": reverse("admin:hub_role_grants"),
        "rights": reverse("admin:hub_rights"),
        "rights-of": reverse("admin:hub_rights_of", args=[holder.pk]),
    }


def test_nothing_runs_off_the_screen(page: Any, addresses: dict[str, str], live_server: Any) -> None:
    browser = page("admin:index")
    problems = []
    try:
        for width in (WIDE, NARROW):
            resize(browser, width)
            for name, address in addresses.items():
                browser.get(live_server.url + address)
                picture(browser, f"{name}-{width}")
                if found := browser.execute_script(RUNS_OFF):
                    problems.append((name, width, found))
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert problems == []
