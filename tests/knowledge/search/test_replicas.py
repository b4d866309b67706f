"""Searches at replicas: the same lists, one's own writes, nothing that the primary no longer permits, no failure told.

One primary and two hot standbys of the embedded binaries; what lags is held back, and not timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise, product
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core import replicas as replicas_module
from hub.core.embedded import shared_postgres
from hub.core.embedded.postgres import EmbeddedPostgres
from hub.core.errors import NotFound
from hub.core.replicas import ReplicaProblem, ask_replica, replica_states
from hub.core.routing import read_connection
from hub.management.commands import doctor
from hub.site.alerts import troubles
from knowledge.graph.search import GraphQuery, graph_search
from knowledge.models import (
    Chunk,
    CollectionGrant,
    Document,
    EdgeType,
    GraphContribution,
    GraphEdge,
    GraphNode,
    NodeType,
)
from knowledge.search import search
from knowledge.types.search import SearchMode, SearchQuery, SearchResult
from tests.knowledge.search.shelf import Library, person
from tests.standbys import Standby, read_at, standby_of

REPLICAS = ("replica_1", "replica_2")
pytestmark = pytest.mark.django_db(transaction=True, databases=["default", *REPLICAS])
# Replay waits for no search here, and no search keeps the primary from vacuuming.
CONFLICTS_AT_ONCE = {"hot_standby_feedback": "off", "max_standby_streaming_delay": "0"}
TEXTS = {
    "設計/基本設計書.md": [
        "応答時間は三秒以内とする。",
        "利用者の認証はシングルサインオンで行う。",
        "夜間バッチは午前二時に始める。",
    ],
    "設計/運用設計書.md": ["障害の通知は監視端末に表示する。", "バックアップは毎日取得し、三世代を保管する。"],
    "要件/要件定義書.md": ["REQ-001 応答時間の目標値を定める。", "REQ-002 認証の方式を定める。"],
}
QUESTIONS = ("応答時間の目標", "認証の方式 REQ-002", "「三世代を保管」", "バックアップはいつ取るか", "夜間バッチ")


@pytest.fixture(scope="module")
def primary(django_db_setup: None) -> EmbeddedPostgres:
    return shared_postgres(settings.HUB_DATA_DIR / "postgres")


@pytest.fixture(scope="module")
def servers(primary: EmbeddedPostgres) -> Iterator[list[Standby]]:
    with ExitStack() as stack:
        made = [stack.enter_context(standby_of(primary, f"standby{number}", **CONFLICTS_AT_ONCE)) for number in (1, 2)]
        stack.enter_context(read_at(made, primary))
        yield made


@pytest.fixture
def replicas(
    transactional_db: None,
    queue: None,
    servers: list[Standby],
    primary: EmbeddedPostgres,
    library: Library,
    settings: Any,
) -> Iterator[list[str]]:
    """The aliases of both standbys, which have caught up, and of which nothing is remembered."""
    # However long a test holds them back.
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_replica_max_lag_s": 3600})
    catch_up(servers, primary)
    replicas_module._known.clear()
    yield list(REPLICAS)
    for server in servers:
        server.go_on(primary)


@pytest.fixture
def library(transactional_db: None) -> Library:
    made = Library()
    for path, passages in TEXTS.items():
        made.add(path, passages)
    return made


@pytest.fixture
def reader(library: Library) -> Principal:
    return person("読者", granted=library.collection)


@pytest.fixture
def writer(library: Library) -> Principal:
    return person("著者", granted=library.collection)


def ask(principal: Principal, text: str, **more: Any) -> SearchResult:
    return search(principal, SearchQuery(text=text, **more))


def shown(result: SearchResult) -> list[tuple[str, float | None]]:
    return [(hit.content, hit.score) for hit in result.hits]


def is_found(principal: Principal, text: str) -> bool:
    return any(text in hit.content for hit in ask(principal, text).hits)


@contextmanager
def asked(*aliases: str) -> Iterator[list[CaptureQueriesContext]]:
    with ExitStack() as stack:
        yield [stack.enter_context(CaptureQueriesContext(connections[alias])) for alias in aliases]


def catch_up(servers: list[Standby], primary: EmbeddedPostgres) -> None:
    for server in servers:
        server.catch_up(primary)


def hold_back(servers: list[Standby], primary: EmbeddedPostgres) -> None:
    for server in servers:
        server.catch_up(primary)
        server.hold_back()


def test_lists_scores_and_totals_are_those_of_the_primary(replicas, reader, servers, primary):
    catch_up(servers, primary)
    for question, mode in product(QUESTIONS, SearchMode):
        with asked("default", *replicas) as (_at_primary, *at_replicas):
            there = ask(reader, question, mode=mode, with_facets=True)
        assert sum(map(len, at_replicas)) > 2
        with transaction.atomic():  # inside of one the primary is asked for everything
            here = ask(reader, question, mode=mode, with_facets=True)
        assert (shown(there), there.total_found, there.facets, there.notices) == (
            shown(here),
            here.total_found,
            here.facets,
            here.notices,
        )


def test_the_primary_decides_and_loads_and_replicas_take_turns(replicas, reader, servers, primary):
    catch_up(servers, primary)
    ask(reader, "応答時間")
    with asked("default", *replicas) as (at_primary, *at_replicas):
        ask(reader, "応答時間")
        ask(reader, "応答時間")
    others = ("BEGIN", "COMMIT", "SELECT pg_current_wal_lsn")
    # Of a prepared statement the log has no text: here that is the one that asks for the rights.
    asked_there = [query["sql"] or "prepared" for query in at_primary]
    statements = [sql for sql in asked_there if not sql.startswith(others)]
    assert len(statements) == 2 * 4, statements  # a savepoint, the rights, which may be shown, their texts
    assert all(len(one) > 0 for one in at_replicas)


def test_who_wrote_finds_it_at_once_and_others_after_the_lag(replicas, library, reader, writer, servers, primary):
    hold_back(servers, primary)
    with transaction.atomic():
        library.add("設計/移行計画書.md", ["移行は段階的に実施する。"])
        record_event(writer, "DOCUMENT_UPLOAD", "document:x")
    assert is_found(writer, "移行は段階的に")
    assert not is_found(reader, "移行は段階的に")
    for server in servers:
        server.go_on(primary)
    with asked(*replicas) as at_replicas:
        assert is_found(writer, "移行は段階的に")
        assert is_found(reader, "移行は段階的に")
    assert sum(map(len, at_replicas)) > 2


def test_what_may_not_be_shown_any_more_is_not_from_the_commit_on(replicas, library, reader, servers, primary):
    """Deleted, reclassified, without its passages, and at last without the right to see any of it."""
    hold_back(servers, primary)
    first, second, third = (Document.objects.get(path=path) for path in TEXTS)

    def is_gone(text: str) -> bool:
        found = ask(reader, text, with_facets=True)
        with transaction.atomic():
            here = ask(reader, text, with_facets=True)
        assert (shown(found), found.total_found, found.facets) == (shown(here), here.total_found, here.facets)
        return not any(text in hit.content for hit in found.hits)

    assert not is_gone("夜間バッチ")
    first.delete()
    assert is_gone("夜間バッチ")
    assert not is_gone("三世代を保管")
    Document.objects.filter(pk=second.pk).update(classification=3)
    assert is_gone("三世代を保管")
    assert not is_gone("認証の方式を定める")
    Chunk.objects.filter(version__document=third, content__contains="認証").delete()
    assert is_gone("認証の方式を定める")
    assert not is_gone("応答時間の目標値")
    CollectionGrant.objects.all().delete()
    assert is_gone("応答時間の目標値")


def test_a_search_that_replay_ends_at_a_replica_is_answered_by_the_primary(replicas, reader, servers, primary):
    """A real conflict: rows that the search's snapshot may need are vacuumed at the primary."""
    catch_up(servers, primary)
    with primary.superuser(str(connection.settings_dict["NAME"])) as there:
        read_from: list[str] = []

        def clash(_text: str) -> dict[str, str]:
            read_from.append(read_connection().alias)
            if len(read_from) == 1:
                there.execute("UPDATE knowledge_chunk SET page = 7")
                there.execute("VACUUM knowledge_chunk")
                catch_up(servers, primary)
            return {}

        found = search(reader, SearchQuery(text="応答時間の目標"), expand=clash)
    assert read_from[0] in replicas
    assert read_from[1:] == ["default"]
    assert found.hits
    assert found.hits[0].page == 7
    assert not [one for one in found.notices if "unavailable" in one.code]


def test_a_replica_behind_the_limit_is_left_out_until_it_has_caught_up(replicas, client, servers, primary, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_replica_max_lag_s": 0})
    hold_back(servers[:1], primary)
    Document.objects.update(title="改題")
    servers[1].catch_up(primary)
    first, second = replica_states()
    assert (first.problem, second.problem) == (ReplicaProblem.BEHIND, None)
    assert first.lag_bytes
    assert first.lag_s
    with translation.override("ja"):
        assert "複製 1" in troubles()[f"replica:{replicas[0]}"]
    assert f"replica:{replicas[1]}" not in troubles()
    measures = client.get("/metrics", headers={"Host": "localhost"}).content.decode()
    assert 'hub_replica_up{replica="1"} 0.0' in measures
    assert 'hub_replica_up{replica="2"} 1.0' in measures
    assert 'hub_replica_lag_bytes{replica="2"} 0.0' in measures
    lines = {str(line["check"]): line for line in doctor._replicas()}
    assert lines["database replica 1"]["status"] == "error"
    assert lines["database replica 2"]["status"] == "note"
    assert "hot_standby_feedback" in str(lines["database replica 2"]["detail"])
    replicas_module._known.clear()
    assert {ask_replica(lambda: read_connection().alias, reader=None) for _turn in range(4)} == {replicas[1]}
    servers[0].go_on(primary)
    replicas_module._known.clear()
    assert {ask_replica(lambda: read_connection().alias, reader=None) for _turn in range(4)} == set(replicas)


def walk(principal: Principal) -> tuple[set[str], set[tuple[str, str]]]:
    found = graph_search(principal, GraphQuery(entity="受付", max_depth=3))
    return {node.name for node in found.nodes}, {(edge.source, edge.target) for edge in found.edges}


@pytest.fixture
def chain(library: Library) -> list[GraphNode]:
    """受付 → 審査 → 通知, in the library's collection."""
    kind = NodeType.objects.first()
    relation = EdgeType.objects.first()
    nodes = [
        GraphNode.objects.create(
            public_id=f"ent_{number}", type=kind, collection=library.collection, key=name, name=name, keys=[name]
        )
        for number, name in enumerate(("受付", "審査", "通知"))
    ]
    for source, target in pairwise(nodes):
        GraphEdge.objects.create(source=source, target=target, type=relation, collection=library.collection)
    return nodes


def test_a_walk_is_made_at_a_replica_and_shows_nothing_that_the_primary_does_not_permit(
    replicas, chain, reader, servers, primary
):
    catch_up(servers, primary)
    with asked(*replicas) as at_replicas:
        nodes, edges = walk(reader)
    assert sum(map(len, at_replicas)) > 2
    assert nodes == {"受付", "審査", "通知"}
    assert len(edges) == 2
    hold_back(servers, primary)
    GraphNode.objects.filter(pk=chain[2].pk).update(classification=3)
    assert walk(reader) == ({"受付", "審査"}, {(chain[0].public_id, chain[1].public_id)})
    GraphEdge.objects.filter(target=chain[1]).delete()
    assert walk(reader) == ({"受付"}, set())


def test_what_a_document_speaks_of_is_told_to_those_alone_who_may_search_it_now(
    replicas, library, reader, servers, primary
):
    document = library.made["設計/運用設計書.md"]
    topic = GraphNode.objects.create(
        public_id="ent_topic", type=NodeType.objects.first(), key="監視", name="監視", keys=["監視"]
    )
    GraphContribution.objects.create(node=topic, kind="document", document=document, version=document.current_version)
    asked_about = GraphQuery(entity="監視", document_id=document.public_id)
    catch_up(servers, primary)
    with asked(*replicas) as at_replicas:
        assert [node.name for node in graph_search(reader, asked_about).nodes] == ["監視"]
    assert sum(map(len, at_replicas)) > 2
    hold_back(servers, primary)
    Document.objects.filter(pk=document.pk).update(classification=3)
    with pytest.raises(NotFound, match=document.public_id):
        graph_search(reader, asked_about)
