"""A token is looked up on whatever connection there is, and on a new one when that was lost."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import authenticate, create_token
from tests.factories import new_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token() -> str:
    return create_token(principal=local_operator(), user=new_user(), name="試験", scopes=ALL_SCOPES)[1]


def test_a_connection_that_was_lost_is_replaced_when_the_next_call_begins(token):
    authenticate(token)
    with connection.cursor() as cursor, pytest.raises(DatabaseError):
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    connection.close_if_unusable_or_obsolete()
    assert authenticate(token).token_id


def test_a_token_is_looked_up_by_a_plan_that_is_made_once(token, django_assert_num_queries):
    connection.close()
    authenticate(token)  # notes its use, too
    for _call in range(2):
        with django_assert_num_queries(1):
            authenticate(token)
    with connection.cursor() as cursor:
        cursor.execute("SELECT generic_plans + custom_plans FROM pg_prepared_statements")
        assert cursor.fetchall() == [(3,)]
