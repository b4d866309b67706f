"""What one click would do and no other click undoes is asked about first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from hub.access.models import HubRoleGrant
from hub.access.principals import HubRole, Role
from knowledge.models import Collection, Source, UploadBatch
from tests.factories import make_holder
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = pytest.mark.django_db


def yes_to(asked: Any) -> dict[str, Any]:
    """What the page that asks sends when its button is pressed."""
    assert asked.status_code == 200
    return {**dict(asked.context["posted"]), "confirmed": "1"}


def test_a_role_ends_after_the_page_that_names_it_was_answered() -> None:
    client = client_of(make_user("人事部長", is_superuser=True))
    clerk = make_holder(make_user("係"), HubRole.OPERATOR)
    HubRoleGrant.objects.update(until=timezone.now() + timedelta(days=3))
    row, address = HubRoleGrant.objects.get(user=clerk), reverse("admin:hub_role_grants")
    asked = client.post(address, {"end": row.pk})
    assert "係" in asked.content.decode()
    row.refresh_from_db()
    assert row.ended_by is None
    assert client.post(address, yes_to(asked)).status_code == 302
    row.refresh_from_db()
    assert row.ended_by is not None


def undo_of(scan: str) -> dict[str, object]:
    return {"batch": scan, "at": "2026-03-01T09:00:00+09:00", "new": 27, "changed": 0}


def test_a_scan_is_taken_back_after_the_page_that_names_its_source_was_answered() -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    batch = UploadBatch.objects.create(name="scan-1")
    source = Source.objects.create(
        name="共有", kind="folder", location="/srv/共有", enabled=True, report={"undo": undo_of(batch.name)},
        collection=Collection.objects.get(slug="default"),
    )  # fmt: skip
    address = reverse("admin:knowledge_source_changelist")
    asked = client.post(address, {"action": "undo_last_scan", "_selected_action": [source.pk]})
    assert "/srv/共有" in asked.content.decode()
    source.refresh_from_db()
    assert source.enabled
    assert client.post(address, yes_to(asked)).status_code == 302
    source.refresh_from_db()
    assert not source.enabled


def test_only_the_scan_that_the_page_showed_is_taken_back() -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    counts = {**dict.fromkeys(("changed", "unchanged", "removed", "failed", "seconds"), 0), "new": 27}
    report = {"state": "completed", "failures": [], **counts}
    for name in ("scan-1", "scan-2"):
        UploadBatch.objects.create(name=name)
    source = Source.objects.create(
        name="共有", kind="folder", location="/srv/共有", enabled=True, report={**report, "undo": undo_of("scan-1")},
        collection=Collection.objects.get(slug="default"),
    )  # fmt: skip
    page = client.get(reverse("admin:knowledge_source_change", args=[source.pk])).content.decode()
    assert f'<input type="hidden" name="seen-{source.pk}" value="scan-1">' in page
    address = reverse("admin:knowledge_source_changelist")
    pressed = {"action": "undo_last_scan", "_selected_action": [source.pk], f"seen-{source.pk}": "scan-1"}
    asked = client.post(address, pressed)
    assert "新規 27" in asked.content.decode()
    Source.objects.update(report={**report, "undo": undo_of("scan-2")})
    for answer in (yes_to(asked), pressed):
        assert "もう一度走査" in client.post(address, answer, follow=True).content.decode()
        source.refresh_from_db()
        assert source.enabled


def test_the_page_of_a_source_scans_it_and_says_what_happens_next(settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_source_roots": ("/srv",)})
    client = client_of(make_user("佐藤", is_superuser=True))
    counts = dict.fromkeys(("new", "changed", "unchanged", "removed", "failed", "seconds"), 0)
    report = {"batch": "scan-1", "state": "completed", "failures": [], **counts}
    source = Source.objects.create(
        name="共有", kind="folder", location="/srv/共有", report=report,
        collection=Collection.objects.get(slug="default"), scanned_at=datetime(2026, 3, 1, tzinfo=UTC),
    )  # fmt: skip
    address = reverse("admin:knowledge_source_change", args=[source.pk])
    page = client.get(address).content.decode()
    assert "2026-03-01 09:15" in page
    assert 'value="undo_last_scan"' not in page  # the scan took nothing in
    assert "HUB_SOURCE_ROOTS" in page
    typed = {"location": "/etc", "enabled": "on", "scan_every_minutes": 15}
    (refused,) = client.post(address, typed).context["adminform"].form.errors["location"]
    assert refused.startswith("/etc ")
    UploadBatch.objects.create(name="scan-1")
    report["undo"] = undo_of("scan-1")
    Source.objects.update(report=report)
    page = client.get(address).content.decode()
    assert 'value="undo_last_scan"' in page
    assert "2026-03-01 09:00 の走査（新規 27、変更 0）" in page
    assert "何も取り込んでいません" not in page
    Source.objects.update(report={**report, "batch": "scan-3"})
    assert "その後の走査は何も取り込んでいません" in client.get(address).content.decode()
    buttons = reverse("admin:knowledge_source_changelist")
    shown = {"_selected_action": [source.pk], "own_page": source.pk, f"seen-{source.pk}": "scan-1"}
    assert client.post(buttons, {**shown, "action": "scan_now"})["Location"] == address
    assert "ワーカーが空き次第" in client.get(address).content.decode()
    undo = {**shown, "action": "undo_last_scan"}
    asked = client.post(buttons, undo)
    assert asked.context["leave"] == address
    Source.objects.update(report={**report, "undo": undo_of("scan-2")})
    assert client.post(buttons, undo)["Location"] == address  # it says that another scan came
    Source.objects.update(report=report)
    assert client.post(buttons, yes_to(asked))["Location"] == address
    page = client.get(address).content.decode()
    assert 'value="undo_last_scan"' not in page
    deleting = client.get(reverse("admin:knowledge_source_delete", args=[source.pk])).content.decode()
    assert "文書は、ハブに残ります" in deleting


def test_who_curates_no_collection_is_told_the_role_that_a_source_needs_before_its_form() -> None:
    operator = make_holder(make_user("運用"), HubRole.OPERATOR)
    client, address = client_of(operator), reverse("admin:knowledge_source_add")
    page = client.get(address).content.decode()
    assert "キュレーター" in page
    assert 'name="location"' not in page
    grant(operator, Role.CURATOR, Collection.objects.get(slug="default"))
    assert 'name="location"' in client.get(address).content.decode()
