"""Addresses that no page leads to are answered in words, not by an error inside the hub."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("app_label=knowledge&model_name=collection&field_name=documents", 403),  # leads here from elsewhere
        ("app_label=knowledge&model_name=collection&field_name=nothing", 403),
        ("app_label=knowledge&model_name=nothing&field_name=documents", 403),
        ("app_label=knowledge", 403),
        ("app_label=knowledge&model_name=graphedge&field_name=source", 200),
    ],
)
def test_only_fields_that_lead_elsewhere_are_completed(query: str, status: int) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    assert client.get(f"{reverse('admin:autocomplete')}?{query}&term=a").status_code == status


@pytest.mark.parametrize("key", ["😀", "x", "9" * 30, "-1"])
def test_a_key_that_no_dataset_has_leads_back_to_the_overview(key: str) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    answer = client.get(reverse("admin:evaluation_evaluationdataset_change", args=[key]))
    assert answer.status_code == 302


def test_a_host_that_is_not_ours_is_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    assert (
        client_of(make_user("佐藤", is_superuser=True)).get("/admin/", headers={"Host": "evil.example"}).status_code
        == 400
    )
    found = [record for record in caplog.records if record.name == "django.security.DisallowedHost"]
    assert [record.exc_info for record in found] == [None]
