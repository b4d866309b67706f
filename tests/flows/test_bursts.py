"""Many callers at one moment, slow ones, and ones that go away: a running hub answers all who wait."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import ExitStack

from tests.flows.hub_process import HubProcess
from tests.flows.test_broken_parts import connected

# More than the embedded PostgreSQL has connections.
MANY = 120
# What the hub's processes may hold together: 16 threads of the web process and what is brief in it, worker, beat, up.
MOST_CONNECTIONS = 60
ANSWER_WITHIN_S = 120


def request_of(hub: HubProcess, method: str, path: str, body: bytes = b"", *, length: int | None = None) -> bytes:
    """One HTTP request as it goes over the wire; ``length`` says more than there is."""
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {hub.token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body) if length is None else length}",
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def search_of(hub: HubProcess, number: int) -> bytes:
    return request_of(hub, "POST", "/api/v1/search", json.dumps({"query": f"貸出の上限は何冊か {number}"}).encode())


async def send(hub: HubProcess, request: bytes) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", hub.port)
    writer.write(request)
    head, _, body = (await asyncio.wait_for(reader.read(), ANSWER_WITHIN_S)).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body


async def send_all(hub: HubProcess, requests: list[bytes]) -> list[int]:
    return [status for status, _body in await asyncio.gather(*(send(hub, request) for request in requests))]


def open_connections(hub: HubProcess) -> int:
    with connected(hub) as database:
        row = database.execute("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'").fetchone()
    assert row is not None
    return int(row[0])


def test_a_burst_of_searches_is_answered_and_the_probes_answer_meanwhile(hub: HubProcess) -> None:
    async def scenario() -> None:
        burst = asyncio.create_task(send_all(hub, [search_of(hub, number) for number in range(MANY)]))
        probes = [await send(hub, request_of(hub, "GET", path)) for path in ("/healthz", "/readyz", "/metrics")]
        assert not burst.done()
        assert [status for status, _body in probes] == [200, 200, 200]
        assert b"hub_http_waiting_requests" in probes[2][1]
        assert set(await burst) == {200}

    asyncio.run(scenario())
    assert open_connections(hub) < MOST_CONNECTIONS


def test_slow_clients_hold_nobody_up(hub: HubProcess) -> None:
    beginnings = (b"", b"GET /api/v1/coll", request_of(hub, "POST", "/api/v1/search", b'{"query"', length=100))
    with ExitStack() as held:
        for number in range(MANY):
            slow = held.enter_context(socket.create_connection(("127.0.0.1", hub.port)))
            slow.sendall(beginnings[number % len(beginnings)])
        assert asyncio.run(send_all(hub, [search_of(hub, number) for number in range(3)])) == [200] * 3
        assert open_connections(hub) < MOST_CONNECTIONS


def test_searches_of_clients_who_went_away_are_not_waited_for(hub: HubProcess) -> None:
    for number in range(MANY):
        with socket.create_connection(("127.0.0.1", hub.port)) as impatient:
            impatient.sendall(search_of(hub, number))
    assert asyncio.run(send_all(hub, [search_of(hub, 0)])) == [200]
