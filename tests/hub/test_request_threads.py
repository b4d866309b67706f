"""Requests that follow each other share a thread, and with it a database connection; those at one time never do."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections

from hub.request_threads import RequestThreads


def run_in(threads: RequestThreads, count: int, *, work: Callable[[], object] = threading.get_ident) -> list[int]:
    async def request(barrier: asyncio.Barrier) -> int:
        async with threads.lend():
            await barrier.wait()
            first = await sync_to_async(threading.get_ident)()
            await sync_to_async(work)()
            assert await sync_to_async(threading.get_ident)() == first
            return first

    async def together() -> list[int]:
        barrier = asyncio.Barrier(count)
        return await asyncio.gather(*(request(barrier) for _ in range(count)))

    return asyncio.run(together())


async def until_idle(threads: RequestThreads, count: int) -> None:
    async with asyncio.timeout(10):
        while threads.idle < count:
            await asyncio.sleep(0.01)


def test_requests_that_follow_each_other_share_a_thread() -> None:
    threads = RequestThreads()
    first = run_in(threads, 1)
    asyncio.run(until_idle(threads, 1))
    assert run_in(threads, 1) == first


def test_requests_at_one_time_have_a_thread_each_and_only_some_are_kept() -> None:
    threads = RequestThreads(kept=2)
    assert len(set(run_in(threads, 4))) == 4
    asyncio.run(until_idle(threads, 2))
    assert threads.idle == 2


@pytest.mark.django_db(transaction=True)
def test_a_thread_that_ends_closes_its_connection_at_once() -> None:
    threads = RequestThreads(kept=1)
    gc.disable()
    try:
        before = open_connections()
        run_in(threads, 5, work=open_connections)
        deadline = time.monotonic() + 10
        while open_connections() > before + 1:
            assert time.monotonic() < deadline, open_connections()
            time.sleep(0.01)
    finally:
        gc.enable()
        run_in(threads, 1, work=connections.close_all)  # the kept one, whose thread ends with the test


def open_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def test_a_thread_that_still_works_for_a_caller_who_went_away_is_not_lent() -> None:
    threads, go_on, started = RequestThreads(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go_on.wait(10)

    async def request() -> None:
        async with threads.lend():
            await sync_to_async(work)()

    async def scenario() -> None:
        task = asyncio.create_task(request())
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        await asyncio.sleep(0)
        assert threads.idle == 0
        async with threads.lend():
            assert await sync_to_async(lambda: "answered")() == "answered"
        go_on.set()
        await until_idle(threads, 2)

    asyncio.run(scenario())
