"""Passages that may be shown, in columns, read together with the permission to show them.

The nearest by cosine come over HNSW or exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hub.core.routing import read_connection
from knowledge.models import EmbeddingSet
from knowledge.search.database import BOOLEAN, FLOAT, INTEGER, read_columns
from knowledge.search.fusion import Columnar
from knowledge.search.postings import array_literal
from knowledge.search.scope import PermittedChunks

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateReader:
    """Reads which numbers in the index stand for permitted chunks; those that are known are not read again."""

    permitted: PermittedChunks
    embedding_set: EmbeddingSet
    near: str | None
    known: Candidates

    def new(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        return ordinals[~np.isin(ordinals, self.known.ordinals)]

    def read(self, ordinals: NDArray[np.int64]) -> Candidates:
        return read_candidates(ordinals, self.permitted, self.embedding_set, near=self.near)


# A leg's candidates. Of so many vectors, twice as many: at a million a walk that keeps 200 misses some whole groups of
# near ones; at a hundred thousand it misses none, and keeping 400 would take ten milliseconds more.
EF_SEARCH = 200
EF_SEARCH_OF_MANY = 400
MANY_VECTORS = 300_000
# Under a filter: the ten nearest of a tenth are among the hundred nearest of all, and the later ones of what the walk
# keeps at once are found less surely.
EF_SEARCH_FILTERED = 800
# How far the walk goes on under a filter before it gives up: ten times pgvector's default, so that a filter that lets
# one in a hundred pass still finds a leg's candidates.
MAX_SCAN_TUPLES = 200_000

# relaxed_order goes on until enough permitted rows are found; a filter would leave too few otherwise. A custom plan
# sees the set's id, which the partial index needs.
_SETTINGS = f"""
SET LOCAL hnsw.iterative_scan = 'relaxed_order';
SET LOCAL hnsw.max_scan_tuples = {MAX_SCAN_TUPLES};
SET LOCAL plan_cache_mode = 'force_custom_plan';
SELECT set_config('hnsw.ef_search', ({{ef_search}})::text, true)
"""
# By what PostgreSQL counted last; one that has never counted says -1.
_EF_BY_SIZE = f"""
SELECT CASE WHEN reltuples < {MANY_VECTORS} THEN {EF_SEARCH} ELSE {EF_SEARCH_OF_MANY} END
FROM pg_class WHERE oid = 'knowledge_chunkvector'::regclass
"""  # noqa: S608 - constants
# As an array the keys are looked up in their order, page by page, which takes half as long as joining them.
_EXACT = """
SELECT v.chunk_id, 1 - (v.vector <=> %s::halfvec) AS cosine
FROM knowledge_chunkvector v WHERE v.embedding_set_id = %s AND v.chunk_id = ANY(ARRAY({permitted}))
ORDER BY cosine DESC, v.chunk_id LIMIT %s
"""
# Materialised, for a plan that reads passages first would walk through the index for each of them.
_WITH_FACTS = f"""
WITH nearest (chunk_id, cosine) AS MATERIALIZED ({{nearest}})
SELECT {FACTS}, n.cosine AS cosines
FROM nearest n JOIN knowledge_chunk c ON c.id = n.chunk_id LEFT JOIN {{entries}} ON e.chunk_id = n.chunk_id
"""  # noqa: S608 - constants
_ENTRIES = "knowledge_lexicalentry e"
_NO_ENTRIES = """
(SELECT NULL::bigint, NULL::integer, NULL::bigint, NULL::boolean) AS e (chunk_id, ordinal, fingerprint, is_contents)
"""
# The scalar subquery can't become a join, so the index is walked in order and rows are checked on the way.
_APPROXIMATE = """
SELECT chunk_id, 1 - distance FROM (
  SELECT v.chunk_id, v.vector::halfvec({dimension}) <=> %s::halfvec({dimension}) AS distance
  FROM knowledge_chunkvector v
  WHERE v.embedding_set_id = {key}
    AND (SELECT true FROM ({permitted}) AS permitted (id) WHERE permitted.id = v.chunk_id)
  ORDER BY distance LIMIT %s
) AS nearest
"""
_COSINES = """
SELECT chunk_id, 1 - (vector <=> %s::halfvec) FROM knowledge_chunkvector
WHERE embedding_set_id = %s AND chunk_id = ANY(%s)
"""


def nearest_chunks(embedding_set: EmbeddingSet, vector: str, permitted: PermittedChunks, *, limit: int) -> Candidates:
    """Find the permitted chunks nearest to a query vector of the set, the nearest first; equals by chunk id.

    The vector is given as `vector_literal` writes it. Exact when few chunks are permitted. What is told of the chunks
    comes from the lexical index, unless that can't be read. Call it inside a transaction. Up to four queries.
    """
    if permitted.is_empty:
        return NO_CANDIDATES
    if permitted.is_comparable:
        sql = _EXACT.format(permitted=permitted.sql)
        return _nearest(sql, [vector, embedding_set.pk, *permitted.params, limit], permitted)
    with read_connection().cursor() as cursor:
        cursor.execute(_SETTINGS.format(ef_search=EF_SEARCH_FILTERED if permitted.is_filtered else _EF_BY_SIZE))
    sql = _APPROXIMATE.format(
        dimension=int(embedding_set.dimension), key=int(embedding_set.pk), permitted=permitted.sql
    )
    return _nearest(sql, [vector, *permitted.params, limit], permitted)


def cosines_of(embedding_set: EmbeddingSet, vector: str, chunk_ids: Sequence[int]) -> dict[int, float]:
    """Compute the exact cosine of given chunks to a vector (likewise); one without a vector in the set is missing.

    At most one query.
    """
    if not chunk_ids:
        return {}
    with read_connection().cursor() as cursor:
        cursor.execute(_COSINES, [vector, embedding_set.pk, list(chunk_ids)])
        return dict(cursor.fetchall())


def _nearest(sql: str, params: list[Any], permitted: PermittedChunks) -> Candidates:
    entries = _ENTRIES if permitted.has_index else _NO_ENTRIES
    found = candidates_of(_WITH_FACTS.format(nearest=sql, entries=entries), params)
    return found.at(np.lexsort((found.chunk_ids, -found.cosines)))
