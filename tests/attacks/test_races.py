"""Two callers at once: what each alone may do, both together must not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from hub.access.principals import Principal, Role
from hub.core.errors import HubError
from knowledge.collections import Grantee, create_collection, grant_role, withdraw_role
from knowledge.models import Collection, CollectionGrant
from tests.factories import hub_curator, principal_with

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts: Callable[[], object]) -> list[object]:
    """Run the acts in a thread each, beginning together; gives what each returned, or the code of its refusal."""
    ready = Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        try:
            ready.wait(timeout=30)
            return act()
        except HubError as error:
            return error.error_code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def test_of_two_administrators_who_remove_each_other_one_stays() -> None:
    collection = Collection.objects.get(slug="default")
    first, second = (principal_with(Role.ADMINISTRATOR, collection) for _number in range(2))

    def remove(by: Principal, other: Principal) -> Callable[[], object]:
        to = Grantee(user=other.name)
        return lambda: withdraw_role(principal=by, slug="default", to=to, role=Role.ADMINISTRATOR)

    at_once(remove(first, second), remove(second, first))
    assert collection.grants.filter(role=Role.ADMINISTRATOR).count() == 1


def test_a_slug_is_made_once_and_a_role_is_given_once() -> None:
    curators = [hub_curator(), hub_curator()]
    made = at_once(
        *(lambda who=who: create_collection(principal=who, slug="race", name="x") and "made" for who in curators)
    )
    assert sorted(map(str, made)) == ["conflict", "made"]
    winner = curators[made.index("made")]
    reader = principal_with(None, Collection.objects.get(slug="race"))
    to = Grantee(user=reader.name)
    at_once(*(lambda: grant_role(principal=winner, slug="race", to=to, role=Role.READER) for _number in range(3)))
    assert CollectionGrant.objects.filter(user_id=reader.user_id).count() == 1
