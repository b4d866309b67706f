"""Scoring with a bound finds what scoring everything finds, and kept postings never outlive what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.access.principals import local_operator
from knowledge.index.segments import maintain_segments
from knowledge.models import LexicalSegment
from knowledge.search import bm25, postings
from knowledge.search.bm25 import Scores, all_scores, best_scores, scores_of
from knowledge.search.hybrid import search
from knowledge.search.postings import Piece, PieceKey, PieceStore
from knowledge.search.weighing import FieldTerm
from knowledge.types.search import SearchMode, SearchQuery
from tests.knowledge.search.shelf import Library

LIMIT = 10
NOBODY = np.zeros(0, np.int64)


def made_terms(seed: int, spread: int) -> tuple[list[FieldTerm], dict[PieceKey, Piece]]:
    """A few terms of both fields, rare and common, in two segments; numbers lie ``spread`` apart."""
    rng = np.random.default_rng(seed)
    terms, pieces = [], {}
    for number in range(6):
        keys = tuple(PieceKey(number, segment, 1) for segment in (1, 2))
        for key in keys:
            size = int(rng.choice([3, 40, 400]))
            ordinals = np.sort(rng.choice(500, size=size, replace=False)) * 2 + key.segment_id
            tfs, lengths = rng.integers(1, 4, size).astype(np.int16), rng.integers(50, 400, size).astype(np.int16)
            pieces[key] = Piece(
                ordinals=(ordinals * spread).astype(np.int32),
                tfs=tfs,
                lengths=lengths,
                peak_tf=int(tfs.max()),
                least_length=int(lengths.min()),
            )
        share, chunks = float(rng.choice([0.01, 0.1, 0.6])), sum(pieces[key].ordinals.size for key in keys)
        terms.append(
            FieldTerm(
                term_id=number,
                text=str(number),
                field=1 + number % 2,
                share=share,
                base=0.2,
                slope=0.001,
                pieces=keys,
                chunks=chunks,
            )
        )
    return terms, pieces


def best(scores: Scores) -> list[tuple[int, float, float]]:
    order = np.argsort(-scores.total, kind="stable")[:LIMIT]
    kept = scores.at(order)
    return list(zip(kept.ordinals.tolist(), kept.words.tolist(), kept.bigrams.tolist(), strict=True))


@given(seed=st.integers(0, 10_000), spread=st.sampled_from([1, 2_000]))
@settings(max_examples=40, derandomize=True)
def test_leaving_out_what_can_not_win_changes_nothing(seed: int, spread: int) -> None:
    terms, pieces = made_terms(seed, spread)
    named = np.unique([piece.ordinals[0] for piece in pieces.values()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "FIRST_LOOK", 10)
        patch.setattr(bm25, "DENSE_SPAN", 5_000)
        some, every = best_scores(terms, pieces, LIMIT)(named), all_scores(terms, pieces)
    assert best(some) == best(every)
    assert best(some.keep(named)) == best(every.keep(named))


@given(seed=st.integers(0, 10_000), spread=st.sampled_from([1, 2_000]))
@settings(max_examples=40, derandomize=True)
def test_summing_in_one_go_gives_the_same_numbers_as_term_by_term(seed: int, spread: int) -> None:
    terms, pieces = made_terms(seed, spread)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "DENSE_SPAN", 5_000)
        at_once = all_scores(terms, pieces)
        patch.setattr(bm25, "AT_ONCE", 0)
        one_by_one = all_scores(terms, pieces)
    for column in ("ordinals", "words", "bigrams"):
        assert getattr(at_once, column).tolist() == getattr(one_by_one, column).tolist()


@given(seed=st.integers(0, 10_000), spread=st.sampled_from([1, 2_000]))
@settings(max_examples=40, derandomize=True)
def test_scoring_some_chunks_gives_what_they_have_among_all(seed: int, spread: int) -> None:
    terms, pieces = made_terms(seed, spread)
    few = np.unique([0, *(piece.ordinals[-1] for piece in pieces.values())])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "DENSE_SPAN", 5_000)
        every = all_scores(terms, pieces)
        for sought in (few, NOBODY):
            some, same = scores_of(terms, pieces, sought), every.keep(sought)
            for column in ("ordinals", "words", "bigrams"):
                assert getattr(some, column).tolist() == getattr(same, column).tolist()


def test_the_bound_does_leave_something_out() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "FIRST_LOOK", 10)
        complete = [best_scores(*made_terms(seed, 1), LIMIT)(NOBODY).is_complete for seed in range(20)]
    assert set(complete) == {True, False}


def test_kept_postings_stay_within_their_bound_and_the_unused_go_first() -> None:
    _terms, pieces = made_terms(1, 1)
    one = max(piece.nbytes for piece in pieces.values())
    store = PieceStore(3 * one)
    for key, piece in pieces.items():
        store.keep({key: piece})
        store.take([next(iter(pieces))])
        assert store.nbytes <= 3 * one
    assert set(store.take(pieces)) > {next(iter(pieces))}


@pytest.mark.django_db
def test_what_is_kept_never_outlives_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing a document again and merging segments show at once, although postings are kept in this process."""
    monkeypatch.setattr(postings, "store", PieceStore(1024 * 1024))

    def found() -> list[str]:
        hits = search(local_operator(), SearchQuery(text="応答時間", mode=SearchMode.LEXICAL)).hits
        return sorted(hit.content for hit in hits)

    library = Library()
    library.add("a.md", ["応答時間は3秒とする。"])
    assert found() == ["応答時間は3秒とする。"]
    library.add_version(library.made["a.md"], ["応答時間は5秒とする。"])
    library.add("b.md", ["応答時間の測り方。"])
    assert found() == ["応答時間の測り方。", "応答時間は5秒とする。"]
    for number in range(9):
        library.add(f"c{number}.md", [f"認証の方式その{number}。"])
    while maintain_segments(purge=True):
        pass
    assert LexicalSegment.objects.count() < 9
    assert found() == ["応答時間の測り方。", "応答時間は5秒とする。"]
