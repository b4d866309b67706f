"""One ranking out of two legs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.calibration import calibration_for
from knowledge.search.fusion import CosineRange, Evidence, Weights, fuse
from knowledge.types import SearchMode

RANGE = CosineRange(low=0.7, high=1.0)
evidences = st.builds(
    Evidence,
    chunk_id=st.integers(1, 10**9),
    cosine=st.none() | st.floats(-1, 1),
    words=st.floats(0, 1),
    bigrams=st.floats(0, 1),
    codes=st.just(0.0),
    matched=st.just(()),
)


def ids(candidates: list[Evidence], mode: SearchMode = SearchMode.HYBRID) -> list[int]:
    return [one.evidence.chunk_id for one in fuse(candidates, mode=mode, cosine_range=RANGE)]


def test_equal_candidates_come_by_chunk_id() -> None:
    assert ids([Evidence(chunk_id=key, cosine=0.8, words=0.5) for key in (9, 2, 5)]) == [2, 5, 9]


def test_a_mode_of_one_leg_ignores_the_other() -> None:
    near, worded = Evidence(chunk_id=1, cosine=0.95), Evidence(chunk_id=2, cosine=0.75, words=0.9, bigrams=0.9)
    assert ids([near, worded], SearchMode.VECTOR) == [1, 2]
    assert ids([near, worded], SearchMode.LEXICAL) == [2, 1]


def test_agreement_of_both_legs_beats_one_leg_alone() -> None:
    both = Evidence(chunk_id=3, cosine=0.9, words=0.6, bigrams=0.6)
    assert ids([Evidence(chunk_id=1, cosine=0.92), Evidence(chunk_id=2, words=0.7, bigrams=0.7), both])[0] == 3


def test_other_weights_prefer_the_other_evidence_in_hybrid_alone() -> None:
    near, worded = Evidence(chunk_id=1, cosine=0.97), Evidence(chunk_id=2, cosine=0.75, words=0.9, bigrams=0.9)
    by_words = Weights(words=0.5, bigrams=0.5, cosine=0.0)
    by_cosine = Weights(words=0.0, bigrams=0.0, cosine=1.0)
    for mode, weights, first in (
        (SearchMode.HYBRID, by_words, worded),
        (SearchMode.HYBRID, by_cosine, near),
        (SearchMode.LEXICAL, by_cosine, worded),
        (SearchMode.VECTOR, by_words, near),
    ):
        assert fuse([near, worded], mode=mode, cosine_range=RANGE, weights=weights)[0].evidence is first


def test_a_missing_cosine_counts_as_nothing_in_common() -> None:
    ranked = fuse([Evidence(chunk_id=1), Evidence(chunk_id=2, cosine=0.7)], mode=SearchMode.HYBRID, cosine_range=RANGE)
    assert ranked[0].value == ranked[1].value == 0.0


@given(st.lists(evidences, max_size=20))
def test_the_ranking_does_not_depend_on_the_order_of_candidates(candidates: list[Evidence]) -> None:
    assert ids(candidates) == ids(candidates[::-1]) or len({one.chunk_id for one in candidates}) < len(candidates)


@given(st.lists(evidences, max_size=20), st.sampled_from(SearchMode))
def test_a_value_does_not_depend_on_the_other_candidates(candidates: list[Evidence], mode: SearchMode) -> None:
    for one in fuse(candidates, mode=mode, cosine_range=RANGE):
        assert fuse([one.evidence], mode=mode, cosine_range=RANGE)[0].value == one.value


@pytest.mark.parametrize("mode", list(SearchMode))
@pytest.mark.parametrize("model", ["multilingual-e5-small-q4", "a model nobody measured"])
@given(st.lists(evidences, max_size=20))
def test_scores_lie_between_0_and_1_and_never_contradict_the_ranking(
    model: str, mode: SearchMode, candidates: list[Evidence]
) -> None:
    calibration = calibration_for(backend="bundled", model=model)
    ranked = fuse(candidates, mode=mode, cosine_range=calibration.cosine_range)
    scores = calibration.scores([one.value for one in ranked], mode)
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
