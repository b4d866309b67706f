"""Where scores come from."""

from __future__ import annotations

import json

from django.conf import settings

from knowledge.backends.embedders import create_embedder
from knowledge.search.calibration import DATA_FILE, calibration_for
from knowledge.types.search import SearchMode


def test_a_model_nobody_measured_is_not_called_calibrated() -> None:
    calibration = calibration_for(backend="openai", model="text-embedding-unknown")
    assert not calibration.is_known(SearchMode.VECTOR)
    assert not calibration.is_known(SearchMode.HYBRID)
    assert calibration.scores([0.42], SearchMode.HYBRID) == [0.42]


def test_lexical_scores_are_calibrated_whatever_the_model() -> None:
    assert calibration_for(backend="openai", model="text-embedding-unknown").is_known(SearchMode.LEXICAL)


def test_the_default_model_is_calibrated_in_every_mode() -> None:
    calibration = calibration_for(backend="bundled", model="multilingual-e5-small-q4")
    assert all(calibration.is_known(mode) for mode in SearchMode)


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
