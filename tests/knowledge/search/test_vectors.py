"""Vectors, their index, and the nearest ones."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction
from numpy.typing import NDArray

from hub.access.principals import local_operator
from knowledge.index.active_embedder import active_embedding_set
from knowledge.index.vectors import create_index, delete_vectors, drop_index, index_name, vector_literal, write_vectors
from knowledge.models import Chunk, ChunkVector
from knowledge.search import candidates as vector_leg
from knowledge.search import scope
from knowledge.search.candidates import cosines_of, nearest_chunks
from knowledge.search.reach import reach_of
from knowledge.search.scope import permitted_chunks
from knowledge.types.search import SearchFilter
from tests.knowledge.search.shelf import Library


def unit_vectors(count: int, *, seed: int = 0) -> NDArray[np.float32]:
    values = np.random.default_rng(seed).normal(size=(count, active_embedding_set().dimension))
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)


def with_vectors(count: int, *, slug: str = "design", path: str = "a.md") -> tuple[list[Chunk], NDArray[np.float32]]:
    library = Library(slug=slug)
    document_chunks = library.add(path, ["性能要件"])
    version = document_chunks[0].version
    rows = [
        Chunk(
            public_id=f"chk_{slug}_{index}",
            version=version,
            policy=version.policy,
            index=index,
            content="性能",
            section_path=[],
            start_offset=0,
            end_offset=2,
            token_count=1,
        )
        for index in range(1, count)
    ]
    chunks = document_chunks + Chunk.objects.bulk_create(rows)
    vectors = unit_vectors(count, seed=len(slug))
    write_vectors(active_embedding_set(), [chunk.pk for chunk in chunks], vectors)
    return chunks, vectors


@pytest.mark.django_db
def test_writing_vectors_twice_leaves_the_last_ones() -> None:
    chunks, _vectors = with_vectors(5)
    again = unit_vectors(5, seed=99)
    write_vectors(active_embedding_set(), [chunk.pk for chunk in chunks], again)
    stored = ChunkVector.objects.filter(chunk__in=chunks).order_by("chunk_id")
    assert np.allclose([row.vector for row in stored], again, atol=1e-3)


@pytest.mark.django_db
def test_vectors_of_another_shape_or_without_a_value_are_refused() -> None:
    chunks, vectors = with_vectors(2)
    keys = [chunk.pk for chunk in chunks]
    with pytest.raises(ValueError, match="shape"):
        write_vectors(active_embedding_set(), keys, vectors[:, :10])
    with pytest.raises(ValueError, match="finite"):
        write_vectors(active_embedding_set(), keys, np.full_like(vectors, np.nan))


@pytest.mark.django_db
def test_deleted_vectors_are_gone_and_deleting_again_is_no_error() -> None:
    chunks, _vectors = with_vectors(3)
    keys = [chunk.pk for chunk in chunks]
    assert delete_vectors(keys) == 3
    assert delete_vectors(keys) == 0


@pytest.mark.django_db
def test_cosines_are_those_of_the_vectors() -> None:
    chunks, vectors = with_vectors(4)
    cosines = cosines_of(active_embedding_set(), vector_literal(vectors[0]), [chunk.pk for chunk in chunks])
    assert [cosines[chunk.pk] for chunk in chunks] == pytest.approx(list(vectors @ vectors[0]), abs=2e-3)


@pytest.mark.django_db(transaction=True)
def test_an_index_can_be_built_while_others_write_and_twice() -> None:
    embedding_set = active_embedding_set()
    drop_index(embedding_set)
    create_index(embedding_set, concurrently=True)
    create_index(embedding_set, concurrently=True)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [index_name(embedding_set)]
        )
        assert cursor.fetchone() == (True,)


@pytest.mark.django_db
@pytest.mark.parametrize("share", ["all", "a tenth"])
def test_the_index_under_a_filter_returns_as_many_as_asked_and_nearly_the_exact_ones(
    share: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_vectors(100 if share == "a tenth" else 1000, slug="few")
    with_vectors(900 if share == "a tenth" else 10, slug="many", path="b.md")
    permitted = permitted_chunks(reach_of(local_operator()), SearchFilter(collections=("few",)), active_embedding_set())
    embedding_set, queries = active_embedding_set(), [vector_literal(one) for one in unit_vectors(10, seed=7)]
    exact = [set(nearest_chunks(embedding_set, q, permitted, limit=50).chunk_ids.tolist()) for q in queries]
    monkeypatch.setattr(scope, "SMALL", 0)
    monkeypatch.setattr(scope, "COMPARED", 0)
    with transaction.atomic():
        found = [set(nearest_chunks(embedding_set, q, permitted, limit=50).chunk_ids.tolist()) for q in queries]
    assert all(len(one) == 50 for one in found)
    recall = sum(len(one & other) for one, other in zip(exact, found, strict=True)) / (50 * len(queries))
    assert recall >= 0.95


@pytest.mark.django_db
def test_the_filtered_walk_uses_the_sets_index(monkeypatch: pytest.MonkeyPatch) -> None:
    with_vectors(1000)
    embedding_set = active_embedding_set()
    permitted = permitted_chunks(reach_of(local_operator()), SearchFilter(), embedding_set)
    monkeypatch.setattr(scope, "SMALL", 0)
    monkeypatch.setattr(scope, "COMPARED", 0)
    monkeypatch.setattr(vector_leg, "_APPROXIMATE", "EXPLAIN " + vector_leg._APPROXIMATE)
    monkeypatch.setattr(vector_leg, "_nearest", lambda sql, params, _permitted: explain(sql, params))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE knowledge_chunkvector")
    explained: Any = nearest_chunks(embedding_set, vector_literal(unit_vectors(1)[0]), permitted, limit=20)
    plan = "\n".join(map(str, explained))
    assert index_name(embedding_set) in plan


def explain(sql: str, params: list[object]) -> list[object]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)  # type: ignore[arg-type]
        return cursor.fetchall()


@pytest.mark.django_db
def test_that_there_are_many_is_counted_once_a_minute_and_under_a_filter_each_time(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries
) -> None:
    with_vectors(3)
    embedding_set = active_embedding_set()
    monkeypatch.setattr(scope, "SMALL", 1)
    monkeypatch.setattr(scope, "_many_until", {})

    def is_small(restriction: SearchFilter) -> bool:
        return permitted_chunks(reach_of(local_operator()), restriction, embedding_set).is_small

    for restriction, queries in [
        (SearchFilter(), 1),
        (SearchFilter(), 0),
        *[(SearchFilter(collections=("design",)), 1)] * 2,
    ]:
        with django_assert_num_queries(queries):
            assert not is_small(restriction)
    later = time.monotonic() + 61
    monkeypatch.setattr(scope, "monotonic", lambda: later)
    with django_assert_num_queries(1):
        assert not is_small(SearchFilter())
    monkeypatch.setattr(scope, "SMALL", 3)
    for _search in range(2):
        with django_assert_num_queries(1):
            assert is_small(SearchFilter())
