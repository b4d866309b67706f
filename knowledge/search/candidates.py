"""What is told of passages that may be shown, in columns, read together with the permission to show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.models import EmbeddingSet
from knowledge.search.column_store import Columnar
from knowledge.search.postings import array_literal
from knowledge.search.scope import PermittedChunks
from knowledge.search.sql_columns import BOOLEAN, FLOAT, INTEGER, read_columns

# What a statement about candidates selects, of the tables c (chunks) and e (entries in the lexical index). A text
# without a mark is like no other; that another text's mark is its number is as likely as that two texts share one.
FACTS = """
c.id AS chunk_ids, c.version_id AS version_ids, coalesce(e.ordinal, 0) AS ordinals,
coalesce(e.fingerprint, -c.id) AS fingerprints, coalesce(e.is_contents, false) AS are_contents
"""
_KINDS = {
    "chunk_ids": INTEGER,
    "version_ids": INTEGER,
    "ordinals": INTEGER,
    "fingerprints": INTEGER,
    "are_contents": BOOLEAN,
    "cosines": FLOAT,
}
_READ = """
SELECT {facts}, {cosine} AS cosines
FROM knowledge_lexicalentry e JOIN knowledge_chunk c ON c.id = e.chunk_id {vectors}
WHERE e.ordinal = ANY(%s::integer[]) AND e.chunk_id IN ({permitted})
"""
_COSINE = "coalesce(1 - (v.vector <=> %s::halfvec), 'NaN')"
_VECTORS = "LEFT JOIN knowledge_chunkvector v ON v.embedding_set_id = %s AND v.chunk_id = c.id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates(Columnar):
    """Permitted chunks in columns of one length: keys, versions, numbers in the lexical index (0 outside of it), marks
    that equal texts share, whether they list headings, and cosines to the question (NaN without one, or without a
    vector in the set).
    """

    chunk_ids: NDArray[np.int64]
    version_ids: NDArray[np.int64]
    ordinals: NDArray[np.int64]
    fingerprints: NDArray[np.int64]
    are_contents: NDArray[np.bool_]
    cosines: NDArray[np.float64]

    def __len__(self) -> int:
        return self.chunk_ids.size


_NO_KEYS = np.zeros(0, np.int64)
NO_CANDIDATES = Candidates(
    chunk_ids=_NO_KEYS,
    version_ids=_NO_KEYS,
    ordinals=_NO_KEYS,
    fingerprints=_NO_KEYS,
    are_contents=np.zeros(0, bool),
    cosines=np.zeros(0),
)


def candidates_of(sql: str, params: Sequence[Any]) -> Candidates:
    """Run a SELECT of ``FACTS`` and cosines; the candidates come in its order. One query."""
    return Candidates(**read_columns(sql, params, _KINDS))


def read_candidates(
    ordinals: NDArray[np.int64],
    permitted: PermittedChunks,
    embedding_set: EmbeddingSet,
    *,
    near: str | None,
) -> Candidates:
    """Read those of some numbers in the index that stand for permitted chunks, with cosines to ``near`` if given.

    That is a vector as `vector_literal` writes it. In any order. At most one query.
    """
    if not ordinals.size:
        return NO_CANDIDATES
    cosine, vectors = ("'NaN'", "") if near is None else (_COSINE, _VECTORS)
    before: list[Any] = [] if near is None else [near, embedding_set.pk]
    sql = _READ.format(facts=FACTS, cosine=cosine, vectors=vectors, permitted=permitted.sql)
    return candidates_of(sql, [*before, array_literal(ordinals.tolist()), *permitted.params])
