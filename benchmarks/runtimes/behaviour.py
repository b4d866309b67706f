"""What becomes of calls in trouble: streams, people who go away, slow senders, too many of them, and a stop."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.runtimes.calls import COLLECTIONS, as_bearer, call, events, search
from benchmarks.runtimes.servers import Callers, Server, running
from benchmarks.runtimes.wire import Connection, ask, request

NARROW = {"HUB_BODY_TIMEOUT_S": 2, "HUB_MAX_UPLOAD_BYTES": 100_000, "HUB_REQUEST_WAIT_S": 1}
GENEROUS = {"HUB_MAX_CONNECTIONS_PER_ADDRESS": 2000, "HUB_MAX_CONNECTIONS": 2000}
FEW = {"HUB_MAX_CONNECTIONS": 60}
MANY_STREAMS = 20  # more than there are threads
SHORT_S, LONG_S = 5, 15
Observed = dict[str, str]


def observe(name: str, home: Path, callers: Callers) -> Observed:
    """Return what became of each kind of trouble, in words."""
    rows: Observed = {}
    with running(name, home, **NARROW, **GENEROUS) as server:
        rows |= asyncio.run(_in_trouble(server, callers))
    with running(name, home, **NARROW, **FEW) as server:
        rows |= asyncio.run(_too_many_connections(server))
    with running(name, home, **GENEROUS) as server:
        rows |= asyncio.run(_left_behind(server, callers))
        rows |= asyncio.run(_languages(server, callers))
    with running(name, home, **GENEROUS) as server:
        rows |= asyncio.run(_stopped(server, callers))
    return rows


async def _in_trouble(server: Server, callers: Callers) -> Observed:
    for token in callers.tokens:
        await ask(server.port, search(token))
    rows: Observed = {}
    looks: list[Callable[[Server, Callers], Awaitable[Observed]]] = [_heads, _halves, _large_bodies, _full_line]
    looks += [_slow_senders, _streams]
    for look in looks:
        rows |= await look(server, callers)
    return rows


async def _heads(server: Server, callers: Callers) -> Observed:
    """Heads that two readers may read differently."""
    lengths = request("GET", "/healthz", Content_Length="0")
    doubtful = {
        "two lengths": lengths.replace(b"Content-Length: 0", b"Content-Length: 0\r\nContent-Length: 0"),
        "a bare line feed": request("GET", "/healthz", A="1").replace(b"A: 1\r\n", b"A: 1\n"),
        "a folded line": request("GET", "/healthz", A="1").replace(b"A: 1\r\n", b"A: 1\r\n 2\r\n"),
    }
    return {f"head with {what}": str((await ask(server.port, sent)).status) for what, sent in doubtful.items()}


async def _halves(server: Server, callers: Callers) -> Observed:
    token = as_bearer(callers.other)
    halves = {
        "half a head": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        "half a body": request("POST", "/api/v1/search", Content_Length="99", **token) + b"{",
    }
    rows = {}
    for what, sent in halves.items():
        answer = await ask(server.port, sent, within_s=LONG_S)
        rows[f"{what} (limit 2 s)"] = _ended(answer.status, answer.seconds)
    return rows


def _ended(status: int, seconds: float) -> str:
    return f"still open after {LONG_S} s" if status == -1 else f"{status or 'closed'} after {seconds:.1f} s"


async def _large_bodies(server: Server, callers: Callers) -> Observed:
    token, size = as_bearer(callers.other), 3_000_000
    kind = {"Content_Type": "multipart/form-data; boundary=0f1e"}
    declared = request("POST", "/api/v1/documents", Content_Length=str(size), **kind, **token)
    chunked = request("POST", "/api/v1/documents", Transfer_Encoding="chunked", **kind, **token)
    part = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    return {
        "body declared too large, before it is sent": str((await ask(server.port, declared, within_s=3)).status),
        "body of unknown length, too large": str(
            (await ask(server.port, chunked + part * (size // 0x10000) + b"0\r\n\r\n", within_s=LONG_S)).status
        ),
    }


async def _full_line(server: Server, callers: Callers) -> Observed:
    """300 searches when nobody waits longer than a second for a thread."""
    answers = await asyncio.gather(*(ask(server.port, search(callers.tokens[n % 50])) for n in range(300)))
    counted = Counter(answer.status for answer in answers)
    longest = max(answer.seconds for answer in answers)
    told = any("retry-after" in answer.headers for answer in answers if answer.status == 503)
    return {
        "300 searches, HUB_REQUEST_WAIT_S=1": ", ".join(f"{count} × {status}" for status, count in counted.items())
        + (" with Retry-After" if told else "")
        + f", longest {longest:.1f} s"
    }


async def _slow_senders(server: Server, callers: Callers) -> Observed:
    """Twenty who send 1,200 bytes a second of a body, which the limit allows."""
    head = request("POST", "/api/v1/search", Content_Length="90000", **as_bearer(callers.other))
    connections = [await Connection.open(server.port) for _ in range(MANY_STREAMS)]
    for connection in connections:
        connection.writer.write(head)

    async def sending(connection: Connection) -> None:
        while True:
            connection.writer.write(b" " * 240)
            await asyncio.sleep(0.2)

    tasks = [asyncio.create_task(sending(connection)) for connection in connections]
    await asyncio.sleep(1)
    rows = await _others(server, callers, f"beside {MANY_STREAMS} slow senders")
    for task, connection in zip(tasks, connections, strict=True):
        task.cancel()
        connection.close()
    await asyncio.sleep(1)
    return rows


async def _others(server: Server, callers: Callers, when: str) -> Observed:
    trivial = await ask(server.port, call("REST, trivial", callers), within_s=SHORT_S)
    probe = await ask(server.port, request("GET", "/healthz"), within_s=SHORT_S)
    return {
        f"REST, trivial, {when}": _seconds(trivial.status, trivial.seconds),
        f"/healthz, {when}": _seconds(probe.status, probe.seconds),
    }


def _seconds(status: int, seconds: float) -> str:
    return f"none within {SHORT_S} s" if status == -1 else f"{status} after {seconds:.2f} s"


async def _streams(server: Server, callers: Callers) -> Observed:
    """Event streams: the first event, what others see of many, and what is left when their readers have gone."""
    before = _subscribers()
    one = await Connection.open(server.port)
    begun = time.perf_counter()
    first = await _first_event(one, callers)
    rows = {"stream: first event": f"{time.perf_counter() - begun:.2f} s" if first else f"none within {SHORT_S} s"}
    connections = [one]
    for _ in range(MANY_STREAMS - 1):
        connections.append(await Connection.open(server.port))
        connections[-1].writer.write(events(callers))
    await asyncio.sleep(2)
    rows["streams at work of 20"] = str(_subscribers() - before)
    rows |= await _others(server, callers, f"beside {MANY_STREAMS} streams")
    for connection in connections:
        connection.close()
    left_at = time.perf_counter()
    while (left := _subscribers() - before) > 0 and time.perf_counter() - left_at < LONG_S:
        await asyncio.sleep(0.1)
    seconds = time.perf_counter() - left_at
    rows["streams whose readers have gone"] = f"{left} after {LONG_S} s" if left > 0 else f"ended after {seconds:.1f} s"
    return rows | await _others(server, callers, "after that")


async def _first_event(connection: Connection, callers: Callers) -> bool:
    connection.writer.write(events(callers))
    try:
        async with asyncio.timeout(SHORT_S):
            await connection.read_head()
            while b"event: progress" not in await connection.reader.readline():
                pass
    except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
        return False
    return True


def _subscribers() -> int:
    import redis
    from django.conf import settings

    with redis.Redis.from_url(settings.REDIS_CLIENT_URL) as client:
        rows: Any = client.client_list(_type="pubsub")
        return len(rows)


async def _too_many_connections(server: Server) -> Observed:
    """A hundred connections where sixty are allowed."""
    connections = [await Connection.open(server.port) for _ in range(100)]
    statuses: Counter[int] = Counter()
    for connection in connections:
        statuses[(await connection.ask(request("GET", "/healthz"), within_s=SHORT_S)).status] += 1
    for connection in connections:
        connection.close()
    await asyncio.sleep(0.5)
    again = await ask(server.port, request("GET", "/healthz"), within_s=SHORT_S)
    return {
        "100 connections, HUB_MAX_CONNECTIONS=60": ", ".join(f"{count} × {one}" for one, count in statuses.items()),
        "one more when they are closed": str(again.status),
    }


async def _left_behind(server: Server, callers: Callers) -> Observed:
    """A hundred searches whose callers go away at once: what the server still spends on them."""
    for token in callers.tokens:
        await ask(server.port, search(token))
    before = server.processor_s()
    for number in range(50):
        await ask(server.port, search(callers.tokens[number]))
    each = (server.processor_s() - before) / 50
    before = server.processor_s()
    connections = [await Connection.open(server.port) for _ in range(100)]
    for number, connection in enumerate(connections):
        connection.writer.write(search(callers.tokens[number % len(callers.tokens)]))
    await asyncio.sleep(0.2)
    for connection in connections:
        connection.writer.transport.abort()
    begun = time.perf_counter()
    answer = await ask(server.port, call("REST, trivial", callers))
    waited = time.perf_counter() - begun
    await asyncio.sleep(LONG_S - waited if waited < LONG_S else 1)
    spent = server.processor_s() - before
    return {
        "100 searches left after 0.2 s: processor time, in searches": f"{spent / each:.0f}",
        "the next trivial call": _seconds(answer.status, waited),
    }


async def _languages(server: Server, callers: Callers) -> Observed:
    """200 refusals at one time, asked for in two languages and with ids of their own."""

    async def is_right(number: int) -> bool:
        language = ("ja", "en")[number % 2]
        sent = request(
            "GET",
            f"{COLLECTIONS}/none",
            Accept_Language=language,
            X_Request_ID=f"r{number}",
            **as_bearer(callers.other),
        )
        answer = await ask(server.port, sent)
        is_japanese = any(character > "\u3000" for character in answer.body.decode())
        is_own = answer.headers.get("x-request-id") == f"r{number}" and f"r{number}".encode() in answer.body
        return is_own and is_japanese == (language == "ja")

    right = await asyncio.gather(*map(is_right, range(200)))
    return {"200 answers in the right language, with their own id": str(sum(right))}


async def _stopped(server: Server, callers: Callers) -> Observed:
    """SIGTERM with an open stream and searches under way."""
    await ask(server.port, search(callers.other))
    stream = await Connection.open(server.port)
    await _first_event(stream, callers)
    searches = [asyncio.create_task(ask(server.port, search(callers.tokens[n]))) for n in range(10)]
    await asyncio.sleep(0.05)
    begun = time.perf_counter()
    for process in server.processes:
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(LONG_S):
            rest = await stream.reader.read()
        ending = "complete" if rest.endswith(b"0\r\n\r\n") else "cut off"
    except ConnectionError:
        ending = "broken"
    except TimeoutError:
        ending = f"open after {LONG_S} s"
    ended = time.perf_counter() - begun
    statuses = Counter([(await one).status for one in searches])
    while any(process.poll() is None for process in server.processes) and time.perf_counter() - begun < LONG_S:
        await asyncio.sleep(0.02)
    codes = [process.poll() for process in server.processes]
    return {
        "SIGTERM: stream": f"{ending} after {ended:.1f} s",
        "SIGTERM: 10 searches under way": ", ".join(f"{count} × {one}" for one, count in statuses.items()),
        "SIGTERM: process": "ended with " + ", ".join(map(str, codes)) + f" after {time.perf_counter() - begun:.1f} s",
    }
