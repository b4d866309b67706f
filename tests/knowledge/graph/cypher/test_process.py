"""The process that queries run in: stopped, killed, replaced, and without a way to files."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections
from django.utils import translation

from hub.access.principals import Classification, Principal, Scope, local_operator
from hub.core.errors import InvalidInput, RateLimited, TooManyAtOnce, Unavailable
from hub.core.waiting import Stop, Stopped, stoppable_by
from knowledge.graph.cypher import query
from knowledge.graph.cypher.process import PAUSE_S, ProcessEnded, SharedLock
from knowledge.graph.cypher.query import MAX_WORK_UNITS, CypherResult, QueryCrash, QueryTimeout, projection_backend
from tests.knowledge.graph.cypher.asking import ask, values

pytestmark = pytest.mark.django_db
ONE = "RETURN 1 AS one"
LOCAL = local_operator()
PERSON = Principal(name="heidi", user_id=1, scopes=frozenset({Scope.SEARCH}), ceiling=Classification.C1)
QUICK = {
    "do": "query",
    "query": ONE,
    "parameters": {},
    "timeout_ms": 60_000,
    "row_limit": 10,
    "max_work_units": MAX_WORK_UNITS,
    "max_characters": 10_000,
}
ENDLESS = {
    **QUICK,
    "query": "MATCH (a), (b), (c), (d) WHERE a.name + b.name + c.name + d.name CONTAINS 'zzzz' RETURN count(*)",
}


def copy_name() -> str:
    return next(iter(projection_backend().copies._kept)).name


def test_an_endless_query_is_stopped(project):
    text = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000) AS b UNWIND range(1, 3000) AS c RETURN count(a + b + c)"
    with pytest.raises((QueryTimeout, InvalidInput)):
        ask(text, timeout_ms=200)
    assert ask("RETURN 1 AS one").records == ({"one": 1},)


def test_a_process_that_was_killed_is_replaced_by_the_next_query(project):
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[3]]
    child = projection_backend().copies.process._child
    child.kill()
    child.wait()
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[3]]


def test_a_query_that_nobody_waits_for_any_more_ends_with_its_process(project):
    ask("RETURN 1")
    process, stop = projection_backend().copies.process, Stop()
    child = process._child
    request = {**ENDLESS, "graph": copy_name()}

    def wait_for_it() -> None:
        with stoppable_by(stop):
            process.ask(request, timeout_s=60, generation=process.generation)

    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(wait_for_it)
        stop.set()
        with pytest.raises(Stopped):
            asked.result(timeout=20)
    child.wait(timeout=20)
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[3]]


@pytest.fixture
def no_pauses():
    yield
    projection_backend().pauses._until.clear()


def elsewhere(*arguments: Any) -> CypherResult:
    """Ask in another thread, which has a connection of its own."""
    try:
        return ask(*arguments)
    finally:
        connections.close_all()


@contextmanager
def process_killed_at_work(threads: ThreadPoolExecutor, callers: Sequence[Principal]) -> Iterator[list[Future]]:
    """Queries of some callers that are all at work when their process is killed."""
    for caller in callers:
        threads.submit(elsewhere, ONE, caller).result(60)
    process = projection_backend().copies.process
    os.kill(process._child.pid, signal.SIGSTOP)
    answers = [threads.submit(elsewhere, ONE, caller) for caller in callers]
    while len(process._waiting) < len(callers):
        assert not any(answer.done() for answer in answers)
    process._child.kill()
    yield answers


def test_a_query_that_ended_its_process_is_not_tried_again_and_its_caller_pauses(project, no_pauses):
    process = projection_backend().copies.process
    with ThreadPoolExecutor(1) as threads, process_killed_at_work(threads, [PERSON]) as (answer,):
        with translation.override("en"), pytest.raises(QueryCrash, match="Narrow it") as caught:
            answer.result(60)
        assert (caught.value.error_code, caught.value.status, caught.value.retryable) == ("query_crashed", 422, False)
        assert process._child.poll() is not None  # nobody has started another one
        with translation.override("en"), pytest.raises(RateLimited, match="has just ended the process") as paused:
            ask(ONE, PERSON)
        assert paused.value.error_code == "query_paused"
        retry_after_s: Any = paused.value.data["retry_after_s"]
        assert 0 < retry_after_s <= PAUSE_S
    assert ask(ONE).records == ({"one": 1},)


def test_queries_that_were_hit_together_are_tried_again_alone_and_nobody_pauses(project, monkeypatch, no_pauses):
    alone: Counter[str] = Counter()
    real = SharedLock.alone

    def counted(self, **more):
        alone["tries"] += 1
        return real(self, **more)

    monkeypatch.setattr(SharedLock, "alone", counted)
    callers = [LOCAL, PERSON]
    with ThreadPoolExecutor(2) as threads, process_killed_at_work(threads, callers) as answers:
        assert [answer.result(60).records for answer in answers] == [({"one": 1},)] * 2
    assert alone["tries"] == 2
    assert ask(ONE, PERSON).records == ({"one": 1},)


def test_who_runs_alone_has_no_company_and_comes_before_those_who_come_later():
    lock, order = SharedLock(), list[str]()

    def alone() -> None:
        with lock.alone(wait_s=20):
            order.append("alone")
            assert not lock._sharing

    def later() -> None:
        with lock.shared(wait_s=20):
            assert not lock._is_alone
            order.append("later")

    with ThreadPoolExecutor(2) as threads:
        with lock.shared(wait_s=0), lock.shared(wait_s=0):
            first = threads.submit(alone)
            while not lock._wanting_alone:
                assert not first.done()
            second = threads.submit(later)
            with pytest.raises(Unavailable) as refused, lock.shared(wait_s=0):
                pass
            assert refused.value.error_code == "graph_busy"
        first.result(20)
        second.result(20)
    assert order == ["alone", "later"]


def test_a_query_beside_one_that_its_caller_left_is_answered_and_that_one_ends(project):
    ask("RETURN 1")
    process, stop = projection_backend().copies.process, Stop()
    generation, child = process.generation, process._child

    def left_by_its_caller() -> None:
        with stoppable_by(stop):
            process.ask({**ENDLESS, "graph": copy_name()}, timeout_s=60, generation=generation)

    with ThreadPoolExecutor(2) as threads:
        left = threads.submit(left_by_its_caller)
        while not process._waiting:
            assert not left.done()
        beside = threads.submit(process.ask, {**QUICK, "graph": copy_name()}, timeout_s=60, generation=generation)
        stop.set()
        assert beside.result(30)["records"] == [{"one": 1}]
        with pytest.raises(Stopped):
            left.result(30)
    child.wait(timeout=20)


def test_one_caller_s_queries_wait_for_each_other_and_another_s_are_answered(project):
    turns = query._turns.get()
    with turns.taken_by(LOCAL):
        for _ in range(query.MOST_WAITING):
            turns._calls["operator"] += 1
        try:
            with pytest.raises(TooManyAtOnce) as refused:
                ask("RETURN 1 AS one")
            assert refused.value.error_code == "too_many_at_once"
            assert ask("RETURN 1 AS one", PERSON).records == ({"one": 1},)
        finally:
            turns._calls["operator"] -= query.MOST_WAITING


def test_the_process_can_open_no_file_even_without_the_guard(project):
    ask("RETURN 1")
    process = projection_backend().copies.process
    request = {
        "do": "query",
        "graph": next(iter(projection_backend().copies._kept)).name,
        "query": 'LOAD CSV FROM "/etc/passwd" AS row RETURN row',
        "parameters": {},
        "timeout_ms": 1000,
        "row_limit": 10,
        "max_work_units": 1000,
        "max_characters": 10_000,
    }
    said = process.ask(request, timeout_s=5, generation=process.generation)
    assert "records" not in said
    assert "error" in said


def test_a_process_of_another_life_is_not_asked():
    process = projection_backend().copies.process
    process.ensure()
    with pytest.raises(ProcessEnded):
        process.ask({"do": "drop", "graph": "x"}, timeout_s=1, generation=process.generation - 1)
