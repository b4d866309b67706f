"""A token is looked up on whatever connection there is, and on a new one when that was lost."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection

from hub.access import bearer
from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import authenticate, create_token
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token() -> str:
    return create_token(principal=local_operator(), user=UserFactory(), name="試験", scopes=ALL_SCOPES)[1]


def cut() -> None:
    """Let the connection be ended by PostgreSQL, without Django knowing."""
    connection.ensure_connection()
    with connection.cursor() as cursor, pytest.raises(DatabaseError):
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    connection.errors_occurred = False


def test_a_connection_that_was_lost_is_replaced(token):
    authenticate(token)
    cut()
    assert authenticate(token).token_id


def test_a_living_connection_is_not_asked_before_the_query(token, monkeypatch, django_assert_num_queries):
    authenticate(token)
    asked: list[bool] = []
    monkeypatch.setattr(connection, "is_usable", lambda: asked.append(True) or True)
    monkeypatch.setitem(connection.settings_dict, "CONN_HEALTH_CHECKS", True)
    connection.health_check_done = False  # as at the beginning of a call
    with django_assert_num_queries(1):
        authenticate(token)
    assert not asked


def test_a_query_that_fails_on_a_living_connection_is_not_repeated(token, monkeypatch):
    monkeypatch.setattr(bearer, "statement", lambda: "SELECT pg_sleep(60), %s")
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '20ms'")
    with pytest.raises(DatabaseError, match="timeout"):
        authenticate(token)
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("20ms",)  # still the same connection
    connection.close()
