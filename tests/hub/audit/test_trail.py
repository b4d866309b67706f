"""The audit trail proves itself: whatever is changed, taken out, put in or cut off is found and named."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import override_settings
from django.utils import timezone

from hub.access import audit_verification
from hub.access.audit_keys import AuditKey, KeyRing, key_ring
from hub.access.audit_lines import AuditLine, hash_of_query, kind_of, query_facts
from hub.access.audit_seals import gaps_of, lines_between, make_seal, seal_lines
from hub.access.audit_verification import verify_trail
from hub.access.models import AuditEvent, AuditSeal, AuditSealedLines
from hub.access.principals import local_operator
from hub.access.services import record_event, record_reads
from tests.hub.audit.trail import anchor, flipped, flipped_json, found_after, run, sealed, taken_back, write

pytestmark = pytest.mark.django_db
TEXTS = ("action", "principal", "resource", "door", "request_id", "agent", "purpose", "kind", "code")


def test_what_nobody_touched_is_whole():
    numbers = sealed(23)
    waiting = write(2)
    found = verify_trail([anchor()])
    assert (found.problems, found.lines, found.seals, found.unsealed) == ([], 23, 5, 2)
    assert AuditSeal.objects.order_by("number").first().first <= numbers[0]
    assert AuditSeal.objects.latest("number").last < waiting[0]


@pytest.mark.usefixtures("database_superuser")
@pytest.mark.parametrize("column", [*TEXTS, "at", "user_id", "details", "address"])
def test_a_flipped_byte_of_any_column_of_any_line_is_found_and_named(column):
    """Of sealed lines and of those that wait; a position in the text by chance, another at each line."""
    numbers, chance = sealed(13) + write(4), random.Random(column)
    change: str
    value: object
    assert verify_trail().is_whole
    for number in numbers:
        if column in TEXTS:
            (text,) = run("SELECT " + column + " FROM access_auditevent WHERE id = %s", number)[0]  # noqa: S608
            change, value = f"{column} = %s", flipped(text, chance)
        elif column == "details":
            (text,) = run("SELECT details::text FROM access_auditevent WHERE id = %s", number)[0]
            change, value = "details = %s::jsonb", flipped_json(text, chance)
        elif column == "at":
            change, value = "at = at + %s * interval '1 microsecond'", chance.choice([-1, 1])
        elif column == "user_id":
            change, value = "user_id = %s", 4711
        else:
            change, value = "address = address + %s", 1
        found = found_after("UPDATE access_auditevent SET " + change + " WHERE id = %s", value, number)  # noqa: S608
        assert found.first is not None, (number, value)
        assert found.first.line == number
    assert verify_trail().is_whole


@pytest.mark.usefixtures("database_superuser")
def test_a_dropped_line_is_named():
    for number in sealed(12):
        found = found_after("DELETE FROM access_auditevent WHERE id = %s", number)
        assert str(found.first) == f"line {number}: it is gone"


@pytest.mark.usefixtures("database_superuser")
def test_two_lines_that_changed_places_are_named():
    first, second, *_more = sealed(12)
    move = "UPDATE access_auditevent SET id = %s WHERE id = %s"
    with taken_back():
        for line, place in ((first, -1), (second, first), (-1, second)):
            run(move, place, line)
        found = verify_trail()
    assert str(found.first) == f"line {first}: another line is in its place"
    assert {one.line for one in found.problems} == {first, second}


@pytest.mark.usefixtures("database_superuser")
def test_a_line_that_was_put_in_is_named(monkeypatch):
    monkeypatch.setattr(audit_verification, "UPGRADE", timedelta(0))
    numbers = sealed(4)
    with transaction.atomic():
        gap = write(1)[0]
        transaction.set_rollback(True)
    sealed(4)
    assert verify_trail().is_whole
    assert AuditSeal.objects.filter(gaps__contains=[[gap, gap]]).count() == 1
    copy = "INSERT INTO access_auditevent (id, at, action, principal, resource, details, door, request_id, agent{0}) "
    copy += "SELECT {1}, at, action, 'nobody', resource, details, door, request_id, agent{0} FROM access_auditevent"
    forged = found_after(copy.format(", code, kind", gap) + " WHERE id = %s", numbers[0])
    assert forged.first.line == gap
    assert "its code is wrong" in forged.first.text
    without = found_after(copy.format("", numbers[-1] + 100_000) + " WHERE id = %s", numbers[0])
    assert without.first.line == numbers[-1] + 100_000
    assert "it has no code" in without.first.text
    with taken_back():
        run("UPDATE access_auditseal SET at = at - interval '2 days'")
        run(copy.format(", code, kind, purpose", gap).replace("'nobody'", "principal") + " WHERE id = %s", numbers[0])
        assert any(one.line == gap and "put among lines" in one.text for one in verify_trail().problems)


@pytest.mark.usefixtures("database_superuser")
def test_a_line_that_is_put_in_again_with_its_code_is_named():
    numbers = sealed(6)
    every = "at, action, principal, user_id, resource, details, door, request_id, address, agent, purpose, kind, code"
    again = f"INSERT INTO access_auditevent (id, {every}) SELECT %s, {every} FROM access_auditevent WHERE id = %s"  # noqa: S608
    copy = numbers[-1] + 1
    found = found_after(again, copy, numbers[1])  # waiting to be sealed
    assert str(found.first) == f"line {copy}: it is a copy of line {numbers[1]}"
    with taken_back():
        run(again, copy, numbers[1])
        seal_lines()  # by the hub, which does not know
        assert str(verify_trail().first) == f"line {copy}: it is a copy of line {numbers[1]}"


def test_an_old_line_that_is_put_in_again_is_named_when_the_first_is_no_longer_there(monkeypatch):
    sealed(3)
    monkeypatch.setattr("django.utils.timezone.now", lambda now=timezone.now: now() - timedelta(days=3))
    (old,) = write(1)
    monkeypatch.undo()
    found = verify_trail()
    assert found.first.line == old
    assert "a day younger" in found.first.text


@pytest.mark.usefixtures("database_superuser")
@pytest.mark.parametrize(
    "change",
    [
        "number = number + 100",
        "at = at + interval '1 microsecond'",
        "first = first + 1",
        "last = last - 1",
        "count = count + 1",
        "parts = jsonb_set(parts, '{access,count}', '99')",
        "gaps = '[[1, 2]]'",
        "late = '[1]'",
        "previous = repeat('1', 64)",
        "digest = repeat('1', 64)",
        "code = 'x' || code",
        "code = substr(code, 1, 9) || repeat('1', 64)",
    ],
)
def test_a_changed_seal_is_named(change):
    sealed(12)
    for seal in (1, 2, 3):
        with taken_back():
            run("SET LOCAL session_replication_role = replica")  # past the foreign key
            run("UPDATE access_auditseal SET " + change + " WHERE number = %s", seal)  # noqa: S608
            found = verify_trail()
        assert not found.is_whole, seal
        assert any(one.seal in (seal, seal + 1, seal + 100) for one in found.problems)


@pytest.mark.usefixtures("database_superuser")
def test_what_a_seal_holds_of_its_lines_is_compared_too():
    sealed(12)
    row = AuditSealedLines.objects.filter(seal=2).first()
    assert row is not None
    for at in range(len(row.lines)):
        change = "UPDATE access_auditsealedlines SET lines = set_byte(lines, %s, get_byte(lines, %s) # 1) WHERE id = %s"
        assert found_after(change, at, at, row.pk).problems[0].seal == 2
    assert not found_after("DELETE FROM access_auditsealedlines WHERE id = %s", row.pk).is_whole


@pytest.mark.usefixtures("database_superuser")
def test_cutting_the_end_off_shows_by_a_note_outside_and_only_by_one():
    numbers = sealed(15)
    noted = anchor()
    with taken_back():
        run("DELETE FROM access_auditevent WHERE id >= %s", numbers[10])
        run("DELETE FROM access_auditsealedlines WHERE seal_id >= 3")
        run("DELETE FROM access_auditseal WHERE number >= 3")
        assert verify_trail().is_whole  # which is why there are anchors
        found = verify_trail([noted])
    assert str(found.first) == "seal 3: it was noted in /elsewhere, and is gone: the trail's end was cut"


def sealed_anew(ring: KeyRing) -> None:
    """Take one line out, and seal all others again with a key."""
    run("DELETE FROM access_auditsealedlines")
    run("DELETE FROM access_auditseal")
    run("DELETE FROM access_auditevent WHERE id = (SELECT min(id) + 2 FROM access_auditevent)")
    first, last = run("SELECT min(id), max(id) FROM access_auditevent")[0]
    before: AuditSeal | None = None
    seal, parts = make_seal(before, [], lines_between(first, last), now=run("SELECT now()")[0][0], ring=ring)
    seal.save(force_insert=True)
    AuditSealedLines.objects.bulk_create(AuditSealedLines(seal=seal, kind=kind, lines=parts[kind]) for kind in parts)


@pytest.mark.usefixtures("database_superuser")
def test_sealing_anew_without_the_key_shows_and_with_it_by_a_note_outside():
    sealed(15)
    noted = anchor()
    own = key_ring()
    other = AuditKey(b"other", "0" * 8)
    with taken_back():
        sealed_anew(KeyRing((other,)))
        assert "made with a key that is not here" in str(verify_trail().first)
    with taken_back():
        sealed_anew(KeyRing((AuditKey(b"other", own.current.key_id),)))
        assert str(verify_trail().first) == "seal 1: its code is wrong: it was made without the hub's key"
    with taken_back():
        sealed_anew(own)
        assert verify_trail().is_whole
        assert "was cut" in str(verify_trail([noted]).first)


def test_lines_of_before_are_sealed_as_such_and_none_comes_later():
    AuditEvent.objects.create(action="LOGIN", principal="昔")
    seal_lines()
    write(3)
    seal_lines()
    found = verify_trail()
    assert (found.before, found.problems) == (1, [])
    assert AuditSeal.objects.get(number=1).parts.keys() == {""}


def test_old_keys_prove_what_they_made_and_a_lost_one_is_named():
    with override_settings(SECRET_KEY="one " * 20):
        sealed(3)
    with override_settings(SECRET_KEY="two " * 20):
        found = verify_trail()
        assert "HUB_AUDIT_OLD_KEYS" in str(found.first)
        write(1)
    ring = KeyRing((*_ring("two " * 20).keys, *_ring("one " * 20).keys))
    assert verify_trail(ring=ring).is_whole


def _ring(secret: str) -> KeyRing:
    with override_settings(SECRET_KEY=secret):
        return key_ring()


def test_details_come_back_as_they_were_written_and_are_bounded():
    record_event(
        local_operator(),
        "DOCUMENT_CHANGE",
        text="長" * 9000,
        many=list(range(900)),
        large=1e300,
        small=1e-7,
        whole=2.0,
        nested={"b": [1.5, None, True], "a": "\0"},
    )
    seal_lines()
    assert verify_trail().is_whole
    details = AuditEvent.objects.get().details
    assert len(details["text"]) == 501
    assert details["many"][50:] == ["… 850 more"]


def test_lines_about_several_things_read_are_one_statement_and_prove_themselves(django_assert_num_queries):
    resources = [f"review:rev_{number}" for number in range(3)]
    with django_assert_num_queries(1):
        record_reads(local_operator(), "RESULT_VIEW", resources, part="own_work")
    with django_assert_num_queries(0):
        record_reads(local_operator(), "RESULT_VIEW", [])
    written = AuditEvent.objects.filter(action="RESULT_VIEW", details={"part": "own_work"}).order_by("pk")
    assert list(written.values_list("resource", flat=True)) == resources
    assert (verify_trail().problems, verify_trail().unsealed) == ([], 3)


def test_a_canonical_line_is_of_one_line_only():
    line = {"at": run("SELECT now()")[0][0], "action": "A", "principal": "ab", "user_id": None, "resource": "c"}
    line |= dict.fromkeys(("door", "request_id", "agent", "purpose", "kind"), "") | {
        "details": {},
        "address": "::1",
    }
    moved = line | {"principal": "a", "resource": "bc"}
    assert AuditLine(**line).content() != AuditLine(**moved).content()
    assert AuditLine(**line | {"address": "0:0:0:0:0:0:0:1"}).content() == AuditLine(**line).content()


def test_questions_are_kept_as_the_setting_says(settings):
    for kept, expected in (("hash", {"query_hash": hash_of_query("性能")}), ("text", {"query": "性能"}), ("none", {})):
        settings.CONFIG = settings.CONFIG.model_copy(update={"hub_audit_queries": kept})
        assert query_facts("性能") == expected
    assert hash_of_query(" ＡＢＣ  x") == hash_of_query("abc X")


def test_kinds_and_gaps():
    assert [kind_of(name) for name in ("SEARCH", "LOGIN_FAILED", "DOCUMENT_UPLOAD", "REVIEW_START")] == [
        "read",
        "access",
        "kept",
        "change",
    ]
    assert gaps_of([], first=3) == []


@pytest.mark.usefixtures("database_superuser")
@pytest.mark.parametrize("table", ["access_auditevent", "access_auditseal", "access_auditsealedlines"])
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET kind = 'x'", "TRUNCATE {} CASCADE"])
def test_the_database_refuses_changes_to_whoever_has_the_right(table, statement):
    """What another server than the embedded one has, too; tests have the trigger off to be able to clean up."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER hub_append_only")
        if table == "access_auditseal":
            statement = statement.replace("kind = 'x'", "code = 'x'")
        with pytest.raises(DatabaseError, match="only added"), transaction.atomic():
            cursor.execute(statement.format(table))
