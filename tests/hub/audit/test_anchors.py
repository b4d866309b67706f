"""Where the newest seal is noted outside of the database: a file, S3 and syslog; and the command that compares."""

from __future__ import annotations

import io
import json
import socket
from datetime import timedelta
from pathlib import Path

import boto3
import pytest
from django.core.management import call_command
from django.utils import timezone

from hub.access.audit_seals import head, seal_lines
from hub.access.models import AuditEvent, AuditSeal
from hub.audit.anchors import AnchorFile, anchor_places, note_head, read_anchors
from hub.audit.checks import seal_and_note, verify_and_alert
from hub.core.scheduled_rows import failing_tasks
from hub.site.alerts import troubles
from tests.hub.audit.trail import run, sealed, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue", "empty_trail")]


def anchored(settings, *places: str, **more: object) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_audit_anchors": places, **more})


def test_a_file_gets_a_line_for_each_newest_seal_once(settings, tmp_path: Path):
    path = tmp_path / "anchors.jsonl"
    anchored(settings, str(path))
    for _ in range(3):
        write(2)
        assert seal_and_note() == 1
        assert seal_and_note() == 0
    anchors, failed = read_anchors()
    assert failed == []
    assert [(one.number, one.digest) for one in anchors] == list(
        AuditSeal.objects.order_by("number").values_list("number", "digest")
    )
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_line_that_a_crash_cut_off_does_not_keep_later_ones_from_being_read(tmp_path: Path):
    sealed(2)
    place = AnchorFile(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text('{"seal": 1, "dig\n')
    assert place.newest() == 0
    place.note(head())
    assert [one.number for one in place.read()] == [1]


def test_a_place_that_can_not_be_reached_is_said_and_tried_again(settings, tmp_path: Path):
    anchored(settings, str(tmp_path / "gone" / "a.jsonl"))
    write(1)
    seal_and_note()
    assert [one.task for one in failing_tasks()] == ["hub.seal_audit"]
    (tmp_path / "gone").mkdir()
    seal_and_note()
    assert failing_tasks() == []
    assert read_anchors()[0][0].number == 1


def test_objects_are_noted_and_can_not_be_removed_for_as_long_as_they_are_locked(settings, s3_endpoint, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    client = boto3.client("s3", endpoint_url=s3_endpoint, region_name="ap-northeast-1")
    client.create_bucket(
        Bucket="audit-anchors",
        ObjectLockEnabledForBucket=True,
        CreateBucketConfiguration={"LocationConstraint": "ap-northeast-1"},
    )
    anchored(settings, "s3://audit-anchors/hub", s3_endpoint_url=s3_endpoint, hub_audit_anchor_lock_days=30)
    sealed(12)
    assert note_head() == []
    seal_lines()
    assert note_head() == []
    (item,) = client.list_objects_v2(Bucket="audit-anchors")["Contents"]
    stored = client.head_object(Bucket="audit-anchors", Key=item["Key"])
    assert stored["ObjectLockMode"] == "COMPLIANCE"
    assert stored["ObjectLockRetainUntilDate"] > timezone.now() + timedelta(days=29)
    anchors, _failed = read_anchors()
    assert [(one.number, one.digest) for one in anchors] == [(3, head().digest)]


def test_syslog_is_sent_a_line(settings):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        anchored(settings, f"syslog://127.0.0.1:{server.getsockname()[1]}")
        sealed(2)
        assert note_head() == []
        told = server.recv(4096).decode()
    assert told.startswith("<37>hub audit trail: ")
    assert json.loads(told.partition(": ")[2].rstrip("\0"))["digest"] == head().digest


def test_beside_an_embedded_database_there_is_a_file_unless_it_is_unwanted(settings):
    assert [place.name for place in anchor_places()] == [str(settings.HUB_DATA_DIR / "audit-anchors.jsonl")]
    anchored(settings, "none")
    assert anchor_places() == []


def verified(*more: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("audit", "verify", *more, stdout=out, stderr=err)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


@pytest.mark.usefixtures("database_superuser")
def test_the_command_says_what_is_wrong_and_so_do_the_alerts(settings, tmp_path: Path):
    anchored(settings, str(tmp_path / "a.jsonl"))
    write(12)
    seal_and_note()
    noted = f"{head().number}:{head().digest}"
    assert verified("--head", noted)[:1] == (0,)
    assert verified("--head", f"9:{head().digest}")[0] == 1
    assert verify_and_alert().is_whole
    number = AuditEvent.objects.order_by("pk")[4].pk
    run("UPDATE access_auditevent SET principal = 'nobody' WHERE id = %s", number)
    code, _out, err = verified()
    assert code == 1
    assert err.endswith(f"the first: line {number}: it was changed\n")
    facts = json.loads(verified("--json")[1])
    assert (facts["whole"], facts["first"]["line"]) == (False, number)
    verify_and_alert()
    assert f"line {number}" in troubles()["failing:hub.verify_audit"]
    run("UPDATE access_auditevent SET principal = 'operator' WHERE id = %s", number)
    verify_and_alert()
    assert "failing:hub.verify_audit" not in troubles()


@pytest.mark.usefixtures("database_superuser")
def test_an_end_that_was_cut_off_is_found_by_the_file(settings, tmp_path: Path):
    anchored(settings, str(tmp_path / "a.jsonl"))
    write(4)
    seal_and_note()
    run("DELETE FROM access_auditsealedlines")
    run("DELETE FROM access_auditseal")
    run("DELETE FROM access_auditevent")
    code, _out, err = verified()
    assert code == 1
    assert "the trail's end was cut" in err
