"""The lexical leg: BM25 over packed postings of words and bigrams, permissions asked of the best candidates.

The postings of a query's terms are read in two queries and summed here, which takes a few milliseconds for a hundred
thousand passages. Permissions and filters are then asked in SQL, best candidates first, until enough are permitted;
when few passages are permitted at all, those alone are summed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import Cursor

from knowledge.backends.segments import unpack
from knowledge.models import EmbeddingSet, LexicalField
from knowledge.search.scope import PermittedChunks
from knowledge.search.weighing import FieldTerm, known_terms

# So many times more candidates are asked about when too few of the first ones were permitted.
NEXT_BATCH = 4
# Of a phrase's terms, so many narrow down where it may stand.
MOST_NARROWING = 6
# Chunk numbers that lie closer than this are summed by place in an array, others by sorting.
DENSE_SPAN = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalHit:
    """A chunk's share of the best possible BM25 score in each field, and its rank from 1 (None beyond the limit).

    ``codes`` is the share of the query's codes that the chunk has, ``matched`` the terms that it has.
    """

    chunk_id: int
    words: float
    bigrams: float
    rank: int | None
    codes: float = 0.0
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scores:
    """Candidates in columns: numbers in ascending order, and what each field says."""

    ordinals: NDArray[np.int64]
    words: NDArray[np.float64]
    bigrams: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        total: NDArray[np.float64] = self.words + self.bigrams
        return total

    def keep(self, ordinals: NDArray[np.int64]) -> _Scores:
        """Keep the candidates of a set."""
        kept = np.isin(self.ordinals, ordinals)
        return _Scores(ordinals=self.ordinals[kept], words=self.words[kept], bigrams=self.bigrams[kept])


_PARTS = ("share", "base", "slope")
_POSTINGS = """
SELECT p.term_id, p.packed FROM knowledge_lexicalposting p JOIN knowledge_lexicalsegment s ON s.id = p.segment_id
WHERE p.term_id = ANY(%s) AND (s.policy_id IS NULL OR s.policy_id = %s)
"""
_PERMITTED = """
SELECT e.ordinal, e.chunk_id FROM knowledge_lexicalentry e
WHERE e.ordinal = ANY(%s) AND e.chunk_id IN ({permitted})
"""
_ALL_PERMITTED = """
SELECT e.ordinal, e.chunk_id FROM knowledge_lexicalentry e WHERE e.chunk_id IN ({permitted})
"""
_ENTRIES = "SELECT ordinal, chunk_id FROM knowledge_lexicalentry WHERE ordinal = ANY(%s)"
_ALSO = "SELECT ordinal, chunk_id FROM knowledge_lexicalentry WHERE chunk_id = ANY(%s)"


def lexical_hits(
    terms: Sequence[FieldTerm],
    permitted: PermittedChunks,
    embedding_set: EmbeddingSet,
    *,
    limit: int,
    also: Sequence[int] = (),
    codes: Sequence[str] = (),
    tell_terms: bool = False,
) -> list[LexicalHit]:
    """Score the permitted chunks that have any term: the best ``limit``, and those of ``also`` wherever they rank.

    In order of rank, equals by their number in the index. Chunks of ``also``, which must be permitted ones, are missing
    when they have none of the terms. Of the terms that a chunk has, ``codes`` are told, or all with ``tell_terms``.
    Three queries, and one more each time that too few of the best candidates were permitted.
    """
    if not terms or permitted.is_empty:
        return []
    read = _read_postings([term.term_id for term in terms], embedding_set.policy_id)
    scores = _score(terms, read)
    if permitted.is_small:
        chunk_ids = _ask(_ALL_PERMITTED.format(permitted=permitted.sql), [*permitted.params])
        best = _best(scores.keep(np.array(list(chunk_ids), np.int64)), chunk_ids, limit)
    else:
        best = _best_permitted(scores, permitted, limit)
    others = _ask(_ALSO, [list(also)]) if also else {}
    chunk_ids = {**others, **best}
    wanted = scores.keep(np.array(list(chunk_ids), np.int64))
    hits = _hits(wanted, chunk_ids, {ordinal: rank for rank, ordinal in enumerate(best, 1)})
    texts = _matched([term for term in terms if tell_terms or term.text in codes], read, wanted.ordinals)
    hits = [replace(hit, matched=own, codes=_share(codes, own)) for hit, own in zip(hits, texts, strict=True)]
    return sorted(hits, key=lambda hit: (hit.rank or limit + 1, -hit.words - hit.bigrams, hit.chunk_id))


def _share(codes: Sequence[str], terms: Sequence[str]) -> float:
    return sum(code in terms for code in codes) / len(codes) if codes else 0.0


def chunks_with_all(terms: Sequence[str], embedding_set: EmbeddingSet) -> list[int]:
    """Find the set's chunks that have all of some terms of the field bigrams. Up to three queries."""
    field = LexicalField.BIGRAM.value
    known = known_terms({field: dict.fromkeys(terms, 1.0)}, embedding_set.policy_id)[field]
    if len(known) < len(terms):
        return []
    rarest = sorted(known, key=lambda term: term.chunks)[:MOST_NARROWING]
    postings = _read_postings([term.term_id for term in rarest], embedding_set.policy_id)
    numbers = reduce(np.intersect1d, (rows["ordinal"] for rows in postings.values()))
    return list(_ask(_ENTRIES, [numbers.tolist()]).values())


def _best_permitted(scores: _Scores, permitted: PermittedChunks, limit: int) -> dict[int, int]:
    """Ask which of the best candidates are permitted, more and more of them; number → chunk id, the best first."""
    found: dict[int, int] = {}
    for ordinals in _batches(scores, limit):
        sql = _PERMITTED.format(permitted=permitted.sql)
        found |= _ask(sql, [ordinals.tolist(), *permitted.params])
        if len(found) >= limit:
            break
    return _best(scores.keep(np.array(list(found), np.int64)), found, limit)


def _batches(scores: _Scores, limit: int) -> Iterator[NDArray[np.int64]]:
    """Cut the candidates into batches that grow, the best first; of equals the smaller number comes first."""
    total, size = scores.total, limit
    first = _top(total, size)
    yield scores.ordinals[first]
    order = np.argsort(-total, kind="stable") if len(total) > len(first) else first
    start = len(first)
    while start < len(order):
        size *= NEXT_BATCH
        yield scores.ordinals[order[start : start + size]]
        start += size


def _top(total: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Give the places of the ``size`` largest values, of equals the first ones, without sorting all."""
    if size >= len(total):
        return np.arange(len(total))
    least = np.partition(total, len(total) - size)[len(total) - size]
    above, equal = np.flatnonzero(total > least), np.flatnonzero(total == least)
    return np.concatenate([above, equal[: size - len(above)]])


def _best(scores: _Scores, chunk_ids: Mapping[int, int], limit: int) -> dict[int, int]:
    """Put candidates in order, the best first, of equals the smaller number: number → chunk id."""
    order = np.argsort(-scores.total, kind="stable")[:limit]
    return {ordinal: chunk_ids[ordinal] for ordinal in scores.ordinals[order].tolist()}


def _ask(sql: str, params: list[Any]) -> dict[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return dict(cursor.fetchall())


def _matched(
    terms: Sequence[FieldTerm], postings: Mapping[int, NDArray[np.void]], ordinals: NDArray[np.int64]
) -> list[tuple[str, ...]]:
    """Give for each of the numbers the terms that the chunk has, each once."""
    matched: list[dict[str, None]] = [{} for _ in ordinals]
    for term in terms:
        for place in np.flatnonzero(np.isin(ordinals, postings[term.term_id]["ordinal"])).tolist():
            matched[place][term.text] = None
    return [tuple(texts) for texts in matched]


def _hits(wanted: _Scores, chunk_ids: Mapping[int, int], ranks: Mapping[int, int]) -> list[LexicalHit]:
    ordinals, words, bigrams = wanted.ordinals.tolist(), wanted.words.tolist(), wanted.bigrams.tolist()
    return [
        LexicalHit(
            chunk_id=chunk_ids[ordinal],
            words=min(1.0, words[place]),
            bigrams=min(1.0, bigrams[place]),
            rank=ranks.get(ordinal),
        )
        for place, ordinal in enumerate(ordinals)
    ]


def _read_postings(term_ids: Sequence[int], policy_id: int) -> dict[int, NDArray[np.void]]:
    packed: dict[int, list[bytes]] = {term_id: [] for term_id in term_ids}
    # Binary, since bytes are otherwise sent as text of twice the size; Django's own cursors can't.
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(_POSTINGS, [list(packed), policy_id], binary=True)
        for term_id, piece in cursor:
            packed[term_id].append(piece)
    return {term_id: unpack(b"".join(pieces)) for term_id, pieces in packed.items()}


def _score(terms: Sequence[FieldTerm], postings: Mapping[int, NDArray[np.void]]) -> _Scores:
    """Sum what each term brings, by chunk number and field."""
    found = {field: [term for term in terms if term.field == field] for field in LexicalField.values}
    rows = np.concatenate([postings[term.term_id] for field in found.values() for term in field] or [unpack(b"")])
    ordinals = rows["ordinal"].astype(np.int64)
    if not ordinals.size:
        return _Scores(ordinals=ordinals, words=np.zeros(0), bigrams=np.zeros(0))
    ordered = [term for field in found.values() for term in field]
    counts = [len(postings[term.term_id]) for term in ordered]
    share, base, slope = (np.repeat([getattr(term, name) for term in ordered], counts) for name in _PARTS)
    tf = rows["tf"].astype(np.float64)
    brought = share * tf / (tf + base + slope * rows["length"])
    words = sum(len(postings[term.term_id]) for term in found[LexicalField.WORD])
    places, numbers = _places(ordinals)
    sums = [
        np.bincount(places[piece], brought[piece], minlength=len(numbers)).astype(np.float64)
        for piece in (slice(0, words), slice(words, None))
    ]
    occurs = np.flatnonzero(sums[0] + sums[1])
    return _Scores(ordinals=numbers[occurs], words=sums[0][occurs], bigrams=sums[1][occurs])


def _places(ordinals: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give each posting's place in an array of candidates, and the number of the chunk at each place."""
    low, high = int(ordinals.min()), int(ordinals.max())
    if high - low < max(DENSE_SPAN, ordinals.size):
        return ordinals - low, np.arange(low, high + 1)
    numbers, places = np.unique(ordinals, return_inverse=True)
    return places, numbers
