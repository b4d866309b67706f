"""All queries of a search see one state of the database."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from hub.core.replicas import ask_replica, note_write
from knowledge.search.database import one_snapshot


def isolation() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_is_a_transaction_of_its_own_and_later_ones_are_as_before() -> None:
    with one_snapshot():
        assert isolation() == "repeatable read"
    with transaction.atomic():
        assert isolation() == "read committed"


@pytest.mark.django_db(transaction=True)
def test_a_failed_search_leaves_later_transactions_as_before() -> None:
    with pytest.raises(ZeroDivisionError), one_snapshot():
        raise ZeroDivisionError
    assert isolation() == "read committed"


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_is_lost_within_a_snapshot_says_so_and_the_next_one_works() -> None:
    with pytest.raises(OperationalError), one_snapshot(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    connection.close()
    with one_snapshot():
        assert isolation() == "repeatable read"


@pytest.mark.django_db(transaction=True)
def test_without_replicas_nothing_is_asked_of_any_or_remembered_for_them(queue: None) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert ask_replica(lambda: 1, reader=7) is None
        note_write(7)
    assert len(asked) == 0


@pytest.mark.django_db(transaction=True)
def test_inside_of_a_transaction_its_own_isolation_holds() -> None:
    with transaction.atomic(), one_snapshot():
        assert isolation() == "read committed"
