"""Where scores come from."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from django.conf import settings

from hub.access.principals import local_operator
from knowledge.embedders import create_embedder
from knowledge.search.fusion import DATA_FILE, LEAST_PASSAGES, calibration_for, easing
from knowledge.search.hybrid import search
from knowledge.types.search import SearchFilter, SearchMode, SearchQuery
from tests.knowledge.search.shelf import Library

EVIDENCE = np.array([0.2, 0.39, 0.6])


def test_a_model_nobody_measured_is_not_called_calibrated() -> None:
    calibration = calibration_for(backend="openai", model="text-embedding-unknown")
    assert not calibration.is_known(SearchMode.VECTOR)
    assert not calibration.is_known(SearchMode.HYBRID)
    assert calibration.scores(np.array([0.42]), SearchMode.HYBRID) == [0.42]


def test_lexical_scores_are_calibrated_whatever_the_model() -> None:
    assert calibration_for(backend="openai", model="text-embedding-unknown").is_known(SearchMode.LEXICAL)


def test_the_default_model_is_calibrated_in_every_mode() -> None:
    calibration = calibration_for(backend="bundled", model="multilingual-e5-small-q4")
    assert all(calibration.is_known(mode) for mode in SearchMode)


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.LEXICAL])
def test_the_same_evidence_counts_more_in_a_small_set(mode: SearchMode) -> None:
    calibration = calibration_for(backend="bundled", model="multilingual-e5-small-q4")
    in_sets = [calibration.scores(EVIDENCE, mode, passages=passages)[1] for passages in (24, 57, 400, 1000)]
    assert in_sets == sorted(in_sets, reverse=True)
    assert len({*in_sets}) == len(in_sets)


@pytest.mark.parametrize("mode", list(SearchMode))
@pytest.mark.parametrize("passages", [0, 1000, 1_000_000])
def test_a_large_set_or_one_of_unknown_size_is_as_it_was_measured(mode: SearchMode, passages: int) -> None:
    calibration = calibration_for(backend="bundled", model="multilingual-e5-small-q4")
    scores = calibration.scores(EVIDENCE, mode, passages=passages)
    assert scores.tolist() == calibration.lines[mode].scores(EVIDENCE).tolist()


def test_sets_smaller_than_any_that_was_measured_are_as_the_smallest() -> None:
    assert easing(SearchMode.HYBRID, 1) == easing(SearchMode.HYBRID, LEAST_PASSAGES) > 0


def test_cosines_alone_count_the_same_in_every_set() -> None:
    assert easing(SearchMode.VECTOR, 57) == 0.0


def test_a_small_set_does_not_move_what_nobody_measured() -> None:
    calibration = calibration_for(backend="openai", model="text-embedding-unknown")
    assert calibration.scores(EVIDENCE, SearchMode.HYBRID, passages=24).tolist() == EVIDENCE.tolist()


@pytest.mark.django_db
def test_a_small_set_counts_with_all_its_passages_whatever_a_search_is_filtered_by() -> None:
    library = Library()
    library.add("運用設計書.md", ["バックアップは毎日深夜2時に取得する。"])
    library.add("帳票設計書.md", [f"帳票{number}は経理部が月末に出力する。" for number in range(60)])
    everywhere = SearchQuery(text="バックアップはいつ取得しますか")
    own_document = SearchFilter(document_ids=(library.made["運用設計書.md"].public_id,))
    found = search(local_operator(), everywhere).hits[0]
    assert search(local_operator(), replace(everywhere, filter=own_document)).hits[0].score == found.score


def test_the_default_model_is_still_the_one_that_was_measured() -> None:
    embedder = create_embedder("bundled", model=None, cache_dir=settings.HUB_DATA_DIR / "models")
    entries = json.loads(DATA_FILE.read_text(encoding="utf-8"))["models"]
    measured = {(one["backend"], one["model"]): one["fingerprint"] for one in entries}
    # Otherwise run: python -m benchmarks.search fit --queries 1000
    assert measured[embedder.name, embedder.model] == embedder.fingerprint


def test_every_calibration_says_where_it_comes_from() -> None:
    data = json.loads(DATA_FILE.read_text(encoding="utf-8"))
    for entry in [data["lexical"], *data["models"]]:
        assert entry["provenance"]["sets"]
        assert entry["provenance"]["fitted_at"]
