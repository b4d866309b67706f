"""A replica that was promoted, and one that is killed in the middle of a search: searches are as before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.conf import settings

from hub.access.principals import Principal
from hub.core import replicas
from hub.core.embedded import shared_postgres
from hub.core.embedded.postgres import EmbeddedPostgres
from hub.core.replicas import ReplicaProblem, ask_replica, replica_states
from hub.core.routing import read_connection
from knowledge.search import search
from knowledge.types.search import SearchQuery
from tests.knowledge.search.shelf import Library, person
from tests.standbys import Standby, kill, read_at, standby_of

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "replica_1", "replica_2"]),
    pytest.mark.long,
]


@pytest.fixture(scope="module")
def primary(django_db_setup: None) -> EmbeddedPostgres:
    return shared_postgres(settings.HUB_DATA_DIR / "postgres")


@pytest.fixture(scope="module")
def standbys(primary: EmbeddedPostgres) -> Iterator[list[Standby]]:
    """One to be promoted, and one to be killed."""
    with ExitStack() as stack:
        made = [stack.enter_context(standby_of(primary, name)) for name in ("promoted", "killed")]
        stack.enter_context(read_at(made, primary))
        yield made


@pytest.fixture
def reader(transactional_db: None, queue: None) -> Principal:
    library = Library()
    library.add("設計/基本設計書.md", ["応答時間は三秒以内とする。"])
    replicas._known.clear()
    return person("読者", granted=library.collection)


def test_a_promoted_replica_is_none_any_more(reader, standbys, primary):
    promoted, other = standbys
    promoted.catch_up(primary)
    promoted.promote()
    other.catch_up(primary)
    assert [state.problem for state in replica_states()] == [ReplicaProblem.PROMOTED, None]
    assert {ask_replica(lambda: read_connection().alias, reader=None) for _turn in range(4)} == {"replica_2"}


def test_a_replica_that_is_killed_in_the_middle_of_a_search_does_not_fail_it(reader, standbys, primary):
    _promoted, killed = standbys
    killed.catch_up(primary)
    read_from: list[str] = []

    def end(_text: str) -> dict[str, str]:
        read_from.append(read_connection().alias)
        kill(killed)
        return {}

    found = search(reader, SearchQuery(text="応答時間"), expand=end)
    assert read_from == ["replica_2", "default"]
    assert found.hits
    assert not [one for one in found.notices if "unavailable" in one.code]
    assert replica_states()[1].problem is ReplicaProblem.AWAY
    assert ask_replica(lambda: 1, reader=None) is None
    assert search(reader, SearchQuery(text="応答時間")).hits
