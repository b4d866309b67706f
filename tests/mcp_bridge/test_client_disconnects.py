"""Clients that leave in the middle: an application of the SDK beneath, told by hand what a server would tell it."""

from __future__ import annotations

import logging

import anyio
import pytest
from starlette.requests import ClientDisconnect

from mcp_bridge.client_disconnects import SDK_LOGGER, enduring, quieten_sdk

pytestmark = pytest.mark.anyio
START = {"type": "http.response.start", "status": 200, "headers": []}
END = {"type": "http.response.body", "body": b"", "more_body": False}
PART = {"type": "http.response.body", "body": b"x", "more_body": True}


async def answered(*messages, error: BaseException | None = None) -> list[dict]:
    """What reaches the client of an application that sends ``messages`` and then fails with ``error``."""
    sent: list[dict] = []

    async def application(_scope, _receive, send) -> None:
        for message in messages:
            await send(message)
        if error is not None:
            raise error

    async def keep(message) -> None:
        sent.append(message)

    await enduring(application)({"type": "http", "path": "/mcp/core/"}, None, keep)
    return sent


async def test_a_client_that_left_before_its_request_was_read_is_no_failure():
    assert await answered(error=ClientDisconnect()) == []


async def test_a_second_answer_after_the_first_is_dropped():
    assert await answered(START, END, {**START, "status": 500}, END, error=anyio.ClosedResourceError()) == [START, END]


async def test_a_stream_that_stops_with_its_session_is_ended():
    assert await answered(START, PART) == [START, PART, END]


@pytest.mark.parametrize("error", [anyio.ClosedResourceError(), ValueError("a bug")])
async def test_what_fails_before_any_answer_is_a_failure(error):
    with pytest.raises(type(error)):
        await answered(error=error)


@pytest.mark.parametrize(("error", "is_quiet"), [(anyio.BrokenResourceError(), True), (ValueError("a bug"), False)])
def test_the_sdk_reports_bugs_and_not_departures(caplog, error, is_quiet):
    quieten_sdk()
    quieten_sdk()
    caplog.set_level(logging.INFO)
    try:
        raise ExceptionGroup("", [error])
    except ExceptionGroup:
        logging.getLogger(SDK_LOGGER).exception("SSE response error")
    assert [record.levelname for record in caplog.records] == ["INFO" if is_quiet else "ERROR"]
