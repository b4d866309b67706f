"""Vectors that are remembered are the model's own, of one folder's embedders alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.embedders.bundled.backend import BundledEmbedder
from tests import embedded_once
from tests.embedded_once import remember_vectors


def test_a_text_is_run_once_below_the_folder_and_each_time_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    run = embedded_once._run
    monkeypatch.setattr(embedded_once, "_run", lambda one, ids: ran.append(one.name) or run(one, ids))
    remember_vectors(monkeypatch, tmp_path / "hub")
    ours, other = (BundledEmbedder(cache_dir=tmp_path / name / "models") for name in ("hub", "other"))
    given = [one.embed_query(text) for one in (ours, other) for text in ("応答時間", "応答時間", "予約")]
    assert len(ran) == 2 + 3
    assert (given[0] == given[1]).all()
    assert [(mine == theirs).all() for mine, theirs in zip(given[:3], given[3:], strict=True)] == [True] * 3
    assert (given[0] != given[2]).any()


def test_what_a_caller_does_to_a_vector_changes_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember_vectors(monkeypatch, tmp_path)
    embedder = BundledEmbedder(cache_dir=tmp_path / "models")
    vector = embedder.embed_query("応答時間")
    vector[:] = 0
    assert embedder.embed_query("応答時間").any()


def test_a_graph_below_the_folder_is_loaded_once_for_all_its_embedders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_vectors(monkeypatch, tmp_path / "hub")
    ours, again, other, elsewhere = (
        BundledEmbedder(cache_dir=tmp_path / name / "models") for name in ("hub", "hub", "other", "other")
    )
    assert ours._session.get() is again._session.get()
    assert other._session.get() is not elsewhere._session.get()
