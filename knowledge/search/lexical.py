"""The lexical leg: BM25 in PostgreSQL over words and bigrams, permissions inside the query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import connection

from knowledge.backends.analysis import QueryTerms
from knowledge.models import LexicalField, LexicalStatistics
from knowledge.search.scope import PermittedChunks

# Of each field the rarest terms are asked; commoner ones cost the most and say the least.
MAX_TERMS: Mapping[int, int] = {LexicalField.WORD: 16, LexicalField.BIGRAM: 24}
# A term in more chunks is asked only when the query has no rarer one.
COMMON_TERM_CHUNKS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25:
    """BM25's two constants. Low k1 suits passages: a word said once is nearly as good as twice."""

    k1: float
    b: float


# Best of a grid on two Japanese question sets.
CONSTANTS: Mapping[int, Bm25] = {LexicalField.WORD: Bm25(k1=0.4, b=0.6), LexicalField.BIGRAM: Bm25(k1=0.8, b=0.75)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTerm:
    """A term to ask for: ``share`` is the part of the best possible score that it can bring.

    A posting brings ``share * tf / (tf + base + slope * length)``: BM25 with its constants multiplied out.
    """

    term_id: int
    field: int
    share: float
    base: float
    slope: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalHit:
    """A chunk's share of the best possible BM25 score in each field, and its rank from 1 (None beyond the limit)."""

    chunk_id: int
    words: float
    bigrams: float
    rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownTerm:
    term_id: int
    text: str
    chunks: int


_KNOWN_TERMS = """
SELECT t.field, t.text, t.id,
  (SELECT count(*) FROM (SELECT FROM knowledge_lexicalposting p WHERE p.term_id = t.id LIMIT %s) AS found)
FROM knowledge_lexicalterm t
JOIN unnest(%s::smallint[], %s::text[]) AS given (field, text) ON t.field = given.field AND t.text = given.text
"""
_SCORES = """
WITH term AS MATERIALIZED (
  SELECT * FROM unnest(%s::bigint[], %s::smallint[], %s::float8[], %s::float8[], %s::float8[])
    AS given (id, field, share, base, slope)
), found AS (
  SELECT p.chunk_id, term.field, term.share * p.tf / (p.tf + term.base + term.slope * p.length) AS score
  FROM term JOIN knowledge_lexicalposting p ON p.term_id = term.id
  WHERE p.chunk_id IN ({permitted})
), scored AS (
  SELECT chunk_id,
    least(1.0, coalesce(sum(score) FILTER (WHERE field = %s), 0)) AS words,
    least(1.0, coalesce(sum(score) FILTER (WHERE field = %s), 0)) AS bigrams
  FROM found GROUP BY chunk_id
), ranked AS (
  SELECT *, row_number() OVER (ORDER BY words + bigrams DESC, chunk_id) AS rank FROM scored
)
SELECT chunk_id, words, bigrams, rank FROM ranked WHERE rank <= %s OR chunk_id = ANY(%s) ORDER BY rank
"""


def weigh_terms(terms: QueryTerms) -> list[FieldTerm]:
    """Look up which of a query's terms the index knows and what each is worth. At most two queries.

    The best possible score counts the caller's own terms that no chunk has, too: a passage that answers only the
    known half of a question gets at most half. Rarity is that of the whole index, whoever asks.
    """
    if not terms:
        return []
    fields = {LexicalField.WORD.value: terms.words, LexicalField.BIGRAM.value: terms.bigrams}
    known = _known_terms(fields)
    statistics = {row.field: row for row in LexicalStatistics.objects.all()}
    weighed: list[FieldTerm] = []
    for field, weights in fields.items():
        if known[field] and (row := statistics.get(field)) and row.chunks:
            weighed += _weigh_field(field, weights, known[field], row)
    return weighed


def lexical_hits(
    terms: Sequence[FieldTerm], permitted: PermittedChunks, *, limit: int, also: Sequence[int] = ()
) -> list[LexicalHit]:
    """Score the permitted chunks that have any term: the best ``limit``, and those of ``also`` wherever they rank.

    In order of rank, equals by chunk id. One query. Chunks of ``also`` without any of the terms are missing.
    """
    if not terms or permitted.is_empty:
        return []
    columns = [[getattr(term, name) for term in terms] for name in ("term_id", "field", "share", "base", "slope")]
    with connection.cursor() as cursor:
        cursor.execute(
            _SCORES.format(permitted=permitted.sql),
            [*columns, *permitted.params, LexicalField.WORD, LexicalField.BIGRAM, limit, list(also)],
        )
        rows = cursor.fetchall()
    return [
        LexicalHit(chunk_id=chunk_id, words=words, bigrams=bigrams, rank=rank if rank <= limit else None)
        for chunk_id, words, bigrams, rank in rows
    ]


def _known_terms(fields: Mapping[int, Mapping[str, float]]) -> dict[int, list[_KnownTerm]]:
    pairs = [(field, text) for field, weights in fields.items() for text in weights]
    known: dict[int, list[_KnownTerm]] = {field: [] for field in fields}
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN_TERMS, [COMMON_TERM_CHUNKS + 1, *map(list, zip(*pairs, strict=True))])
        for field, text, term_id, chunks in cursor.fetchall():
            if chunks:
                known[field].append(_KnownTerm(term_id=term_id, text=text, chunks=chunks))
    return known


def _weigh_field(
    field: int, weights: Mapping[str, float], known: list[_KnownTerm], statistics: LexicalStatistics
) -> list[FieldTerm]:
    bm25, average_length = CONSTANTS[field], statistics.total_length / statistics.chunks
    asked = _rarest(known, MAX_TERMS[field])
    rarity = {term.text: _idf(term.chunks, statistics.chunks) for term in asked}
    found = {term.text for term in known}
    missing = sum(weight for text, weight in weights.items() if weight == 1.0 and text not in found)
    best = sum(rarity[text] for text in rarity if weights[text] == 1.0) + missing * _idf(1, statistics.chunks)
    # A query of nothing but synonyms' terms still has a best score: all of those.
    best = best or sum(weights[text] * idf for text, idf in rarity.items())
    return [
        FieldTerm(
            term_id=term.term_id,
            field=field,
            share=weights[term.text] * rarity[term.text] / best,
            base=bm25.k1 * (1 - bm25.b),
            slope=bm25.k1 * bm25.b / average_length,
        )
        for term in asked
    ]


def _rarest(known: list[_KnownTerm], limit: int) -> list[_KnownTerm]:
    ordered = sorted(known, key=lambda term: (term.chunks, term.text))
    return [term for term in ordered[:limit] if term.chunks <= COMMON_TERM_CHUNKS] or ordered[:1]


def _idf(chunks_with_term: int, chunks: int) -> float:
    """Rate a term's rarity, always above zero. Source: Lucene's BM25Similarity, after Robertson & Zaragoza 2009."""
    return math.log(1 + (max(chunks, chunks_with_term) - chunks_with_term + 0.5) / (chunks_with_term + 0.5))
