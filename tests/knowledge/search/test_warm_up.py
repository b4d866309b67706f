"""Reading the search index into memory after a start."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from knowledge import tasks
from knowledge.index import warm_up
from knowledge.index.active_embedder import active_embedding_set
from knowledge.index.vectors import index_name
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db


@pytest.fixture
def relations() -> list[warm_up.Relation]:
    library = Library()
    library.add("a.md", ["応答時間は三秒以内とする。", "夜間に保守を行う。"])
    return warm_up.relations_to_warm(active_embedding_set())


def _name(relation: warm_up.Relation) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE oid = %s", [relation.oid])
        return str(cursor.fetchone()[0])


def test_the_active_sets_vector_index_comes_first_and_vectors_last(relations: list[warm_up.Relation]) -> None:
    names = [_name(one) for one in relations]
    assert names[0] == index_name(active_embedding_set())
    assert {"knowledge_lexicalposting", "knowledge_lexicalterm", "knowledge_chunk"} < set(names)
    assert (
        names.index("knowledge_lexicalposting") < names.index("knowledge_chunk") < names.index("knowledge_chunkvector")
    )
    assert len(set(names)) == len(names)


def test_every_byte_is_read_in_slices(relations: list[warm_up.Relation], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_up, "SLICE_BYTES", 24 * 1024)
    read: list[tuple[str, int, int]] = []
    real = warm_up._read_file

    def noting(relation: warm_up.Relation, offset: int, size: int, before: int) -> None:
        read.append((relation.path, offset, size))
        real(relation, offset, size, before)

    monkeypatch.setattr(warm_up, "_read_file", noting)
    assert warm_up.warm_up(seconds=60) is None
    by_path = {path: sum(size for own, _offset, size in read if own == path) for path, _offset, _size in read}
    assert by_path == {one.path: one.size for one in relations}


def test_it_goes_on_where_it_stopped(relations: list[warm_up.Relation]) -> None:
    first = warm_up.warm_up(seconds=0)
    assert first == relations[0].size
    assert warm_up.warm_up(first, seconds=0) == first + relations[1].size


def test_the_budget_ends_it(relations: list[warm_up.Relation], settings) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_warm_up_bytes": relations[0].size})
    assert warm_up.warm_up(seconds=0) == relations[0].size
    assert warm_up.warm_up(relations[0].size) is None


def test_a_file_that_is_gone_is_none_to_read(relations: list[warm_up.Relation]) -> None:
    gone = warm_up.Relation(oid=1, path="base/1/1", size=8192)
    assert warm_up._warm_slice([gone], 0, "files") == 8192


@pytest.mark.usefixtures("database_superuser")
def test_the_file_that_the_server_reads_is_the_relations(relations: list[warm_up.Relation]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        folder = Path(cursor.fetchone()[0])
    assert all((folder / one.path).is_file() for one in relations)


@pytest.mark.usefixtures("database_superuser")
def test_a_server_that_can_not_be_made_to_read_is_left_alone(
    relations: list[warm_up.Relation], monkeypatch: pytest.MonkeyPatch
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE plain_reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO plain_reader")
        cursor.execute("SET LOCAL ROLE plain_reader")
    assert warm_up.way_to_warm() is None
    assert warm_up.warm_up() is None
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")
    assert warm_up.way_to_warm() == "files"


def test_the_task_queues_what_is_left(relations: list[warm_up.Relation], monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[int] = []
    monkeypatch.setattr(tasks, "warm_up", lambda start: {0: 500}.get(start))
    monkeypatch.setattr(tasks, "enqueue", lambda _task, start: queued.append(start))
    tasks.warm_up_search()
    tasks.warm_up_search(start=500)
    assert queued == [500]
