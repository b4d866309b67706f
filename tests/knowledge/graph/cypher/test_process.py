"""The process that queries run in: stopped, killed, replaced, and without a way to files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.utils import translation

from hub.core.errors import InvalidInput
from hub.core.stopping import Stop, Stopped, stoppable_by
from knowledge.graph.cypher.process import ProcessEnded
from knowledge.graph.cypher.query import MAX_WORK_UNITS, QueryCrash, QueryTimeout, projection_backend
from tests.knowledge.graph.cypher.asking import ask, values

pytestmark = pytest.mark.django_db


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
    request = {
        "do": "query",
        "graph": next(iter(projection_backend().copies._kept)).name,
        "query": "MATCH (a), (b), (c), (d) WHERE a.name + b.name + c.name + d.name CONTAINS 'zzzz' RETURN count(*)",
        "parameters": {},
        "timeout_ms": 60_000,
        "row_limit": 10,
        "max_work_units": MAX_WORK_UNITS,
        "max_characters": 10_000,
    }

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


def test_a_query_that_ends_its_process_twice_is_its_callers_to_mend(project, monkeypatch):
    def ended(*_args: object, **_more: object) -> None:
        raise ProcessEnded

    ask("RETURN 1")
    monkeypatch.setattr(projection_backend().copies.process, "ask", ended)
    monkeypatch.setattr(projection_backend().copies, "ensure", lambda _key: 1)
    with translation.override("en"), pytest.raises(QueryCrash, match="Narrow it") as caught:
        ask("MATCH (n) RETURN n")
    assert (caught.value.error_code, caught.value.status, caught.value.retryable) == ("query_crashed", 422, False)


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
