"""A connection is looked at before it is asked, and some statements are planned once for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import DatabaseError, connection
from django.db.backends.postgresql import base

from hub.core.database import prepared_cursor

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _asked_at_each_beginning(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "CONN_HEALTH_CHECKS", True)
    connection.ensure_connection()
    yield
    connection.close()


def begin_call() -> None:
    """Do what Django does at the beginning of each request."""
    connection.close_if_unusable_or_obsolete()
    connection.errors_occurred = False


def server_process() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


@contextmanager
def another_connection() -> Iterator[psycopg.Connection]:
    parameters = connection.get_connection_params()
    del parameters["cursor_factory"], parameters["context"]
    with psycopg.connect(**parameters, autocommit=True) as other:
        yield other


@pytest.fixture
def asked(monkeypatch) -> list[bool]:
    """What came of the health checks of Django, each of which sends a query."""
    answers: list[bool] = []
    ask = base.DatabaseWrapper.is_usable

    def noting(wrapper: base.DatabaseWrapper) -> bool:
        answers.append(ask(wrapper))
        return answers[-1]

    monkeypatch.setattr(base.DatabaseWrapper, "is_usable", noting)
    return answers


def test_a_connection_that_is_well_is_not_asked_by_a_query(asked, django_assert_num_queries):
    begin_call()
    with django_assert_num_queries(1):
        before = server_process()
    begin_call()
    assert server_process() == before
    assert asked == []


def test_a_connection_that_the_server_ended_is_replaced_before_the_first_query(asked):
    before = server_process()
    with another_connection() as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [before])
    begin_call()
    assert server_process() != before
    assert asked == [False]


def test_a_connection_on_which_something_came_unasked_is_asked_and_kept(asked):
    before = server_process()
    with connection.cursor() as cursor:
        cursor.execute("LISTEN something")
    with another_connection() as other:
        other.execute("NOTIFY something")
        other.execute("SELECT pg_sleep(0.2)")  # the notice is sent when the listener's process next comes round
    begin_call()
    assert server_process() == before
    assert asked == [True]


def test_a_closed_connection_is_not_usable():
    connection.connection.close()
    assert not connection.is_usable()


def test_a_prepared_cursor_lets_the_server_plan_a_statement_once(django_assert_num_queries):
    with django_assert_num_queries(3):
        for number in range(3):
            with prepared_cursor() as cursor:
                cursor.execute("SELECT %s::int + 1", [number])
                assert cursor.fetchone() == (number + 1,)
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement, generic_plans + custom_plans FROM pg_prepared_statements")
        assert cursor.fetchall() == [("SELECT $1::int + 1", 3)]


def test_other_cursors_prepare_nothing():
    for _again in range(10):
        server_process()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements")
        assert cursor.fetchone() == (0,)


def test_statements_that_are_not_prepared_are_not_kept_in_memory():
    for number in range(20):
        with connection.cursor() as cursor:
            cursor.execute("SELECT length(%s)", [f"{number}" + "x" * 10_000])
    server_process()
    assert not connection.connection._prepared._counts


def ask_for_a_row() -> tuple[str]:
    with prepared_cursor() as cursor:
        cursor.execute("SELECT name FROM changing WHERE name = %s", ["a"])
        return cursor.fetchone()


@pytest.mark.parametrize("change", ["ALTER TABLE changing ALTER name TYPE varchar(6)", "DEALLOCATE ALL"])
def test_a_plan_that_no_longer_fits_or_is_gone_is_made_again(change):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE changing (name varchar(5)); INSERT INTO changing VALUES ('a')")
    assert ask_for_a_row() == ask_for_a_row() == ("a",)
    connection.connection.pgconn.exec_(change.encode())  # as another process or a pooler does it, unseen by the driver
    assert ask_for_a_row() == ("a",)


def test_a_connection_that_was_left_in_a_broken_transaction_is_replaced():
    before = server_process()
    with connection.cursor() as cursor, pytest.raises(DatabaseError):
        cursor.execute("BEGIN; SELECT 1 / 0")
    begin_call()
    assert server_process() != before


def test_a_connection_that_was_left_in_the_middle_of_a_statement_is_replaced():
    before = server_process()
    connection.connection.pgconn.send_query(b"SELECT pg_sleep(1)")
    begin_call()
    assert server_process() != before
