"""What is told of a passage that may be shown, read together with the permission to show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from knowledge.backends.vectors import vector_literal
from knowledge.models import EmbeddingSet
from knowledge.search.postings import array_literal
from knowledge.search.scope import PermittedChunks

_READ = """
SELECT e.chunk_id, c.version_id, e.ordinal, e.fingerprint, {cosine}, e.is_contents
FROM knowledge_lexicalentry e JOIN knowledge_chunk c ON c.id = e.chunk_id {vectors}
WHERE e.ordinal = ANY(%s::integer[]) AND e.chunk_id IN ({permitted})
"""
_COSINE = "1 - (v.vector <=> %s::halfvec)"
_VECTORS = "LEFT JOIN knowledge_chunkvector v ON v.embedding_set_id = %s AND v.chunk_id = c.id"


# A tuple, as what is made of it until it is ranked: a search has hundreds, and dataclasses take four times as long.
class Candidate(NamedTuple):
    """A permitted chunk: its number in the lexical index (None outside of it), its version, its text's mark.

    ``is_contents`` when it lists headings, None outside of the index. ``cosine`` is that to the question; None without
    one, or without a vector in the set. Statements that read candidates have their columns in this order.
    """

    chunk_id: int
    version_id: int
    ordinal: int | None
    fingerprint: int | None
    cosine: float | None = None
    is_contents: bool | None = None


def read_candidates(
    ordinals: Sequence[int],
    permitted: PermittedChunks,
    embedding_set: EmbeddingSet,
    *,
    near: NDArray[np.float32] | None,
) -> dict[int, Candidate]:
    """Read those of some numbers in the index that stand for permitted chunks, with cosines to ``near`` if given.

    By their numbers. At most one query.
    """
    if not ordinals:
        return {}
    cosine, vectors = ("NULL", "") if near is None else (_COSINE, _VECTORS)
    before: list[Any] = [] if near is None else [vector_literal(near), embedding_set.pk]
    sql = _READ.format(cosine=cosine, vectors=vectors, permitted=permitted.sql)
    with connection.cursor() as cursor:
        cursor.execute(sql, [*before, array_literal(ordinals), *permitted.params])
        return {row[2]: Candidate._make(row) for row in cursor.fetchall()}
