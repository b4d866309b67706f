"""Put the first candidates in the order of a reranker, where one is configured."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.models import Chunk
from knowledge.ports import Reranker
from knowledge.search.ranking import Scored
from knowledge.types import LegScore

DEPTH = 30


def rerank(query: str, found: Sequence[Scored], reranker: Reranker) -> list[Scored]:
    """Order the first ``DEPTH`` candidates by the reranker, equals as they were; the others follow. One query.

    Scores stay those of the legs, since a reranker's scale is its own; it is shown as a leg.
    """
    first = found[:DEPTH]
    rows = Chunk.objects.filter(pk__in=[one.chunk_id for one in first]).values_list("pk", "context_prefix", "content")
    texts = {pk: prefix + content for pk, prefix, content in rows}
    known = [one for one in first if one.chunk_id in texts]
    if not known:
        return list(found)
    rated = reranker.scores(query, [texts[one.chunk_id] for one in known])
    order = sorted(range(len(known)), key=lambda place: -rated[place])
    moved = [
        known[place]._replace(legs={**known[place].legs, "reranker": LegScore(rank=rank, raw=rated[place])})
        for rank, place in enumerate(order, 1)
    ]
    return [*moved, *found[DEPTH:]]
