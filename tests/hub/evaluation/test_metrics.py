"""Measures of a ranking."""

from __future__ import annotations

import math

import pytest

from benchmarks.retrieval.quality import evaluate
from hub.evaluation.metrics import bootstrap_mean


def test_measures_follow_their_definitions() -> None:
    quality = evaluate([(["a", "b", "c"], {"c"}), (["x"], {"y"})], k=10)
    assert quality.queries == 2
    assert quality.ndcg == pytest.approx((1 / math.log2(4)) / 2)
    assert quality.recall == 0.5
    assert quality.mrr == pytest.approx(1 / 6)


def test_passages_beyond_k_do_not_count() -> None:
    assert evaluate([(["a", "b"], {"b"})], k=1).recall == 0.0


def test_no_queries_is_an_error_and_not_a_perfect_score() -> None:
    with pytest.raises(ValueError, match="no queries"):
        evaluate([])


def test_an_interval_holds_the_mean_and_narrows_with_more_cases() -> None:
    few = bootstrap_mean([0.0, 1.0] * 5, [1.0] * 10)
    many = bootstrap_mean([0.0, 1.0] * 200, [1.0] * 400)
    assert few.low < many.low < many.value == 0.5 < many.high < few.high


def test_a_difference_that_every_case_shows_is_certain() -> None:
    interval = bootstrap_mean([0.25] * 30, [1.0] * 30)
    assert (interval.low, interval.value, interval.high) == pytest.approx((0.25, 0.25, 0.25))


def test_heavy_cases_count_more() -> None:
    assert bootstrap_mean([1.0, 0.0], [3.0, 1.0]).value == 0.75


@pytest.mark.parametrize(("scores", "weights"), [([], []), ([1.0], []), ([1.0], [0.0])])
def test_without_cases_of_any_weight_there_is_no_mean(scores: list[float], weights: list[float]) -> None:
    with pytest.raises(ValueError, match="one score or more"):
        bootstrap_mean(scores, weights)
