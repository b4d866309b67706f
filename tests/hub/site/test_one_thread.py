"""A request runs as one piece of work in its thread, whatever middleware there is."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import AsyncToSync, SyncToAsync

from hub.rest.request_threads import RequestThreads
from hub.site import one_thread
from hub.site.one_thread import OneThreadHandler

# The request, and closing the answer.
MOST_CHANGES = 2


def scope(path: str) -> dict[str, Any]:
    headers = [(b"host", b"testserver"), (b"accept-language", b"ja")]
    return {"type": "http", "method": "GET", "path": path, "headers": headers, "query_string": b"", "scheme": "http"}


async def answer(path: str, *, handler: OneThreadHandler | None = None) -> int:
    return (await exchange(path, handler or OneThreadHandler()))[0]["status"]


async def exchange(path: str, handler: OneThreadHandler) -> list[Any]:
    """Ask once; gives the messages that came back."""
    sent: list[Any] = []
    given = [{"type": "http.request", "body": b""}]

    async def receive() -> dict[str, Any]:
        return given.pop() if given else await asyncio.Future()

    async def send(message: Any) -> None:
        sent.append(message)

    await handler(scope(path), receive, send)
    return sent


@pytest.mark.parametrize(("path", "status"), [("/healthz", 200), ("/api/v1/collections", 401), ("/nothing", 404)])
@pytest.mark.django_db(transaction=True)
def test_a_request_changes_its_thread_no_more_than_it_must(path, status, settings, monkeypatch):
    settings.ALLOWED_HOSTS = ["testserver"]
    changes = []
    for way in (SyncToAsync, AsyncToSync):
        call = way.__call__

        def counted(self, *args, _call=call, **kwargs):
            changes.append(self)
            return _call(self, *args, **kwargs)

        monkeypatch.setattr(way, "__call__", counted)
    assert asyncio.run(answer(path)) == status
    assert 1 <= len(changes) <= MOST_CHANGES


@pytest.fixture
def one_thread_only(settings, monkeypatch):
    """Have one thread for all requests, for which none waits long."""
    settings.ALLOWED_HOSTS = ["testserver"]
    threads = RequestThreads(most=1, wait_s=0.01)
    monkeypatch.setattr(one_thread, "request_threads", lambda: threads)
    return threads


@pytest.mark.django_db(transaction=True)
def test_a_program_that_finds_no_thread_gets_a_problem_and_a_person_a_page(one_thread_only):
    async def scenario() -> list[list[Any]]:
        handler = OneThreadHandler()
        async with one_thread_only.lend():
            return [await exchange(path, handler) for path in ("/api/v1/collections", "/admin/", "/healthz")]

    program, person, probe = asyncio.run(scenario())
    problem, headers = json.loads(program[1]["body"]), dict(program[0]["headers"])
    assert (program[0]["status"], problem["code"], problem["retryable"]) == (503, "too_busy", True)
    assert "HUB_REQUEST_THREADS" in problem["detail"]
    assert headers[b"Retry-After"]
    assert headers[b"Content-Language"] == b"ja"
    assert person[0]["status"] == 503
    assert "HUB_REQUEST_WAIT_S" in person[1]["body"].decode()
    assert dict(person[0]["headers"])[b"Retry-After"]
    assert probe[0]["status"] == 200


@pytest.mark.django_db(transaction=True)
def test_a_request_takes_no_thread_before_its_body_is_there(one_thread_only):
    async def scenario() -> None:
        parts, sent = asyncio.Queue[dict[str, Any]](), list[Any]()

        async def send(message: Any) -> None:
            sent.append(message)

        await parts.put({"type": "http.request", "body": b"{", "more_body": True})
        slow = {**scope("/api/v1/search"), "method": "POST"}
        request = asyncio.create_task(OneThreadHandler()(slow, parts.get, send))
        while not parts.empty():
            await asyncio.sleep(0.01)
        assert await answer("/api/v1/collections") == 401
        assert not sent
        await parts.put({"type": "http.request", "body": b"}"})
        await asyncio.wait({request}, return_when=asyncio.FIRST_COMPLETED)
        assert sent[0]["status"] == 401

    asyncio.run(scenario())
