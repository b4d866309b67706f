"""Switching and dropping under load: no answer is mixed of two embedding sets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from hub.access.models import AuditEvent
from hub.core.errors import Conflict
from knowledge.embedding_sets import builds, sets, switching
from knowledge.index.active_embedder import active_embedding_set, get_embedder
from knowledge.models import Chunk, ChunkPolicy, EmbeddingSet
from knowledge.types.search import SearchMode
from tests.knowledge.embedding_server import DIMENSION, embedding_server
from tests.knowledge.embedding_sets.sets import ME, SMALL, answer, build, inconsistencies, make, switch, vectors_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("corpus", "queue")]


def test_after_a_switch_the_row_decides_and_not_the_settings() -> None:
    build(make("fp32").name)
    switch("fp32")
    assert get_embedder().name == "bundled-fp32"
    assert answer() == answer(EmbeddingSet.objects.get(name="fp32"))
    assert switching.roll_back(principal=ME).backend == "bundled"
    assert switching.roll_back(principal=ME).backend == "bundled-fp32"
    actions = AuditEvent.objects.filter(action__startswith="EMBEDDING_SET_").values_list("action", flat=True)
    assert sorted(actions) == [f"EMBEDDING_SET_{what}" for what in ("BUILD", "CREATE", "SWITCH", "SWITCH", "SWITCH")]


@contextmanager
def searchers(number: int, seen: list, **query: Any) -> Iterator[None]:
    """Threads that search until the block is left; what they get, errors too, is in ``seen``."""
    stop = threading.Event()

    def ask() -> None:
        try:
            while not stop.is_set():
                seen.append(answer(**query))
        except Exception as error:  # noqa: BLE001 (any failure fails the test)
            seen.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _number in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def switch_under_load(first: str, second: str, **query: Any) -> None:
    """Every answer is wholly the one set's or wholly the other's, and each had its turn."""
    pure = [answer(EmbeddingSet.objects.get(name=name), **query) for name in (first, second)]
    assert pure[0] != pure[1]
    seen: list = []
    with searchers(3, seen, **query):
        for _round in range(3):
            for name in (second, first):
                switch(name)
                enough = len(seen) + 4
                while len(seen) < enough and not any(isinstance(one, Exception) for one in seen):
                    answer(**query)
    assert [one for one in seen if one not in pure] == []
    assert {pure.index(one) for one in seen} == {0, 1}


def test_no_answer_is_mixed_while_switching_between_two_precisions() -> None:
    build(make("fp32").name)
    switch_under_load("multilingual-e5-small-q4 1", "fp32", mode=SearchMode.VECTOR)


def test_no_answer_is_mixed_while_switching_between_chunk_policies() -> None:
    build(make("small", "bundled", chunk_options=SMALL).name)
    switch_under_load("multilingual-e5-small-q4 1", "small", with_context=True)


def test_no_answer_is_mixed_while_switching_between_dimensions() -> None:
    with embedding_server() as server:
        made = build(make("projection", "openai", model="projection", base_url=server.url).name)
        assert made.dimension == DIMENSION
        switch_under_load("multilingual-e5-small-q4 1", "projection")


def test_dropping_clears_vectors_index_and_chunks_that_nobody_else_uses() -> None:
    small = build(make("small", chunk_options=SMALL).name)
    policy = ChunkPolicy.objects.get(pk=small.policy_id)
    sets.drop_set(principal=ME, name="small")
    assert builds.take_waiting() == [small.pk]
    assert builds.clear_slice(small.pk, seconds=0) is True
    while builds.clear_slice(small.pk):
        pass
    assert builds.take_waiting() == []
    assert vectors_of(small) == set()
    assert not Chunk.objects.filter(policy=policy).exists()
    assert not _has_index(small)
    assert inconsistencies() == set()
    with pytest.raises(Conflict):
        sets.start_build(principal=ME, name="small")


def _has_index(embedding_set: EmbeddingSet) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [f"chunkvector_hnsw_{embedding_set.pk}"])
        return cursor.fetchone()[0] is not None


def test_chunks_that_another_set_shares_stay_when_one_is_dropped() -> None:
    build(make("fp32").name)
    assert _has_index(EmbeddingSet.objects.get(name="fp32"))
    switch("fp32")
    first = EmbeddingSet.objects.get(is_active=False)
    before = answer()
    sets.drop_set(principal=ME, name=first.name)
    sets.clear_here(first.name)
    assert vectors_of(first) == set()
    assert answer() == before
    with pytest.raises(Conflict):
        switching.roll_back(principal=ME)


def test_a_search_that_began_before_a_drop_still_answers_whole() -> None:
    build(make("fp32").name)
    seen: list = []
    pure = [answer(one, mode=SearchMode.VECTOR) for one in EmbeddingSet.objects.order_by("pk")]
    with searchers(2, seen, mode=SearchMode.VECTOR):
        first = active_embedding_set().name
        switch("fp32")
        sets.drop_set(principal=ME, name=first)
        sets.clear_here(first)
        answer()
    assert [one for one in seen if one not in pure] == []
