"""Backups by the clock: when one is due, what is kept of it, and who is told that it is late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from hub.access.principals import local_operator
from hub.backups import runs
from hub.backups.errors import BackupFailed, RestoreRefused
from hub.backups.folder import find_backup
from hub.backups.models import BackupRun
from hub.backups.runs import back_up_when_due, backup_state, is_due, recorded_backup
from hub.site.alerts import troubles
from knowledge.models import Blob
from knowledge.storage.blobs import bare_store
from tests.factories import upload_text

NOON = datetime(2026, 11, 26, 3, 0, tzinfo=UTC)  # 12:00 in Asia/Tokyo

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


@pytest.fixture
def schedule(settings, tmp_path):
    def change(**more):
        fields = {"hub_backup_dir": tmp_path / "daily", "hub_backup_at": "11:30", "hub_backup_keep": 2, **more}
        settings.CONFIG = settings.CONFIG.model_copy(update=fields)

    change()
    return change


def _answering(said):
    """A restore for proof that says this; those of whole hubs are in tests/flows."""

    def answer(_backup, _identity):
        if isinstance(said, Exception):
            raise said
        return said

    return answer


def good(moment: datetime) -> BackupRun:
    return BackupRun.objects.create(name="x", path="/backup", taken_at=moment, finished_at=moment)


def test_a_backup_is_due_once_a_day_from_its_time_on(schedule):
    assert is_due(NOON)
    good(NOON - timedelta(minutes=29))  # 11:31
    assert not is_due(NOON)
    assert not is_due(NOON + timedelta(hours=23))
    assert is_due(NOON + timedelta(hours=23, minutes=30))


def test_a_failed_one_is_tried_again_after_half_an_hour(schedule):
    BackupRun.objects.create(path="/backup", error="no room", finished_at=NOON - timedelta(minutes=29))
    assert not is_due(NOON)
    assert is_due(NOON + timedelta(minutes=2))


def test_without_a_folder_none_is_due_and_none_is_late(settings):
    good(timezone.now() - timedelta(days=400))
    assert not is_due(NOON)
    assert backup_state().late_since is None


def test_a_late_backup_is_told_once_to_everybody_who_watches(schedule, client, capsys):
    made = good(timezone.now() - timedelta(hours=27))
    assert backup_state().late_since == made.taken_at + timedelta(hours=26)
    assert "backup" in troubles()
    call_command("doctor", no_color=True)
    assert "warning  backup: late since" in capsys.readouterr().out
    page = client.get("/metrics", headers={"Host": "localhost"}).content.decode()
    families = {one.name: one.samples for one in text_string_to_metric_families(page)}
    assert families["hub_backup_last_success_timestamp_seconds"][0].value == made.taken_at.timestamp()
    good(timezone.now())
    assert "backup" not in troubles()


@pytest.mark.django_db(transaction=True)
def test_the_scheduled_backup_is_made_kept_on_record_and_shown(schedule, tmp_path, admin_client, monkeypatch):
    upload_text(local_operator(), tmp_path, "# 設計\n\n監視は五分ごとに行う。\n", name="設計書.md")
    schedule(hub_backup_at="00:00")
    assert back_up_when_due()
    run = BackupRun.objects.get()
    assert run.name == find_backup(tmp_path / "daily").name
    assert (run.error, run.files) == ("", 1)
    assert not back_up_when_due()
    page = admin_client.get("/admin/", headers={"Accept-Language": "en"}).content.decode()
    assert "Last good backup" in page

    schedule(hub_backup_at="00:00", hub_backup_verify=True)
    for said, good_one in (({"equal": True}, True), ({"equal": False}, False), (BackupFailed("no room"), False)):
        monkeypatch.setattr(runs, "verify_backup", _answering(said))
        recorded = recorded_backup(local_operator(), tmp_path / "daily", verify=True)
        last = BackupRun.objects.order_by("-pk")[0]
        assert (last.verified_at is not None, last.error == "", recorded.problem == "") == (good_one,) * 3
    with pytest.raises(RestoreRefused, match="HUB_BACKUP_IDENTITY"):
        recorded_backup(local_operator(), tmp_path / "other", encrypt_to="age1x", verify=True)
    run = backup_state().good

    sha256 = Blob.objects.get().pk
    with bare_store().local_path(sha256) as path:
        path.write_bytes(b"x")
    find_copy = find_backup(tmp_path / "daily")
    find_copy.copy_path(find_copy.copies()[0]).unlink()
    recorded_backup(local_operator(), tmp_path / "daily")
    assert sha256 in BackupRun.objects.order_by("-pk")[0].error  # not a good one
    assert backup_state().good == run

    (tmp_path / "full").write_text("no folder")
    with pytest.raises((BackupFailed, OSError)):
        recorded_backup(local_operator(), tmp_path / "full")
    assert BackupRun.objects.order_by("-pk")[0].taken_at is None
