"""What each of a query's terms is worth: BM25's constants, rarity, and which terms are asked at all.

Words are counted in what the caller may see, so that no score tells of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, repeat
from typing import Any

import numpy as np

from hub.core.routing import read_connection
from knowledge.index.analysis import OtherName, QueryTerms
from knowledge.index.bm25_constants import CONSTANTS
from knowledge.models import EmbeddingSet, LexicalField
from knowledge.search.postings import Piece, PieceKey, read_pieces
from knowledge.search.visible import Seen, SegmentKey, VisibleVersions, store

# Of each field so many terms are asked, the rarest; commoner ones cost the most and say the least.
MAX_TERMS: Mapping[int, int] = {LexicalField.WORD: 16, LexicalField.BIGRAM: 24}
# What another name of something asked for brings, of what the asked name would. Nearly as much, so that the whole other
# name outweighs parts of the asked one; less, so that where both are as often said, the asked one comes first.
SYNONYM_WEIGHT = 0.85
# Of another name so many terms are asked, the rarest: what has these hardly lacks the others.
MOST_OF_NAME = 4
# A field's terms are asked while they have together no more postings than this.
POSTINGS_BUDGET = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Synonym:
    """Which other name a term is of, and which of the caller's own terms in the same field that name stands for."""

    name: str
    instead_of: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTerm:
    """A term to ask for: ``share`` is the part of the best possible score that it can bring.

    A posting brings ``share * tf / (tf + base + slope * length)``: BM25 with its constants multiplied out. What terms
    with a ``synonym`` bring is not added to what they stand for: of both, the larger counts. ``chunks`` is how many
    chunks have it, among so many ``passages``. ``seen`` are the chunks that the caller may see, None for all.
    """

    term_id: int
    text: str
    field: int
    share: float
    base: float
    slope: float
    pieces: tuple[PieceKey, ...]
    chunks: int
    synonym: Synonym | None = None
    passages: int = 0
    seen: Seen | None = None

    def brings(self, tf: Any, length: Any) -> Any:  # noqa: ANN401 - numbers, or columns of them
        """Return what postings bring that have the term so often in passages of so many terms."""
        return self.share * tf / (tf + self.base + self.slope * length)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTerm:
    """A term that the index has, how many chunks have it, and which postings say so.

    ``seen`` are the chunks that the caller may see, in which it was counted; None for all.
    """

    term_id: int
    text: str
    chunks: int
    pieces: tuple[PieceKey, ...]
    seen: Seen | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownField:
    """Of one field: the terms that a set has, and how many chunks, with how many terms in all, it searches."""

    terms: list[KnownTerm] = field(default_factory=list)
    chunks: int = 0
    total_length: int = 0


_TERMS = """
WITH segment AS MATERIALIZED (
  SELECT id, xmin::text::bigint AS written_by FROM knowledge_lexicalsegment WHERE policy_id IS NULL OR policy_id = %s
)
SELECT t.field, t.text, t.id, sum(p.chunks)::bigint, array_agg(p.segment_id), array_agg(p.xmin::text::bigint){more}
FROM knowledge_lexicalterm t
JOIN unnest(%s::smallint[], %s::text[]) AS given (field, text) ON t.field = given.field AND t.text = given.text
JOIN knowledge_lexicalposting p ON p.term_id = t.id JOIN segment s ON s.id = p.segment_id
GROUP BY t.id
UNION ALL
"""
# Rows without a text are statistics: chunks, and the sum of their lengths in the place of the segments.
_OF_ALL = f"""{_TERMS.format(more="")}
SELECT field, NULL, NULL, sum(chunks)::bigint, ARRAY[sum(total_length)::bigint], NULL
FROM knowledge_lexicalstatistics WHERE policy_id IS NULL OR policy_id = %s GROUP BY field
"""  # noqa: S608 - constants
# The row without a text is what words are counted in: all segments, and the versions, as they are sent in binary.
_OF_VISIBLE = f"""{_TERMS.format(more=", NULL::bytea")}
SELECT NULL, NULL, NULL, NULL, array_agg(id), array_agg(written_by), (
  SELECT string_agg(int8send(visible.id::bigint), '') FROM ({{visible}}) AS visible (id)
) FROM segment
"""  # noqa: S608 - constants


def weigh_terms(terms: QueryTerms, embedding_set: EmbeddingSet, *, visible: VisibleVersions | None) -> list[FieldTerm]:
    """Look up which of a query's terms the set's chunks have and what each is worth.

    One query; up to three more, for a caller who may not see everything, to read what this process has not read before.

    The best possible score counts the caller's own terms that no chunk has, too: a passage that answers only the
    known half of a question gets at most half. Rarity is that of all the set's chunks of the ``visible`` versions, or
    of all (None), however the search is filtered; chunks of sets that cut otherwise do not count.
    """
    if not terms:
        return []
    fields = {
        LexicalField.WORD.value: (terms.words, terms.other_words),
        LexicalField.BIGRAM.value: (terms.bigrams, terms.other_bigrams),
    }
    texts = {
        name: dict.fromkeys([*weights, *(text for other in others for text in other.terms)])
        for name, (weights, others) in fields.items()
    }
    known = known_terms(texts, embedding_set.policy_id, visible=visible)
    weighed: list[FieldTerm] = []
    for name, (weights, others) in fields.items():
        if known[name].terms and known[name].chunks:
            weighed += weigh_field(name, weights, others, known[name], terms.codes)
    return weighed


def known_terms(
    fields: Mapping[int, Collection[str]], policy_id: int, *, visible: VisibleVersions | None
) -> dict[int, KnownField]:
    """Look up what a set of this policy has of the terms of each field, in all versions (None) or the visible ones.

    Queries as for `weigh_terms`.
    """
    pairs = [(name, text) for name, texts in fields.items() for text in texts]
    given: list[Any] = [policy_id, [name for name, _text in pairs], [text for _name, text in pairs]]
    if visible is None:
        return _known_of_all(fields, [*given, policy_id])
    return _known_of_visible(fields, given, visible)


def _known_of_all(fields: Collection[int], given: Sequence[Any]) -> dict[int, KnownField]:
    known = {name: KnownField() for name in fields}
    with read_connection().cursor() as cursor:
        cursor.execute(_OF_ALL, given)
        for name, text, term_id, chunks, segments, writers in cursor.fetchall():
            if name not in known:
                continue
            if text is None:
                known[name] = replace(known[name], chunks=chunks, total_length=segments[0])
                continue
            pieces = tuple(map(PieceKey, repeat(term_id), segments, writers))
            known[name].terms.append(KnownTerm(term_id=term_id, text=text, chunks=chunks, pieces=pieces))
    return known


def _known_of_visible(fields: Collection[int], given: Sequence[Any], visible: VisibleVersions) -> dict[int, KnownField]:
    with read_connection().cursor() as cursor:
        cursor.execute(_OF_VISIBLE.format(visible=visible.sql), [*given, *visible.params])
        rows = cursor.fetchall()
    (totals,) = (row for row in rows if row[0] is None)
    rows.remove(totals)
    *_nothing, segments, writers, versions = totals
    keys = list(map(SegmentKey, segments or (), writers or ()))
    seen = store.seen(np.frombuffer(versions or b"", ">i8").astype(np.int64), keys)
    known = {name: KnownField(chunks=seen.chunks(name), total_length=seen.total_length(name)) for name in fields}
    of_terms = [seen.named(map(PieceKey, repeat(row[2]), row[4], row[5])) for row in rows]
    counts = iter(seen.counts([key for pieces in of_terms for key in pieces]))
    for (name, text, term_id, *_more), pieces in zip(rows, of_terms, strict=True):
        chunks = sum(islice(counts, len(pieces)))
        if chunks:
            term = KnownTerm(term_id=term_id, text=text, chunks=chunks, pieces=pieces, seen=seen)
            known[name].terms.append(term)
    return known


def visible_pieces(terms: Sequence[FieldTerm] | Sequence[KnownTerm]) -> dict[PieceKey, Piece]:
    """Read the postings of terms that were looked up together, of the chunks that their caller may see.

    At most one query.
    """
    pieces = read_pieces([key for term in terms for key in term.pieces])
    seen = next((term.seen for term in terms), None)
    return seen.keep(pieces) if seen else pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    """Makes the terms of one field, of a set with so many chunks of that average length."""

    field: int
    chunks: int
    average_length: float

    def rarity(self, term: KnownTerm | None) -> float:
        """Rate a term's rarity; one that no chunk has is as rare as one that a single chunk has."""
        return _idf(1 if term is None else term.chunks, self.chunks)

    def term(self, known: KnownTerm, share: float, synonym: Synonym | None = None) -> FieldTerm:
        bm25 = CONSTANTS[self.field]
        return FieldTerm(
            term_id=known.term_id,
            text=known.text,
            field=self.field,
            share=share,
            base=bm25.k1 * (1 - bm25.b),
            slope=bm25.k1 * bm25.b / self.average_length,
            pieces=known.pieces,
            chunks=known.chunks,
            synonym=synonym,
            passages=self.chunks,
            seen=known.seen,
        )


def weigh_field(
    name: int, weights: Mapping[str, float], others: Sequence[OtherName], known: KnownField, codes: Collection[str]
) -> list[FieldTerm]:
    scale = _Scale(field=name, chunks=known.chunks, average_length=known.total_length / known.chunks)
    found = {term.text: term for term in known.terms}
    asked = _chosen([term for term in known.terms if term.text in weights], weights, codes, limit=MAX_TERMS[name])
    rarity = {term.text: scale.rarity(term) for term in asked}
    missing = [text for text, weight in weights.items() if weight == 1.0 and text not in found]
    best = sum(rarity[text] for text in rarity if weights[text] == 1.0) + len(missing) * scale.rarity(None)
    # A query of nothing but the years of dates still has a best score: all of those.
    best = best or sum(weights[text] * idf for text, idf in rarity.items())
    worth = {text: idf / best for text, idf in (rarity | dict.fromkeys(missing, scale.rarity(None))).items()}
    own = [scale.term(term, weights[term.text] * rarity[term.text] / best) for term in asked]
    budget = POSTINGS_BUDGET - sum(term.chunks for term in asked)
    return [*own, *_synonyms(others, worth, found, scale, budget)]


def _synonyms(
    others: Sequence[OtherName],
    worth: Mapping[str, float],
    found: Mapping[str, KnownTerm],
    scale: _Scale,
    budget: int,
) -> Iterator[FieldTerm]:
    """Make terms of what may stand instead of the caller's own, of which each is worth a part of the best score.

    Whole names, as long as there is room: as much as for the caller's own, of which they take none.
    """
    room = MAX_TERMS[scale.field]
    for other in others:
        rarity = {text: scale.rarity(found.get(text)) for text in other.terms}
        rarest = sorted(rarity, key=lambda text: (-rarity[text], text))[:MOST_OF_NAME]
        terms = [found[text] for text in rarest if text in found]
        whole = SYNONYM_WEIGHT * (sum(worth.get(text, 0.0) for text in other.instead_of) if other.instead_of else 1.0)
        postings = sum(term.chunks for term in terms)
        if not terms or not whole or len(terms) > room or postings > budget:
            continue
        room, budget = room - len(terms), budget - postings
        total = sum(rarity[text] for text in rarest)
        synonym = Synonym(name=other.name, instead_of=other.instead_of)
        for term in terms:
            yield scale.term(term, whole * rarity[term.text] / total, synonym)


def _chosen(
    known: list[KnownTerm], weights: Mapping[str, float], codes: Collection[str], *, limit: int
) -> list[KnownTerm]:
    """Take the terms to ask while the budget lasts, one at least: codes, which decide the order, the caller's own, and
    what dates lie in, in what room is left; of each the rarest first.
    """
    taken: list[KnownTerm] = []
    budget = POSTINGS_BUDGET
    for term in sorted(known, key=lambda one: (one.text not in codes, weights[one.text] < 1.0, one.chunks, one.text)):
        budget -= term.chunks
        if len(taken) == limit or (taken and budget < 0):
            break
        taken.append(term)
    return taken


@lru_cache(maxsize=4096)
def _idf(chunks_with_term: int, chunks: int) -> float:
    """Rate a term's rarity, always above zero. Source: Lucene's BM25Similarity, after Robertson & Zaragoza 2009."""
    return math.log(1 + (max(chunks, chunks_with_term) - chunks_with_term + 0.5) / (chunks_with_term + 0.5))
