"""Measures of a ranking."""

from __future__ import annotations

import math

import pytest

from knowledge.search.evaluate import evaluate


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
