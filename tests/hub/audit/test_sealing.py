"""Sealing beside writers: nothing is left out, sealed twice, or taken for a deletion, whoever is killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest
from django.db import OperationalError, ProgrammingError, connection, transaction
from django.utils import timezone

from hub.access import audit_seals, audit_verification
from hub.access.audit_retention import remove_expired
from hub.access.audit_seals import seal_lines
from hub.access.audit_verification import verify_trail
from hub.access.models import AuditEvent, AuditSeal, AuditSealedLines
from hub.access.principals import local_operator
from hub.access.services import record_event
from hub.core.embedded import shared_postgres
from hub.core.embedded.cluster import close_append_only, lend_append_only
from hub.core.lease import try_lock
from tests.hub.audit.trail import write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_trail")]


def as_superuser(sql: str, *params: object) -> None:
    server = shared_postgres(Path(connection.settings_dict["EMBEDDED_HOME"]))
    with server.superuser(str(connection.settings_dict["NAME"])) as superuser:
        superuser.execute(sql, params or None)


def elsewhere(work: object) -> None:
    """Do something in another thread with a connection of its own."""

    def whole() -> None:
        try:
            work()  # type: ignore[operator]
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        threads.submit(whole).result(30)


def test_a_line_whose_transaction_ends_after_later_ones_were_sealed_is_in_the_next_seal():
    with transaction.atomic():
        write(2)
        elsewhere(lambda: write(3))
        elsewhere(seal_lines)
    first = AuditSeal.objects.get()
    assert first.count == 3
    assert verify_trail().is_whole  # while they wait
    seal_lines()
    second = AuditSeal.objects.get(number=2)
    assert (second.count, len(second.late), second.last) == (2, 2, first.last)
    assert seal_lines() == []
    found = verify_trail()
    assert (found.problems, found.lines, found.unsealed) == ([], 5, 0)


def test_what_was_rolled_back_is_no_deletion():
    write(2)
    with transaction.atomic():
        write(3)
        transaction.set_rollback(True)
    write(1)
    seal_lines()
    assert [last - first for first, last in AuditSeal.objects.get().gaps][-1] == 2
    assert verify_trail().is_whole


@pytest.fixture
def owns_trail() -> Iterator[None]:
    """The hub's role owns the trail, as it does where DATABASE_URL names an ordinary role."""
    server = shared_postgres(Path(connection.settings_dict["EMBEDDED_HOME"]))
    name = str(connection.settings_dict["NAME"])
    with server.superuser(name) as superuser:
        lend_append_only(superuser)
    yield
    with server.superuser(name) as superuser:
        close_append_only(superuser)


@pytest.mark.usefixtures("owns_trail")
def test_an_owner_whose_right_to_change_seals_was_taken_seals_lines():
    write(2)
    with connection.cursor() as cursor:
        cursor.execute("REVOKE UPDATE, DELETE ON access_auditseal FROM CURRENT_USER")
        with pytest.raises(ProgrammingError, match="permission denied"):
            seal_lines()
        cursor.execute(import_module("hub.access.migrations.0017_seals_that_lines_refer_to").LOOK_UP)
    assert [seal.count for seal in seal_lines()] == [2]
    assert verify_trail().is_whole


def test_a_trail_that_was_never_sealed_is_named_as_one_that_is_not_sealed_any_more_is(monkeypatch):
    write(2)
    assert verify_trail().is_whole
    monkeypatch.setattr(audit_verification, "UNSEALED_TOO_LONG", timedelta(0))
    assert "wait to be sealed since" in str(verify_trail().first)
    seal_lines()
    assert verify_trail().is_whole


def test_only_one_seals_at_a_time():
    write(3)
    with transaction.atomic():
        assert try_lock(audit_seals.LOCK)
        made: list[list[AuditSeal]] = []
        elsewhere(lambda: made.append(seal_lines()))
        assert made == [[]]
    assert len(seal_lines()) == 1


def test_a_sealer_that_is_killed_leaves_nothing_half_done(monkeypatch):
    write(7)
    real = AuditSealedLines.objects.bulk_create

    def killed(rows: list[AuditSealedLines]) -> object:
        (pid,) = connection.connection.execute("SELECT pg_backend_pid()").fetchone()
        as_superuser("SELECT pg_terminate_backend(%s)", pid)
        return real(rows)

    with monkeypatch.context() as patch:
        patch.setattr(AuditSealedLines.objects, "bulk_create", killed)
        with pytest.raises(OperationalError):
            seal_lines()
    connection.close()
    assert AuditSeal.objects.count() == 0
    assert [seal.count for seal in seal_lines(batch=4)] == [4, 3]
    assert verify_trail().is_whole


def test_many_writers_some_of_whom_go_back_and_two_sealers():
    stop = threading.Event()

    def writer(name: int) -> None:
        try:
            for number in range(25):
                with transaction.atomic():
                    record_event(local_operator(), "SEARCH", f"w:{name}", number=number)
                    if number % 5 == 4:
                        transaction.set_rollback(True)
        finally:
            connection.close()

    def sealer() -> None:
        try:
            while not stop.wait(0.01):
                seal_lines(batch=7)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        sealing = [threads.submit(sealer) for _ in range(2)]
        for done in [threads.submit(writer, name) for name in range(4)]:
            done.result(60)
        stop.set()
        for done in sealing:
            done.result(30)
    seal_lines()
    found = verify_trail()
    assert (found.problems, found.lines, found.unsealed) == ([], 80, 0)
    assert AuditEvent.objects.count() == 80


def kept(settings, **days: int) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update=days)


def test_retention_removes_what_is_over_by_kind_and_the_rest_is_still_verified(settings):
    write(12)
    seal_lines(batch=6)
    later = timezone.now() + timedelta(days=100)
    assert remove_expired(local_operator(), now=later) == {}
    kept(settings, hub_audit_read_days=90)
    assert remove_expired(local_operator(), now=later) == {"read": 4}
    assert not AuditEvent.objects.filter(kind="read").exists()
    seal_lines()
    found = verify_trail()
    assert (found.problems, found.removed, found.lines) == ([], {"read": 4}, 9)
    assert AuditEvent.objects.get(action="AUDIT_REMOVE").details == {
        "kind": "read",
        "through": 2,
        "lines": 4,
        "days": 90,
    }
    kept(settings, hub_audit_change_days=90, hub_audit_access_days=90)
    remove_expired(local_operator(), now=later)
    assert set(AuditEvent.objects.values_list("action", flat=True)) == {"DOCUMENT_UPLOAD", "AUDIT_REMOVE"}
    assert verify_trail().is_whole


def test_a_removal_that_was_broken_off_goes_on(settings, monkeypatch):
    write(12)
    seal_lines(batch=3)
    kept(settings, hub_audit_read_days=90)
    later = timezone.now() + timedelta(days=100)
    from hub.access import audit_retention

    real = audit_retention._remove
    done: list[int] = []

    def killed(seal, kind):
        if done:
            raise KeyboardInterrupt
        done.append(seal)
        real(seal, kind)

    with monkeypatch.context() as patch:
        patch.setattr(audit_retention, "_remove", killed)
        with pytest.raises(KeyboardInterrupt):
            remove_expired(local_operator(), now=later)
    assert verify_trail().is_whole
    assert AuditEvent.objects.filter(kind="read").count() == 2
    remove_expired(local_operator(), now=later)
    assert not AuditEvent.objects.filter(kind="read").exists()
    assert verify_trail().is_whole


def test_what_is_removed_without_a_line_that_says_so_is_named():
    write(12)
    seal_lines()
    as_superuser("DELETE FROM access_auditevent WHERE kind = 'read'")
    as_superuser("DELETE FROM access_auditsealedlines WHERE kind = 'read'")
    assert str(verify_trail().first) == "seal 1: what it holds of its lines (read) is gone"
