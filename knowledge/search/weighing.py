"""What each of a query's terms is worth: BM25's constants, rarity, and which terms are asked at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q

from knowledge.backends.analysis import QueryTerms
from knowledge.models import EmbeddingSet, LexicalField, LexicalStatistics

# Of each field the rarest terms are asked; commoner ones cost the most and say the least.
MAX_TERMS: Mapping[int, int] = {LexicalField.WORD: 16, LexicalField.BIGRAM: 24}
# A field's terms are asked, the rarest first, while they have together no more postings than this.
POSTINGS_BUDGET = 500_000


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
    text: str
    field: int
    share: float
    base: float
    slope: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTerm:
    """A term that the index has, and how many chunks have it."""

    term_id: int
    text: str
    chunks: int


_KNOWN_TERMS = """
SELECT t.field, t.text, t.id, sum(p.chunks)::bigint
FROM knowledge_lexicalterm t
JOIN unnest(%s::smallint[], %s::text[]) AS given (field, text) ON t.field = given.field AND t.text = given.text
JOIN knowledge_lexicalposting p ON p.term_id = t.id JOIN knowledge_lexicalsegment s ON s.id = p.segment_id
WHERE (s.policy_id IS NULL OR s.policy_id = %s) GROUP BY t.id
"""


def weigh_terms(terms: QueryTerms, embedding_set: EmbeddingSet) -> list[FieldTerm]:
    """Look up which of a query's terms the set's chunks have and what each is worth. At most two queries.

    The best possible score counts the caller's own terms that no chunk has, too: a passage that answers only the
    known half of a question gets at most half. Rarity is that of all the set's chunks, whoever asks; chunks of sets
    that cut otherwise do not count.
    """
    if not terms:
        return []
    fields = {LexicalField.WORD.value: terms.words, LexicalField.BIGRAM.value: terms.bigrams}
    known = known_terms(fields, embedding_set.policy_id)
    statistics = _statistics(embedding_set.policy_id)
    weighed: list[FieldTerm] = []
    for field, weights in fields.items():
        if known[field] and statistics[field][0]:
            weighed += _weigh_field(field, weights, known[field], *statistics[field])
    return weighed


def known_terms(fields: Mapping[int, Mapping[str, float]], policy_id: int) -> dict[int, list[KnownTerm]]:
    """Look up the terms of each field that a set of this policy has. One query."""
    pairs = [(field, text) for field, weights in fields.items() for text in weights]
    known: dict[int, list[KnownTerm]] = {field: [] for field in fields}
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN_TERMS, [*map(list, zip(*pairs, strict=True)), policy_id])
        for field, text, term_id, chunks in cursor.fetchall():
            known[field].append(KnownTerm(term_id=term_id, text=text, chunks=chunks))
    return known


def _statistics(policy_id: int) -> dict[int, tuple[int, int]]:
    """Count chunks and terms of each field that a set of this policy searches. One query."""
    totals = dict.fromkeys(LexicalField.values, (0, 0))
    for row in LexicalStatistics.objects.filter(Q(policy_id=policy_id) | Q(policy_id=None)):
        chunks, length = totals[row.field]
        totals[row.field] = (chunks + row.chunks, length + row.total_length)
    return totals


def _weigh_field(
    field: int, weights: Mapping[str, float], known: list[KnownTerm], chunks: int, total_length: int
) -> list[FieldTerm]:
    bm25, average_length = CONSTANTS[field], total_length / chunks
    asked = _rarest(known, MAX_TERMS[field])
    rarity = {term.text: _idf(term.chunks, chunks) for term in asked}
    found = {term.text for term in known}
    missing = sum(weight for text, weight in weights.items() if weight == 1.0 and text not in found)
    best = sum(rarity[text] for text in rarity if weights[text] == 1.0) + missing * _idf(1, chunks)
    # A query of nothing but synonyms' terms still has a best score: all of those.
    best = best or sum(weights[text] * idf for text, idf in rarity.items())
    return [
        FieldTerm(
            term_id=term.term_id,
            text=term.text,
            field=field,
            share=weights[term.text] * rarity[term.text] / best,
            base=bm25.k1 * (1 - bm25.b),
            slope=bm25.k1 * bm25.b / average_length,
        )
        for term in asked
    ]


def _rarest(known: list[KnownTerm], limit: int) -> list[KnownTerm]:
    """Take the rarest terms while the budget lasts, one at least."""
    taken: list[KnownTerm] = []
    budget = POSTINGS_BUDGET
    for term in sorted(known, key=lambda term: (term.chunks, term.text))[:limit]:
        budget -= term.chunks
        if taken and budget < 0:
            break
        taken.append(term)
    return taken


def _idf(chunks_with_term: int, chunks: int) -> float:
    """Rate a term's rarity, always above zero. Source: Lucene's BM25Similarity, after Robertson & Zaragoza 2009."""
    return math.log(1 + (max(chunks, chunks_with_term) - chunks_with_term + 0.5) / (chunks_with_term + 0.5))
