"""Put the first candidates in the order of a reranker, where one is configured."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext_lazy as _

from hub.core.errors import Unavailable
from knowledge.models import Chunk
from knowledge.ports import Reranker
from knowledge.search.candidates import Candidates
from knowledge.search.ranking import Ranking
from knowledge.types.search import LegScore

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
