"""The inverted index and its statistics."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from django.db.models import Count, Sum

from knowledge.backends.postings import delete_postings, prune_terms, recount_statistics, write_postings
from knowledge.models import Chunk, LexicalField, LexicalPosting, LexicalStatistics, LexicalTerm
from tests.knowledge.search.shelf import Library

TEXTS = ("要件FR-001は性能要件である。", "性能は3秒以内とする。性能試験で確かめる。", "!?")


def rows() -> list[tuple[str, int, int, int]]:
    found = LexicalPosting.objects.values_list("term__text", "chunk_id", "tf", "length")
    return sorted(found.order_by("term__text", "chunk_id"))


def statistics() -> dict[int, tuple[int, int]]:
    return {row.field: (row.chunks, row.total_length) for row in LexicalStatistics.objects.all()}


def counted() -> dict[int, tuple[int, int]]:
    lengths: dict[int, set[tuple[int, int]]] = {field: set() for field in LexicalField.values}
    for field, chunk_id, length in LexicalPosting.objects.values_list("term__field", "chunk_id", "length"):
        lengths[field].add((chunk_id, length))
    return {field: (len(found), sum(length for _chunk, length in found)) for field, found in lengths.items()}


@pytest.fixture
def chunks(db: None) -> list[Chunk]:
    return Library().add("要件定義書.md", TEXTS)


def test_postings_hold_term_frequency_and_length(chunks: list[Chunk]) -> None:
    posting = LexicalPosting.objects.get(chunk=chunks[1], term__text="性能", term__field=LexicalField.WORD)
    own_terms = LexicalPosting.objects.filter(chunk=chunks[1], term__field=LexicalField.WORD)
    assert posting.tf == 2
    assert posting.length == own_terms.aggregate(total=Sum("tf"))["total"]


def test_writing_twice_leaves_the_same_rows_and_statistics(chunks: list[Chunk]) -> None:
    before = rows(), statistics()
    write_postings(chunks, title="要件定義書.md")
    assert (rows(), statistics()) == before


def test_statistics_are_what_counting_gives(chunks: list[Chunk]) -> None:
    assert statistics() == counted()
    delete_postings([chunks[0].pk])
    assert statistics() == counted()
    delete_postings([chunk.pk for chunk in chunks])
    assert set(statistics().values()) == {(0, 0)}


def test_deleting_twice_changes_nothing(chunks: list[Chunk]) -> None:
    delete_postings([chunks[0].pk])
    before = rows(), statistics()
    delete_postings([chunks[0].pk])
    assert (rows(), statistics()) == before


def test_writing_a_changed_chunk_replaces_its_postings(chunks: list[Chunk]) -> None:
    chunks[0].content = "可用性の要件"
    write_postings(chunks[:1], title="")
    texts = set(LexicalPosting.objects.filter(chunk=chunks[0]).values_list("term__text", flat=True))
    assert "可用" in texts
    assert "fr-001" not in texts
    assert statistics() == counted()


def test_recounting_repairs_statistics_and_tells_so(chunks: list[Chunk]) -> None:
    assert not recount_statistics()
    LexicalStatistics.objects.update(chunks=7)
    assert recount_statistics()
    assert statistics() == counted()


def test_recounting_an_empty_index_gives_zero(db: None) -> None:
    recount_statistics()
    assert set(statistics().values()) == {(0, 0)}


def test_terms_of_deleted_chunks_can_be_pruned(chunks: list[Chunk]) -> None:
    delete_postings([chunks[0].pk])
    assert prune_terms() > 0
    assert not LexicalTerm.objects.filter(text="fr-001").exists()
    assert LexicalTerm.objects.filter(text="性能").exists()


def in_threads(*calls: Callable[[], None]) -> None:
    barrier = Barrier(len(calls))

    def run(call: Callable[[], None]) -> None:
        try:
            barrier.wait(timeout=30)
            call()
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=len(calls)) as pool:
        for future in [pool.submit(run, call) for call in calls]:
            future.result(timeout=60)


@pytest.mark.django_db(transaction=True)
def test_workers_with_the_same_new_words_neither_deadlock_nor_miscount() -> None:
    library = Library()
    terms = [f"語彙{chr(0x4E00 + number)}{chr(0x5E00 + number)}" for number in range(40)]
    batches = []
    for worker in range(6):
        ordered = terms[worker * 7 :] + terms[: worker * 7]
        chunks = library.add(f"{worker}.md", ["、".join(ordered if worker % 2 else ordered[::-1])] * 3)
        delete_postings([chunk.pk for chunk in chunks])
        batches.append(chunks)
    prune_terms()
    in_threads(*[lambda chunks=chunks: write_postings(chunks, title="") for chunks in batches])
    assert statistics() == counted()
    assert LexicalPosting.objects.aggregate(n=Count("chunk_id", distinct=True))["n"] == 18


@pytest.mark.django_db(transaction=True)
def test_two_workers_on_the_same_chunks_leave_what_one_would() -> None:
    chunks = Library().add("要件定義書.md", TEXTS)
    before = rows(), statistics()
    in_threads(*[lambda: write_postings(chunks, title="要件定義書.md")] * 4)
    assert (rows(), statistics()) == before


@pytest.mark.django_db(transaction=True)
def test_writing_and_deleting_at_once_keeps_statistics_in_step() -> None:
    chunks = Library().add("要件定義書.md", TEXTS * 10)
    keys = [chunk.pk for chunk in chunks]
    in_threads(
        lambda: write_postings(chunks, title=""), lambda: delete_postings(keys), lambda: delete_postings(keys[::2])
    )
    assert statistics() == counted()
