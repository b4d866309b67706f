"""Requests that follow each other share a thread, and with it a database connection; too many at once wait in line."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import translation

from hub.core.errors import TooManyAtOnce
from hub.core.waiting import Stopped, raise_if_stopped, waiting_elsewhere
from hub.rest import request_threads, responses
from hub.rest.request_threads import LINE_PER_THREAD, RequestThreads, TooBusy

PATIENCE_S = 10


def threads_of(most: int, *, wait_s: float = PATIENCE_S) -> RequestThreads:
    return RequestThreads(most=most, wait_s=wait_s)


async def ask(
    threads: RequestThreads, work: Callable[[], object] = threading.get_ident, *, caller: str | None = None
) -> Any:
    async with threads.lend(caller) as thread:
        return await thread.run(work)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.01)


def test_requests_that_follow_each_other_share_a_thread() -> None:
    async def scenario() -> None:
        threads = threads_of(3)
        first = await ask(threads)
        await until(lambda: threads.idle == 1)
        assert await ask(threads) == first

    asyncio.run(scenario())


def test_requests_at_one_time_have_a_thread_each_up_to_the_limit_and_are_all_answered() -> None:
    threads, together = threads_of(3), threading.Barrier(3)

    def work() -> int:
        together.wait(PATIENCE_S)  # goes on when three are there
        return threading.get_ident()

    async def scenario() -> None:
        answers = await asyncio.gather(*(ask(threads, work) for _ in range(12)))
        assert len(set(answers)) == 3
        await until(lambda: threads.idle == 3)

    asyncio.run(scenario())


def test_who_waits_is_served_in_order_of_arrival() -> None:
    threads, served = threads_of(1), list[int]()

    async def scenario() -> None:
        async with threads.lend():
            waiting = []
            for number in range(4):
                waiting.append(asyncio.create_task(ask(threads, partial(served.append, number))))
                await until(lambda: threads.waiting == len(waiting))
        await asyncio.gather(*waiting)

    asyncio.run(scenario())
    assert served == [0, 1, 2, 3]


@pytest.mark.django_db(transaction=True)
def test_a_burst_takes_no_more_connections_than_there_are_threads() -> None:
    threads = threads_of(2)

    async def scenario() -> int:
        return max(await asyncio.gather(*(ask(threads, open_connections) for _ in range(20))))

    before = open_connections()
    assert asyncio.run(scenario()) <= before + 2
    asyncio.run(close_all(threads, 2))


def open_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


async def close_all(threads: RequestThreads, count: int) -> None:
    await until(lambda: threads.idle == count)
    async with AsyncExitStack() as stack:
        for _ in range(count):
            thread = await stack.enter_async_context(threads.lend())
            await thread.run(connections.close_all)


def test_who_waits_longer_than_may_be_is_told_which_setting_and_leaves_the_line() -> None:
    async def scenario() -> None:
        threads = threads_of(1, wait_s=0.01)
        async with threads.lend():
            with pytest.raises(TooBusy) as refused:
                await ask(threads)
            assert threads.waiting == 0
        assert all(name in str(refused.value) for name in ("HUB_REQUEST_THREADS", "HUB_REQUEST_WAIT_S"))
        assert await ask(threads)

    asyncio.run(scenario())


def test_a_line_that_could_not_be_served_in_time_is_not_joined() -> None:
    async def scenario() -> None:
        threads = threads_of(1)
        async with threads.lend():
            waiting = [asyncio.create_task(ask(threads)) for _ in range(LINE_PER_THREAD)]
            await until(lambda: threads.waiting == LINE_PER_THREAD)
            with pytest.raises(TooBusy, match=str(LINE_PER_THREAD)):
                await ask(threads)
        assert all(await asyncio.gather(*waiting))

    asyncio.run(scenario())


def test_who_goes_away_leaves_the_line_and_the_others_go_on() -> None:
    async def scenario() -> None:
        threads = threads_of(1)
        async with threads.lend():
            gone, stays = (asyncio.create_task(ask(threads)) for _ in range(2))
            await until(lambda: threads.waiting == 2)
            gone.cancel()
            await until(lambda: threads.waiting == 1)
        assert await stays

    asyncio.run(scenario())


def test_a_thread_that_is_handed_to_somebody_who_goes_away_at_that_moment_is_not_lost() -> None:
    async def scenario() -> None:
        threads = threads_of(1)
        lent = threads.lend()
        await lent.__aenter__()
        gone = asyncio.create_task(ask(threads))
        await until(lambda: threads.waiting == 1)
        await lent.__aexit__(None, None, None)
        deadline = time.monotonic() + PATIENCE_S
        while threads.waiting:  # without giving the event loop a turn, in which it would be handed over
            assert time.monotonic() < deadline
        gone.cancel()
        assert await ask(threads)
        with pytest.raises(asyncio.CancelledError):
            await gone

    asyncio.run(scenario())


def test_a_thread_that_still_works_for_a_caller_who_went_away_is_not_lent() -> None:
    threads, go_on, started = threads_of(2), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go_on.wait(PATIENCE_S)

    async def scenario() -> None:
        task = asyncio.create_task(ask(threads, work))
        await asyncio.to_thread(started.wait, PATIENCE_S)
        task.cancel()
        await asyncio.sleep(0)
        assert threads.idle == 0
        assert await ask(threads, lambda: "answered") == "answered"
        go_on.set()
        await until(lambda: threads.idle == 2)

    asyncio.run(scenario())


def test_a_question_of_a_caller_who_went_away_is_told_to_stop_and_a_change_is_not() -> None:
    threads, started, go_on, ends = threads_of(2), threading.Barrier(3), threading.Event(), list[str]()

    def work(name: str) -> None:
        started.wait(PATIENCE_S)
        go_on.wait(PATIENCE_S)
        try:
            raise_if_stopped()
        except Stopped:
            name += " stopped"
        ends.append(name)

    async def question() -> None:
        async with threads.lend() as thread:
            await thread.ask(work, "question")

    async def scenario() -> None:
        tasks = [asyncio.create_task(question()), asyncio.create_task(ask(threads, lambda: work("change")))]
        await asyncio.to_thread(started.wait, PATIENCE_S)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        go_on.set()
        await until(lambda: threads.idle == 2)

    asyncio.run(scenario())
    assert sorted(ends) == ["change", "question stopped"]


def test_who_waits_for_something_else_lets_others_go_on() -> None:
    threads, answered = threads_of(1), threading.Event()

    def wait() -> bool:
        with waiting_elsewhere():
            return answered.wait(PATIENCE_S)

    async def scenario() -> None:
        waiting = asyncio.create_task(ask(threads, wait))
        later = [asyncio.create_task(ask(threads)) for _ in range(5)]
        assert len(set(await asyncio.gather(*later))) == 1
        assert not waiting.done()
        answered.set()
        assert await waiting
        # Of both threads one is enough again: the other has ended, too.
        await until(lambda: threads._made == threads.idle == 1)
        together = await asyncio.gather(*(ask(threads) for _ in range(5)))
        assert len(set(together)) == 1
        assert threads.waiting == 0

    asyncio.run(scenario())


def test_only_so_many_may_wait_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_threads, "MOST_ASIDE", 2)
    threads, answered, waiting = threads_of(1, wait_s=0.2), threading.Event(), threading.Semaphore(0)

    def wait() -> bool:
        with waiting_elsewhere():
            waiting.release()
            return answered.wait(PATIENCE_S)

    async def scenario() -> None:
        asked = [asyncio.create_task(ask(threads, wait)) for _ in range(3)]
        assert all([await asyncio.to_thread(waiting.acquire, timeout=PATIENCE_S) for _ in asked])
        with pytest.raises(TooBusy):
            await ask(threads)
        answered.set()
        assert await asyncio.gather(*asked) == [True] * 3

    asyncio.run(scenario())


def test_one_caller_has_a_quarter_of_the_threads_and_another_is_answered_meanwhile() -> None:
    threads, go_on, begun = threads_of(16), threading.Event(), threading.Semaphore(0)

    def work() -> bool:
        begun.release()
        return go_on.wait(PATIENCE_S)

    async def scenario() -> None:
        flood = [asyncio.create_task(ask(threads, work, caller="heidi")) for _ in range(40)]
        for _ in range(4):
            assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE_S)
        assert threads.waiting == 36
        assert await ask(threads, lambda: "answered", caller="alice") == "answered"
        assert not begun.acquire(blocking=False)
        go_on.set()
        assert await asyncio.gather(*flood) == [True] * 40

    asyncio.run(scenario())


def test_a_caller_who_has_a_thread_is_served_after_one_who_has_none() -> None:
    threads, served = threads_of(2), list[str]()

    async def scenario() -> None:
        async with threads.lend("heidi"):
            waiting = []
            async with threads.lend():
                for caller in ("heidi", "heidi", "alice"):
                    work = partial(served.append, caller)
                    waiting.append(asyncio.create_task(ask(threads, work, caller=caller)))
                    await until(lambda: threads.waiting == len(waiting))
            await asyncio.gather(*waiting)

    asyncio.run(scenario())
    assert served == ["alice", "heidi", "heidi"]


def test_a_caller_who_waits_too_long_for_an_own_call_is_told_to_send_fewer_at_once() -> None:
    async def scenario() -> None:
        threads = threads_of(16, wait_s=0.01)
        async with AsyncExitStack() as stack:
            for _ in range(4):
                await stack.enter_async_context(threads.lend("heidi"))
            with pytest.raises(TooManyAtOnce, match="at work on 4 of your calls") as refused:
                await ask(threads, caller="heidi")
            assert refused.value.status == 429
            assert threads.waiting == 0
            assert await ask(threads, caller="alice")

    with translation.override("en"):
        asyncio.run(scenario())


def test_the_line_of_one_caller_does_not_fill_that_of_the_others() -> None:
    async def scenario() -> None:
        threads = threads_of(2)
        async with threads.lend(), threads.lend():
            flood = [asyncio.create_task(ask(threads, caller="heidi")) for _ in range(2 * LINE_PER_THREAD)]
            await until(lambda: threads.waiting == len(flood))
            with pytest.raises(TooManyAtOnce):
                await ask(threads, caller="heidi")
            other = asyncio.create_task(ask(threads, caller="alice"))
            await until(lambda: threads.waiting == len(flood) + 1)
        assert all(await asyncio.gather(other, *flood))

    asyncio.run(scenario())


def test_work_that_waits_for_something_else_is_not_counted_to_its_callers_share() -> None:
    threads, answered, waiting = threads_of(8), threading.Event(), threading.Semaphore(0)

    def wait() -> bool:
        with waiting_elsewhere():
            waiting.release()
            return answered.wait(PATIENCE_S)

    async def scenario() -> None:
        asked = [asyncio.create_task(ask(threads, wait, caller="heidi")) for _ in range(5)]
        assert all([await asyncio.to_thread(waiting.acquire, timeout=PATIENCE_S) for _ in asked])
        assert await ask(threads, lambda: "answered", caller="heidi") == "answered"
        answered.set()
        assert await asyncio.gather(*asked) == [True] * 5
        await until(lambda: not threads._lent.total())

    asyncio.run(scenario())


def test_a_stream_that_its_reader_leaves_is_ended_in_its_thread_which_is_given_back(monkeypatch: Any) -> None:
    threads, seen = threads_of(1), []

    def lines() -> Generator[bytes, None, None]:
        try:
            while True:
                seen.append(threading.get_ident())
                yield b"line"
        finally:
            seen.append(threading.get_ident())

    async def read_two_and_leave() -> None:
        stream = responses._in_lent_thread(lines(), "somebody", "ja")
        assert [await anext(stream), await anext(stream)] == [b"line", b"line"]
        await stream.aclose()
        await until(lambda: threads.idle == 1)
        assert len(seen) == 3
        assert {*seen} == {await ask(threads)}

    monkeypatch.setattr(responses, "request_threads", lambda: threads)
    asyncio.run(read_two_and_leave())


def test_a_stream_is_ended_after_the_step_that_its_reader_did_not_wait_for(monkeypatch: Any) -> None:
    threads, is_ended, may_go_on = threads_of(1), threading.Event(), threading.Event()

    def lines() -> Generator[bytes, None, None]:
        try:
            yield b"first"
            may_go_on.wait(PATIENCE_S)
            yield b"second"
        finally:
            is_ended.set()

    async def read_one_and_leave() -> None:
        stream = responses._in_lent_thread(lines(), "somebody", "ja")
        assert await anext(stream) == b"first"
        reading = asyncio.create_task(anext(stream))
        await asyncio.sleep(0.05)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert not is_ended.is_set()
        may_go_on.set()
        await until(lambda: threads.idle == 1)
        assert is_ended.is_set()

    monkeypatch.setattr(responses, "request_threads", lambda: threads)
    asyncio.run(read_one_and_leave())
