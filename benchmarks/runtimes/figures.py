"""Times and memory of a runtime, idle and under bursts."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from benchmarks.runtimes.calls import KINDS, PROBES, call, search
from benchmarks.runtimes.servers import Callers, Server, statements_logged
from benchmarks.runtimes.wire import Answer, Connection, ask

AT_ONCE = 300
PAUSE_S = 0.02
Times = defaultdict[str, list[float]]


def measure(server: Server, callers: Callers, *, calls: int, bursts: int, seconds: float) -> dict[str, str]:
    """Return what is measured of a runtime, in words, by what it is."""
    return asyncio.run(_measure(server, callers, calls, bursts, seconds))


async def _measure(server: Server, callers: Callers, calls: int, bursts: int, seconds: float) -> dict[str, str]:
    for token in callers.tokens:  # who calls is known from now on, and models are loaded
        await ask(server.port, search(token))
    rows = {"start, s": f"{server.start_s:.1f}"}
    for kind in KINDS:
        times = await _one_by_one(server, callers, kind, calls)
        rows[f"{kind}, idle, ms"] = _ms(times)
    rows["memory, idle, MiB"] = f"{server.memory_mib():.0f}"
    rows |= await _statements(server, callers)
    before = server.logged()
    await _burst(server, callers, ())  # /readyz connects anew each time
    made = server.logged() - before
    found = [await _burst(server, callers, PROBES) for _ in range(bursts)]
    for name in found[0]:
        rows[f"{AT_ONCE} searches: {name}"] = " · ".join(one[name] for one in found)
    rows[f"{AT_ONCE} searches: connections made"] = str(made["connections"])
    rows |= await _crowd(server, callers, seconds)
    rows |= await _one_caller(server, callers)
    rows["memory, afterwards, MiB"] = f"{server.memory_mib():.0f}"
    return rows


async def _one_by_one(server: Server, callers: Callers, kind: str, calls: int) -> list[float]:
    connection = await Connection.open(_port(server, kind))
    times = []
    for number in range(calls + 10):
        answer = await connection.ask(call(kind, callers))
        assert answer.status == 200, (server.name, kind, answer)
        if number >= 10:
            times.append(answer.seconds)
    connection.close()
    return times


async def _statements(server: Server, callers: Callers, calls: int = 20) -> dict[str, str]:
    rows = {}
    for kind in KINDS[:3]:
        await _one_by_one(server, callers, kind, 1)
        with statements_logged():
            await _one_by_one(server, callers, kind, 0)  # ten to warm up: the log level comes to idle connections late
            before = server.logged()
            await _one_by_one(server, callers, kind, calls - 10)
            await asyncio.sleep(0.1)
            found = server.logged() - before
        rows[f"{kind}, statements"] = f"{found['statements'] / calls:.1f}"
    return rows


async def _burst(server: Server, callers: Callers, probes: tuple[str, ...]) -> dict[str, str]:
    beside: Times = defaultdict(list)
    async with _asking(server, callers, probes, beside):
        connections = [await Connection.open(server.port) for _ in range(AT_ONCE)]
        begun, processor = time.perf_counter(), server.processor_s()
        answers = await asyncio.gather(
            *(
                connection.ask(search(callers.tokens[number % len(callers.tokens)]))
                for number, connection in enumerate(connections)
            )
        )
        taken, used = time.perf_counter() - begun, server.processor_s() - processor
        for connection in connections:
            connection.close()
    answered = [answer for answer in answers if answer.status == 200]
    return {
        "answered": str(len(answered)) + _others(answers),
        "seconds for all": f"{taken:.1f}",
        "p50, p95 s": "{:.1f}, {:.1f}".format(*_quantiles([answer.seconds for answer in answered])),
        "processor s": f"{used:.1f}",
        **{f"{probe}, longest s": f"{max(beside[probe]):.2f}" for probe in probes},
    }


async def _crowd(server: Server, callers: Callers, seconds: float) -> dict[str, str]:
    """Let each person search, one search after the other, while somebody else makes every kind of call."""
    own: list[Answer] = []
    beside: Times = defaultdict(list)
    until = time.perf_counter() + seconds

    async def searching(token: str) -> None:
        connection = await Connection.open(server.port)
        while time.perf_counter() < until:
            answer = await connection.ask(search(token))
            own.append(answer)
            if answer.status <= 0 or answer.headers.get("connection") == "close":
                connection = await Connection.open(server.port)

    async with _asking(server, callers, (*KINDS, *PROBES), beside):
        await asyncio.gather(*map(searching, callers.tokens))
    name = f"{len(callers.tokens)} clients"
    times = [answer.seconds for answer in own if answer.status == 200]
    return {
        f"{name}: searches a second": f"{len(times) / seconds:.0f}{_others(own)}",
        f"{name}: p50, p95 ms": _ms(times),
        **{f"{name}, beside: {kind}, ms": _ms(beside[kind]) for kind in KINDS},
        **{f"{name}, beside: {probe}, longest s": f"{max(beside[probe]):.2f}" for probe in PROBES},
        f"{name}: memory, MiB": f"{server.memory_mib():.0f}",
    }


async def _one_caller(server: Server, callers: Callers) -> dict[str, str]:
    searches = [asyncio.create_task(ask(server.port, search(callers.tokens[0]))) for _ in range(200)]
    await asyncio.sleep(0.3)
    answer = await ask(server.port, call(KINDS[0], callers))
    await asyncio.gather(*searches)
    return {"another's call beside 200 searches of one caller, ms": f"{1000 * answer.seconds:.0f}"}


@asynccontextmanager
async def _asking(server: Server, callers: Callers, kinds: tuple[str, ...], times: Times) -> AsyncIterator[None]:
    """Make calls of each kind, one after the other, inside the block; what is under way at its end is waited for."""
    is_over = asyncio.Event()

    async def keep_asking(kind: str) -> None:
        connection = await Connection.open(_port(server, kind))
        while not is_over.is_set():
            answer = await connection.ask(call(kind, callers))
            if answer.status == 200 or kind in PROBES:  # a probe's refusal is an answer, too
                times[kind].append(answer.seconds)
            if answer.status <= 0:
                connection = await Connection.open(_port(server, kind))
            with suppress(TimeoutError):
                await asyncio.wait_for(is_over.wait(), PAUSE_S)
        connection.close()

    tasks = [asyncio.create_task(keep_asking(kind)) for kind in kinds]
    try:
        yield
    finally:
        is_over.set()
        await asyncio.gather(*tasks)


def _port(server: Server, kind: str) -> int:
    return server.mcp_port if kind == KINDS[3] else server.port


def _others(answers: list[Answer]) -> str:
    others: defaultdict[int, int] = defaultdict(int)
    for answer in answers:
        if answer.status != 200:
            others[answer.status] += 1
    return "".join(f", {count} × {status}" for status, count in sorted(others.items()))


def _quantiles(times: list[float]) -> tuple[float, float]:
    return statistics.median(times), statistics.quantiles(times, n=20)[18]


def _ms(times: list[float]) -> str:
    return "{:.1f}, {:.1f}".format(*(1000 * each for each in _quantiles(times))) if len(times) > 1 else "–"
