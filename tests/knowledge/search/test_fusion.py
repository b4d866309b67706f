"""One ranking out of two legs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.fusion import (
    ENGLISH_WEIGHTS,
    WEIGHTS,
    CosineRange,
    Evidence,
    Ranking,
    Weights,
    calibration_for,
    fuse,
    weights_for,
)
from knowledge.types.search import SearchMode

RANGE = CosineRange(low=0.7, high=1.0)


class Said(NamedTuple):
    """What both legs say about one candidate."""

    key: int
    cosine: float = float("nan")
    words: float = 0.0
    bigrams: float = 0.0


said = st.builds(
    Said,
    key=st.integers(1, 10**9),
    cosine=st.just(float("nan")) | st.floats(-1, 1),
    words=st.floats(0, 1),
    bigrams=st.floats(0, 1),
)


def evidence(candidates: list[Said]) -> Evidence:
    keys, cosines, words, bigrams = zip(*candidates, strict=True) if candidates else ((), (), (), ())
    return Evidence(
        chunk_ids=np.array(keys, np.int64),
        cosines=np.array(cosines, float),
        words=np.array(words, float),
        bigrams=np.array(bigrams, float),
        codes=np.zeros(len(keys)),
        are_contents=np.zeros(len(keys), bool),
    )


def fused(
    candidates: list[Said],
    mode: SearchMode = SearchMode.HYBRID,
    cosine_range: CosineRange = RANGE,
    weights: Weights | None = None,
) -> Ranking:
    given: Any = {} if weights is None else {"weights": weights}
    return fuse(evidence(candidates), mode=mode, cosine_range=cosine_range, **given)


def ids(candidates: list[Said], mode: SearchMode = SearchMode.HYBRID, weights: Weights | None = None) -> list[int]:
    return [candidates[place].key for place in fused(candidates, mode, weights=weights).places]


def test_equal_candidates_come_by_chunk_id() -> None:
    assert ids([Said(key, cosine=0.8, words=0.5) for key in (9, 2, 5)]) == [2, 5, 9]


def test_a_mode_of_one_leg_ignores_the_other() -> None:
    near, worded = Said(1, cosine=0.95), Said(2, cosine=0.75, words=0.9, bigrams=0.9)
    assert ids([near, worded], SearchMode.VECTOR) == [1, 2]
    assert ids([near, worded], SearchMode.LEXICAL) == [2, 1]


def test_agreement_of_both_legs_beats_one_leg_alone() -> None:
    both = Said(3, cosine=0.9, words=0.6, bigrams=0.6)
    assert ids([Said(1, cosine=0.92), Said(2, words=0.7, bigrams=0.7), both])[0] == 3


def test_other_weights_prefer_the_other_evidence_in_hybrid_alone() -> None:
    near, worded = Said(1, cosine=0.97), Said(2, cosine=0.75, words=0.9, bigrams=0.9)
    by_words = Weights(words=0.5, bigrams=0.5, cosine=0.0)
    by_cosine = Weights(words=0.0, bigrams=0.0, cosine=1.0)
    for mode, weights, first in (
        (SearchMode.HYBRID, by_words, worded),
        (SearchMode.HYBRID, by_cosine, near),
        (SearchMode.LEXICAL, by_cosine, worded),
        (SearchMode.VECTOR, by_words, near),
    ):
        assert ids([near, worded], mode, weights)[0] == first.key


@pytest.mark.parametrize(
    ("question", "is_put_in_english"),
    [
        ("How often is it backed up?", True),
        ("data center must be located in Japan", True),
        ("AWS Lambda VPC", False),
        ("Sign in", False),
        ("on-premise cloud service", False),
        ("What is RAG の定義は？", False),
        ("可用性", False),
        ("", False),
    ],
)
def test_meaning_counts_more_where_a_question_is_put_in_english(question: str, is_put_in_english: bool) -> None:
    assert (weights_for(question) == ENGLISH_WEIGHTS) is is_put_in_english


def test_weights_share_one() -> None:
    for weights in (WEIGHTS, ENGLISH_WEIGHTS):
        assert weights.words + weights.bigrams + weights.cosine == pytest.approx(1)


def test_a_missing_cosine_counts_as_nothing_in_common() -> None:
    assert fused([Said(1), Said(2, cosine=0.7)]).scores.tolist() == [0.0, 0.0]


@given(st.lists(said, max_size=20, unique_by=lambda one: one.key))
def test_the_ranking_does_not_depend_on_the_order_of_candidates(candidates: list[Said]) -> None:
    assert ids(candidates) == ids(candidates[::-1])


@given(st.lists(said, max_size=20), st.sampled_from(SearchMode))
def test_a_value_does_not_depend_on_the_other_candidates(candidates: list[Said], mode: SearchMode) -> None:
    ranked = fused(candidates, mode)
    for place, value in zip(ranked.places, ranked.scores, strict=True):
        assert fused([candidates[place]], mode).scores == [value]


@pytest.mark.parametrize("mode", list(SearchMode))
@pytest.mark.parametrize("model", ["multilingual-e5-small-q4", "a model nobody measured"])
@given(st.lists(said, max_size=20))
def test_scores_lie_between_0_and_1_and_never_contradict_the_ranking(
    model: str, mode: SearchMode, candidates: list[Said]
) -> None:
    calibration = calibration_for(backend="bundled", model=model)
    ranked = fused(candidates, mode, calibration.cosine_range)
    scores = calibration.scores(ranked.scores, mode).tolist()
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
