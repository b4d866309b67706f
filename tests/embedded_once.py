"""The bundled model runs once for each text that a process of the suite embeds, however many tests embed it.

It reads each text by itself, so that the same tokens have the same vector, as ``tests/knowledge/embedders`` show: they
and the contract of embedders make embedders of their own, in folders of their own, for which nothing is remembered.
Nor does each embedder of the hub's own folder check and load the same graph: they share one session.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pytest

from hub.core.processes import PerProcess
from knowledge.embedders.base import Vectors
from knowledge.embedders.bundled.backend import BundledEmbedder

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # 0.2 s that processes which never embed need not pay

_run = BundledEmbedder._run
_open_session = BundledEmbedder._open_session
_known: WeakKeyDictionary[InferenceSession, dict[tuple[int, ...], Vectors]] = WeakKeyDictionary()


def remember_vectors(patch: pytest.MonkeyPatch, data_dir: Path) -> None:
    """Let embedders of a hub whose data is below ``data_dir`` remember what their session gave for tokens."""
    opened: PerProcess[dict[tuple[Path, str], InferenceSession]] = PerProcess(dict)

    def open_once(embedder: BundledEmbedder) -> InferenceSession:
        if not embedder._cache_dir.is_relative_to(data_dir):
            return _open_session(embedder)
        sessions, key = opened.get(), (embedder._cache_dir, embedder.name)
        if key not in sessions:
            sessions[key] = _open_session(embedder)
        return sessions[key]

    def run_once(embedder: BundledEmbedder, ids: list[int]) -> Vectors:
        if not embedder._cache_dir.is_relative_to(data_dir):
            return _run(embedder, ids)
        known = _known.setdefault(embedder._session.get(), {})
        key = tuple(ids)
        if key not in known:
            known[key] = _run(embedder, ids)
        return known[key].copy()

    patch.setattr(BundledEmbedder, "_open_session", open_once)
    patch.setattr(BundledEmbedder, "_run", run_once)
