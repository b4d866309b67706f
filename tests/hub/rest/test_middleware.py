from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client, RequestFactory

from hub.access.models import AuditEvent
from hub.rest.middleware import call_context_of
from tests.hub.rest.conftest import Caller
from tests.hub.rest.test_problems import assert_problem


@pytest.mark.parametrize("origin", ["http://localhost:5173", "https://testserver", "http://[::1]:8000"])
def test_pages_of_allowed_hosts_may_call(caller: Caller, origin: str, settings):
    settings.ALLOWED_HOSTS = ["testserver", "localhost", "[::1]"]

    assert caller.get("/whoami", Origin=origin).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "file://localhost", "http://localhost.evil.example", "http://[::1"]
)
def test_pages_of_other_hosts_may_not(caller: Caller, origin: str):
    assert_problem(caller.get("/whoami", Origin=origin), 403, "origin_not_allowed")


def test_the_request_id_of_the_caller_is_kept(caller: Caller):
    assert caller.get("/whoami", **{"X-Request-ID": "job-42.a"})["X-Request-ID"] == "job-42.a"


@pytest.mark.parametrize("given", ["a b", "x" * 65, "<script>", "-", "値"])
def test_an_odd_request_id_is_replaced(caller: Caller, given: str):
    assert caller.get("/whoami", **{"X-Request-ID": given})["X-Request-ID"].startswith("req_")


def test_pages_get_a_request_id_and_no_api_headers(db):
    response = Client().get("/admin/login/")

    assert response["X-Request-ID"].startswith("req_")
    assert "RateLimit-Limit" not in response


def test_api_answers_are_not_cached(caller: Caller):
    assert caller.get("/whoami")["Cache-Control"] == "no-store"


def test_audit_lines_carry_door_request_address_and_agent(caller: Caller):
    caller.post_json("/things", {"name": "基本設計書"}, X_Request_ID="up-1", User_Agent="curl/8")

    event = AuditEvent.objects.get(action="THING")
    assert (event.door, event.request_id, event.address, event.agent) == ("rest", "up-1", "127.0.0.1", "curl/8")


@pytest.mark.parametrize(
    ("path", "remote", "door", "address"),
    [
        ("/api/v1/x", "192.0.2.7", "rest", "192.0.2.7"),
        ("/admin/", "fe80::1%eth0", "admin", "fe80::1"),
        ("/admin/", "", "admin", None),
    ],
)
def test_the_door_and_the_address_are_read_from_the_request(path: str, remote: str, door: str, address: str | None):
    context = call_context_of(RequestFactory().get(path, REMOTE_ADDR=remote))

    assert (context.door, context.address) == (door, address)


def test_the_middleware_works_under_asgi_too(caller: Caller):
    async def call():
        return await AsyncClient().get("/api/v1/whoami", headers={**caller.headers, "X-Request-ID": "asgi-1"})

    response = async_to_sync(call)()

    assert response.json() == {"name": "佐藤"}
    assert response["X-Request-ID"] == "asgi-1"
    assert response["Cache-Control"] == "no-store"


def test_refusals_work_under_asgi_too(caller: Caller):
    async def call():
        return await AsyncClient().get("/api/v1/whoami", headers={**caller.headers, "Origin": "https://evil.example"})

    assert_problem(async_to_sync(call)(), 403, "origin_not_allowed")
