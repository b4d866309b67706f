"""The lexical leg: what an index says of a question's terms, with ranks among what the caller may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.models import EmbeddingSet
from knowledge.search.candidates import NO_CANDIDATES, CandidateReader, Candidates
from knowledge.search.port import TermSums
from knowledge.search.scope import PermittedChunks
from knowledge.search.weighing import FieldTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalHits:
    """Candidates with their shares of the best possible BM25 score in each field, and ranks from 1, in columns.

    The rank is 0 beyond the limit. ``codes`` are the shares of the query's codes that they have. ``matched`` says which
    have each of the ``terms``: (terms, candidates).
    """

    candidates: Candidates
    words: NDArray[np.float64]
    bigrams: NDArray[np.float64]
    ranks: NDArray[np.int64]
    codes: NDArray[np.float64]
    terms: tuple[str, ...]
    matched: NDArray[np.bool_]


def lexical_hits(
    sums: TermSums,
    permitted: PermittedChunks,
    embedding_set: EmbeddingSet,
    *,
    also: Candidates = NO_CANDIDATES,
    near: str | None = None,
    codes: Sequence[str] = (),
    with_terms: bool = False,
) -> LexicalHits:
    """Take the permitted chunks that have any term: the best ones, and those of ``also`` wherever they rank.

    Those of ``also``, which must be permitted ones, come first and in their order, whether they have a term or not; of
    equals the smaller number in the index ranks first. ``matched`` has the ``codes``, or all terms ``with_terms``. New
    candidates get their cosine to ``near``, a vector as `vector_literal` writes it. Up to two queries, and one more
    each time that too few of the best candidates were permitted.
    """
    if not sums.terms or permitted.is_empty:
        return no_hits(also)
    reader = CandidateReader(permitted=permitted, embedding_set=embedding_set, near=near, known=also)
    scores, found = sums.best(reader)
    everyone = also.followed_by(found)
    ranks = _ranks(scores.keep(everyone.ordinals).first(sums.limit).ordinals, everyone.ordinals)
    shown = np.flatnonzero((ranks > 0) | (np.arange(ranks.size) < len(also)))
    candidates = everyone.at(shown)
    words, bigrams = scores.of(candidates.ordinals)
    looked_up = [term for term in sums.terms if with_terms or term.text in codes]
    matched = sums.matched(looked_up, candidates.ordinals)
    return LexicalHits(
        candidates=candidates,
        words=np.minimum(1.0, words),
        bigrams=np.minimum(1.0, bigrams),
        ranks=ranks[shown],
        codes=_shares(codes, looked_up, matched),
        terms=tuple(term.text for term in looked_up),
        matched=matched,
    )


def no_hits(candidates: Candidates) -> LexicalHits:
    """Return candidates without any term."""
    nothing = np.zeros(len(candidates))
    return LexicalHits(
        candidates=candidates,
        words=nothing,
        bigrams=nothing,
        ranks=nothing.astype(np.int64),
        codes=nothing,
        terms=(),
        matched=np.zeros((0, nothing.size), bool),
    )


def _ranks(ranked: NDArray[np.int64], ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place from 1 of each number among the ranked ones, 0 where it is not there."""
    if not ranked.size:
        return np.zeros(ordinals.size, np.int64)
    order = np.argsort(ranked)
    places = order[np.minimum(np.searchsorted(ranked, ordinals, sorter=order), ranked.size - 1)]
    return np.where(ranked[places] == ordinals, places + 1, 0)


def _shares(codes: Sequence[str], terms: Sequence[FieldTerm], matched: NDArray[np.bool_]) -> NDArray[np.float64]:
    number = np.zeros(matched.shape[1])
    for code in codes:
        number += matched[[term.text == code for term in terms]].any(axis=0)
    return number / max(len(codes), 1)
