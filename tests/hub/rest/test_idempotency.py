from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse

from hub.access.models import AuditEvent, IdempotencyRecord
from hub.access.principals import ALL_SCOPES, Classification, Principal, Scope
from hub.rest.idempotency import (
    Claim,
    IdempotencyKeyReused,
    RequestInProgress,
    claim_key,
    prune_idempotency_records,
)
from hub.site.api import api
from tests.hub.rest import urls
from tests.hub.rest.conftest import Caller, make_caller
from tests.hub.rest.test_problems import assert_problem

NOW = datetime(2026, 4, 1, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SOMEBODY = Principal(name="佐藤", user_id=1, scopes=ALL_SCOPES, ceiling=Classification.C2)


def claim(*, now: datetime, digest: str = "d1") -> Claim | HttpResponse:
    return claim_key("k", principal=SOMEBODY, digest=digest, now=now)


def test_a_repeated_write_is_done_once_and_answered_alike(caller: Caller):
    first = caller.post_json("/things", {"name": "基本設計書"}, Idempotency_Key="k1")
    again = caller.post_json("/things", {"name": "基本設計書"}, Idempotency_Key="k1")

    assert first.status_code == again.status_code == 201
    assert again.content == first.content
    assert again["Location"] == first["Location"]
    assert again["Content-Type"] == first["Content-Type"]
    assert again["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    assert AuditEvent.objects.filter(action="THING").count() == 1


def test_without_a_key_every_write_is_done(caller: Caller):
    caller.post_json("/things", {"name": "x"})
    caller.post_json("/things", {"name": "x"})

    assert AuditEvent.objects.filter(action="THING").count() == 2


def test_a_key_with_another_request_is_refused(caller: Caller):
    caller.post_json("/things", {"name": "x"}, Idempotency_Key="k1")

    assert_problem(caller.post_json("/things", {"name": "y"}, Idempotency_Key="k1"), 422, "idempotency_key_reused")
    assert_problem(caller.post_json("/jobs", {"name": "x"}, Idempotency_Key="k1"), 422, "idempotency_key_reused")


def test_two_people_may_use_the_same_key(caller: Caller):
    other = make_caller("鈴木")

    caller.post_json("/things", {"name": "x"}, Idempotency_Key="k1")
    response = other.post_json("/things", {"name": "y"}, Idempotency_Key="k1")

    assert response.status_code == 201


def test_a_token_with_fewer_scopes_gets_no_answer_of_a_stronger_one(caller: Caller):
    caller.post_json("/things", {"name": "x"}, Idempotency_Key="k1")
    weaker = make_caller("佐藤", scopes=frozenset({Scope.READ}))

    assert_problem(weaker.post_json("/things", {"name": "x"}, Idempotency_Key="k1"), 422, "idempotency_key_reused")


def test_an_invalid_request_is_answered_alike_too(caller: Caller):
    first = caller.post_json("/things", {"count": 1}, Idempotency_Key="k1")
    again = caller.post_json("/things", {"count": 1}, Idempotency_Key="k1")

    assert first.status_code == again.status_code == 422
    assert again["Content-Type"] == "application/problem+json"


def test_a_failure_that_invites_a_retry_is_not_kept(caller: Caller):
    assert_problem(caller.post_json("/flaky", {}, Idempotency_Key="k1"), 503, "unavailable")

    again = caller.post_json("/flaky", {}, Idempotency_Key="k1")

    assert again.json() == {"done": True}
    assert "Idempotent-Replayed" not in again


def test_an_unauthenticated_write_leaves_no_record(db, client):
    response = client.post("/api/v1/things", {}, content_type="application/json", headers={"Idempotency-Key": "k1"})

    assert_problem(response, 401, "unauthenticated")
    assert not IdempotencyRecord.objects.exists()


def test_a_read_ignores_the_key(caller: Caller):
    caller.get("/whoami", **{"Idempotency-Key": "k1"})

    assert not IdempotencyRecord.objects.exists()


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "鍵"])
def test_an_unusable_key_is_refused(caller: Caller, key: str):
    problem = assert_problem(caller.post_json("/things", {"name": "x"}, Idempotency_Key=key), 422, "invalid_input")

    assert problem["errors"][0]["field"] == "Idempotency-Key"


def test_a_call_counts_once_against_the_rate_limit(caller: Caller):
    first = caller.get("/whoami")
    second = caller.post_json("/things", {"name": "x"}, Idempotency_Key="k1")

    counted = int(first["RateLimit-Remaining"]) - int(second["RateLimit-Remaining"])
    assert counted == 1 or int(second["RateLimit-Reset"]) > int(first["RateLimit-Reset"])


def test_an_upload_is_recognised_by_fields_and_file_content(caller: Caller):
    def send(content: bytes, title: str = "表題"):
        file = SimpleUploadedFile("設計書.md", content, content_type="text/markdown")
        headers = {**caller.headers, "Idempotency-Key": "k1"}
        return caller.client.post("/api/v1/files", {"file": file, "title": title}, headers=headers)

    first, again = send("本文".encode()), send("本文".encode())

    assert first.status_code == 200, first.content
    assert again["Idempotent-Replayed"] == "true"
    assert_problem(send("別の本文".encode()), 422, "idempotency_key_reused")
    assert_problem(send("本文".encode(), title="別題"), 422, "idempotency_key_reused")
    assert AuditEvent.objects.filter(action="FILE").count() == 1


def test_no_call_is_asynchronous_since_each_takes_one_thread_from_begin_to_end():
    operations = [
        operation
        for router in api._get_bound_routers()
        for view in router.path_operations.values()
        for operation in view.operations
    ]

    assert len(operations) > 100
    assert not any(operation.is_async for operation in operations)


def test_a_digest_that_cannot_be_made_is_a_problem(caller: Caller, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    assert_problem(caller.post_json("/things", {"name": "長" * 200}, Idempotency_Key="k1"), 413, "limit_exceeded")


@pytest.mark.django_db(transaction=True)
def test_a_repeat_while_the_first_is_at_work_is_told_to_come_back():
    caller = make_caller("佐藤")
    urls.slow_entered.clear()
    urls.slow_may_end.clear()
    answers = []

    def first() -> None:
        answers.append(make_client_call(caller))
        connection.close()

    thread = threading.Thread(target=first)
    thread.start()
    try:
        assert urls.slow_entered.wait(timeout=30)
        early = make_client_call(caller)
    finally:
        urls.slow_may_end.set()
        thread.join(timeout=30)

    assert assert_problem(early, 409, "request_in_progress")["retryable"] is True
    assert int(early["Retry-After"]) > 0
    assert answers[0].json() == {"done": True}
    assert make_client_call(caller)["Idempotent-Replayed"] == "true"


def make_client_call(caller: Caller):
    return caller.post_json("/slow", {}, Idempotency_Key="k1")


@pytest.mark.django_db(transaction=True)
def test_of_many_requests_with_one_new_key_one_gets_the_work():
    barrier = threading.Barrier(6)
    outcomes: list[object] = []

    def race() -> None:
        barrier.wait(timeout=30)
        try:
            outcomes.append(claim(now=NOW))
        except RequestInProgress as refusal:
            outcomes.append(refusal)
        connection.close()

    threads = [threading.Thread(target=race) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)

    assert len(outcomes) == 6
    assert sum(isinstance(outcome, Claim) for outcome in outcomes) == 1


def test_the_work_of_a_crashed_request_can_be_taken_over_after_a_minute(db):
    claim(now=NOW)

    with pytest.raises(RequestInProgress):
        claim(now=NOW + 59 * SECOND)
    assert isinstance(claim(now=NOW + 60 * SECOND), Claim)
    with pytest.raises(RequestInProgress):
        claim(now=NOW + 61 * SECOND)


def test_a_key_is_new_again_after_a_day(db):
    claim(now=NOW)
    day = timedelta(hours=24)

    with pytest.raises(IdempotencyKeyReused):
        claim(now=NOW + day - SECOND, digest="d2")
    assert isinstance(claim(now=NOW + day, digest="d2"), Claim)


def test_pruning_removes_keys_older_than_a_day(db):
    for hours in (25, 24, 23):
        claim_key(f"k{hours}", principal=SOMEBODY, digest="d", now=NOW - timedelta(hours=hours))

    assert prune_idempotency_records(NOW) == 2
    assert IdempotencyRecord.objects.get().key == "k23"
