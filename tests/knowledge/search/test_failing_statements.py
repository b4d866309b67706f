"""Each statement of a search fails in turn: what is left answers and says so, or the caller is told; never a bug."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from django.db import connection

from hub.access.principals import local_operator
from hub.core.errors import Unavailable
from knowledge.search.hybrid import search
from knowledge.search.notices import PARTS
from knowledge.types.search import SearchDetail, SearchMode, SearchQuery, SearchResult
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db(transaction=True)

MOST_STATEMENTS = 40
Fault = Callable[[], None]


@pytest.fixture(autouse=True)
def library(transactional_db: None) -> Library:
    made = Library()
    made.add("設計書.md", ["応答時間は3秒以内とする。", "認証は多要素とする。"])
    return made


def ask(text: str, mode: SearchMode) -> SearchResult:
    query = SearchQuery(text=text, mode=mode, with_context=True, detail=SearchDetail.EXPLAIN)
    return replace(search(local_operator(), query), timings_ms={})


@contextmanager
def failing(number: int, fault: Fault) -> Iterator[list[str]]:
    """Let a fault happen before the statement of this number, from 0; gives the statements that were begun."""
    seen: list[str] = []

    def run(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        seen.append(sql)
        if len(seen) == number + 1:
            fault()
        return execute(sql, *rest)

    with connection.execute_wrapper(run):
        yield seen


def cut_connection() -> None:
    """End this connection's server process, as an operator or a restart does."""
    own = connection.connection
    with psycopg.connect(own.info.dsn, password=own.info.password, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [own.info.backend_pid])


def run_into_timeout() -> None:
    """Let PostgreSQL cancel a statement, as it does for the operator's statement_timeout."""
    with connection.wrap_database_errors, psycopg.ClientCursor(connection.connection) as cursor:
        cursor.execute("SET LOCAL statement_timeout = '1ms'")
        cursor.execute("SELECT pg_sleep(60)")


def fail_each_in_turn(text: str, mode: SearchMode, fault: Fault) -> set[str]:
    """Ask with the fault before each statement, and without it after each; gives how the searches went."""
    whole = ask(text, mode)
    outcomes: set[str] = set()
    for number in range(MOST_STATEMENTS):
        with failing(number, fault) as seen:
            outcome = outcome_of(text, mode)
        assert ask(text, mode) == whole
        if number >= len(seen):
            break
        outcomes.add(outcome)
    return outcomes


def test_whatever_statement_the_connection_breaks_at_the_caller_is_told_and_the_next_search_is_whole() -> None:
    assert fail_each_in_turn("「応答時間」は何秒か", SearchMode.HYBRID, cut_connection) == {"none"}


def test_a_statement_that_times_out_costs_one_part_or_the_answer_and_the_next_search_is_whole() -> None:
    asked = {SearchMode.VECTOR: "応答時間", SearchMode.LEXICAL: "応答時間", SearchMode.HYBRID: "「応答時間」は何秒か"}
    for mode, text in asked.items():
        assert fail_each_in_turn(text, mode, run_into_timeout) == {"none", "part"}, mode


def outcome_of(text: str, mode: SearchMode) -> str:
    """Tell how a search went: whole; a part of it, and that is told; none, which is told as well."""
    try:
        result = ask(text, mode)
    except Unavailable:
        return "none"
    assert result.hits[0].content.startswith("応答時間")
    return "part" if {notice.code for notice in result.notices} & PARTS.keys() else "whole"
