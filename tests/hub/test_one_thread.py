"""A request runs as one piece of work in its thread, whatever middleware there is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import AsyncToSync, SyncToAsync

from hub.one_thread import OneThreadHandler

# The request, and closing the answer.
MOST_CHANGES = 2


def scope(path: str) -> dict[str, Any]:
    headers = [(b"host", b"testserver"), (b"accept-language", b"ja")]
    return {"type": "http", "method": "GET", "path": path, "headers": headers, "query_string": b"", "scheme": "http"}


async def answer(path: str) -> int:
    sent: list[Any] = []
    given = [{"type": "http.request", "body": b""}]

    async def receive() -> dict[str, Any]:
        return given.pop() if given else await asyncio.Future()

    async def send(message: Any) -> None:
        sent.append(message)

    await OneThreadHandler()(scope(path), receive, send)
    return sent[0]["status"]


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
