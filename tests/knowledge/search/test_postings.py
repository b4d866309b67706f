"""The inverted index and its statistics."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from knowledge.index import postings, segments
from knowledge.index.postings import (
    clear_deleted_postings,
    delete_postings,
    keep_lexical_index,
    lost_entries,
    prune_terms,
    recount_statistics,
    write_postings,
)
from knowledge.models import (
    Chunk,
    LexicalEntry,
    LexicalField,
    LexicalPosting,
    LexicalSegment,
    LexicalStatistics,
    LexicalTerm,
)
from tests.knowledge.search.postings import dead_postings, posting_rows
from tests.knowledge.search.shelf import Library

TEXTS = ("要件FR-001は性能要件である。", "性能は3秒以内とする。性能試験で確かめる。", "!?")


def rows() -> list[tuple[int, str, str, int, int]]:
    return sorted(posting_rows())


def statistics() -> dict[tuple[int, int | None], tuple[int, int]]:
    return {(row.field, row.policy_id): (row.chunks, row.total_length) for row in LexicalStatistics.objects.all()}


def counted() -> dict[tuple[int, int | None], tuple[int, int]]:
    """What the postings themselves say."""
    policies = dict(LexicalEntry.objects.values_list("chunk__public_id", "policy_id"))
    lengths: dict[tuple[int, int | None], set[tuple[str, int]]] = {key: set() for key in statistics()}
    for field, _text, chunk_id, _tf, length in posting_rows():
        lengths[field, policies[chunk_id]].add((chunk_id, length))
    return {key: (len(found), sum(length for _chunk, length in found)) for key, found in lengths.items()}


@pytest.fixture
def chunks(db: None) -> list[Chunk]:
    return Library().add("要件定義書.md", TEXTS)


def test_postings_hold_term_frequency_and_length(chunks: list[Chunk]) -> None:
    own = [row for row in rows() if row[0] == LexicalField.WORD and row[2] == chunks[1].public_id]
    (posting,) = [row for row in own if row[1] == "性能"]
    assert posting[3] == 2
    assert posting[4] == sum(row[3] for row in own)


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
    texts = {text for _field, text, chunk_id, _tf, _length in rows() if chunk_id == chunks[0].public_id}
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
    assert statistics() == {}


def test_terms_of_deleted_chunks_can_be_pruned(chunks: list[Chunk]) -> None:
    delete_postings([chunks[0].pk])
    clear_deleted_postings()
    assert dead_postings() == 0
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
    assert len({chunk_id for _field, _text, chunk_id, _tf, _length in rows()}) == 18


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


def test_many_small_segments_become_few_and_say_the_same(chunks: list[Chunk]) -> None:
    library = Library(slug="many")
    for number in range(30):
        library.add(f"{number}.md", [f"画面{number}の性能は{number}秒以内とする。"])
    assert LexicalSegment.objects.count() < 31 / 2
    assert len({chunk_id for _field, _text, chunk_id, _tf, _length in rows()}) == 33
    assert lost_entries() == []
    assert statistics() == counted()


def test_merging_leaves_out_what_was_deleted(chunks: list[Chunk], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "merge_small_segments", lambda: None)
    made = [Library(slug=f"s{n}").add("a.md", [f"性能{n}", f"可用性{n}"]) for n in range(segments.FAN_IN)]
    delete_postings([pair[0].pk for pair in made])
    assert dead_postings() > 0
    before = rows()
    assert keep_lexical_index() is False
    assert dead_postings() == 0
    assert rows() == before
    assert statistics() == counted()


def test_the_segments_of_a_deleted_document_go_with_it(chunks: list[Chunk]) -> None:
    delete_postings([chunk.pk for chunk in chunks])
    assert not LexicalSegment.objects.exists()
    assert not LexicalPosting.objects.exists()


def test_passages_of_an_older_analysis_are_indexed_again(chunks: list[Chunk]) -> None:
    before = rows()
    LexicalEntry.objects.update(analysis=1, fingerprint=None)
    keep_lexical_index()
    assert not LexicalEntry.objects.filter(fingerprint=None).exists()
    assert rows() == before
    assert statistics() == counted()


def test_postings_that_were_lost_are_seen(chunks: list[Chunk]) -> None:
    assert lost_entries() == []
    LexicalSegment.objects.all().delete()
    assert lost_entries() == [chunk.pk for chunk in chunks]


@pytest.mark.django_db(transaction=True)
def test_merging_while_others_write_and_delete_loses_nothing() -> None:
    library = Library()
    made = [library.add(f"{number}.md", [f"性能{number}", f"可用性{number}"]) for number in range(12)]
    keys = [chunk.pk for pair in made[:6] for chunk in pair]
    in_threads(
        lambda: delete_postings(keys),
        clear_deleted_postings,
        lambda: write_postings(made[7], title=""),
        clear_deleted_postings,
    )
    clear_deleted_postings()
    assert dead_postings() == 0
    assert lost_entries() == []
    assert statistics() == counted()
    assert len({chunk_id for _field, _text, chunk_id, _tf, _length in rows()}) == 12
