"""Cross-encoders, which read question and passage together: slower than the legs, and asked of the first few only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.core.errors import Unavailable
from knowledge.models import Chunk
from knowledge.ports import Reranker
from knowledge.search.candidates import Candidates
from knowledge.search.fusion import Ranking
from knowledge.types.search import LegScore


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers, from a folder on this machine. Loading it takes seconds, once."""

    def __init__(self, path: str) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise Unavailable(
                _("RERANKER_MODEL is set, but sentence-transformers is not installed: {command}"),
                code="reranker_unavailable",
                command="pip install -r requirements/ml.txt",
            ) from error
        self.name = path
        try:
            self._model = CrossEncoder(path, local_files_only=True)
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise Unavailable(
                _("RERANKER_MODEL: there is no cross-encoder that can be loaded from {path}."),
                code="reranker_unavailable",
                path=path,
            ) from error

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """Rate each passage as an answer; higher is better, the scale is the model's own. Raises Unavailable."""
        try:
            rated = np.asarray(self._model.predict([(query, passage) for passage in passages]), float).ravel()
        except (RuntimeError, ValueError, IndexError, MemoryError) as error:  # torch's are RuntimeErrors
            raise Unavailable(
                _("The cross-encoder of RERANKER_MODEL failed: {reason}."),
                code="reranker_unavailable",
                reason=type(error).__name__,
            ) from error
        return rated.tolist()


def configured_reranker() -> Reranker | None:
    """The cross-encoder of RERANKER_MODEL, kept for this process; None without one. Raises Unavailable."""
    path = settings.CONFIG.reranker_model
    return _load(path) if path else None


@lru_cache(maxsize=1)
def _load(path: str) -> Reranker:
    return CrossEncoderReranker(path)


DEPTH = 30


def rerank(
    query: str, found: Ranking, candidates: Candidates, reranker: Reranker
) -> tuple[Ranking, dict[int, LegScore]]:
    """Order the first ``DEPTH`` candidates by the reranker, equals as they were; the others follow. One query.

    Scores stay those of the legs, since a reranker's scale is its own; what it said is told by the chunk's key.

    :raises Unavailable: the reranker fails, or what it says can't be used.
    """
    first = candidates.chunk_ids[found.places[:DEPTH]].tolist()
    rows = Chunk.objects.filter(pk__in=first).values_list("pk", "context_prefix", "content")
    texts = {pk: prefix + content for pk, prefix, content in rows}
    known = [place for place, chunk_id in enumerate(first) if chunk_id in texts]
    if not known:
        return found, {}
    rated = _rated(query, [texts[first[place]] for place in known], reranker)
    order = sorted(range(len(known)), key=lambda one: -rated[one])
    said = {first[known[one]]: LegScore(rank=rank, raw=rated[one]) for rank, one in enumerate(order, 1)}
    moved = [known[one] for one in order]
    return found.at(np.array([*moved, *range(DEPTH, found.places.size)])), said


def _rated(query: str, passages: Sequence[str], reranker: Reranker) -> list[float]:
    rated = reranker.scores(query, passages)
    if len(rated) != len(passages) or not all(map(math.isfinite, rated)):
        raise Unavailable(
            _("The reranker {name} does not give one number for each passage."),
            code="reranker_unavailable",
            name=reranker.name,
        )
    return rated
