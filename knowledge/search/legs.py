"""Ask both legs, fetch each one's scores for the other's candidates, and go on with one when the other fails."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from django.db import Error
from django.utils.translation import gettext_lazy as _
from numpy.typing import NDArray

from hub.core.database import in_one_line
from hub.core.errors import Unavailable
from knowledge.backends.active_embedder import EmbedderMismatch, embedder_of
from knowledge.backends.analysis import QueryTerms
from knowledge.backends.embedders.base import EmbeddingError
from knowledge.backends.vectors import vector_literal
from knowledge.models import EmbeddingSet
from knowledge.search import notices
from knowledge.search.candidates import NO_CANDIDATES, Candidates
from knowledge.search.fusion import Evidence
from knowledge.search.lexical import LexicalHits, lexical_hits, no_hits
from knowledge.search.scope import PermittedChunks
from knowledge.search.snapshot import going_back
from knowledge.search.vector import nearest_chunks
from knowledge.search.weighing import MAX_TERMS, weigh_terms
from knowledge.types.notices import Notice
from knowledge.types.search import SearchMode

logger = logging.getLogger(__name__)
T = TypeVar("T")

# Candidates of each leg, whatever the limit, so that the pages of one query are slices of one ranking.
LEG_DEPTH = 200


@dataclass(slots=True, kw_only=True)
class Stopwatch:
    """Milliseconds spent on each step."""

    timings_ms: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, step: str) -> Iterator[None]:
        """Add the time until the context ends to a step's."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.timings_ms[step] = round(self.timings_ms.get(step, 0.0) + spent, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the legs found: candidates, evidence for each, each leg's ranks from 1 (0 where it is not), in columns.

    ``mode`` is the one that could be served: not the wanted one when a leg failed or had nothing to say. ``matched``
    tells which candidates have each of the terms ``told``: (terms, candidates).
    """

    mode: SearchMode
    candidates: Candidates
    evidence: Evidence
    vector_ranks: NDArray[np.int64]
    lexical_ranks: NDArray[np.int64]
    told: tuple[str, ...]
    matched: NDArray[np.bool_]
    notices: list[Notice]


@dataclass(frozen=True, slots=True, kw_only=True)
class _VectorAnswer:
    vector: str
    nearest: Candidates
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _LexicalAnswer:
    hits: LexicalHits
    is_cut: bool


class _LegFailed(Exception):
    """One leg can't answer; ``notice`` says why."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice.en)
        self.notice = notice


def ask_legs(
    text: str,
    terms: QueryTerms,
    *,
    mode: SearchMode,
    embedding_set: EmbeddingSet,
    permitted: PermittedChunks,
    watch: Stopwatch,
    tell_terms: bool = False,
) -> Findings:
    """Collect evidence for up to ``LEG_DEPTH`` candidates of each leg. Where one fails, it is undone.

    ``tell_terms`` also tells which terms each candidate has.

    A leg that fails is replaced by the other one and a notice. :raises Unavailable: neither can answer.
    """
    remarks: list[Notice] = []
    vector = lexical = None
    if mode is not SearchMode.LEXICAL:
        vector = _attempt(lambda: _ask_vector(text, embedding_set, permitted, watch), remarks)
    if mode is not SearchMode.VECTOR or vector is None:
        nearest = vector
        lexical = _attempt(lambda: _ask_lexical(terms, embedding_set, permitted, nearest, watch, tell_terms), remarks)
    if mode is SearchMode.LEXICAL and lexical is None:
        vector = _attempt(lambda: _ask_vector(text, embedding_set, permitted, watch), remarks)
    if vector is None and lexical is None:
        raise Unavailable(
            _("Search is not available: neither vector search nor lexical search answered."), code="search_unavailable"
        )
    if lexical and not terms:
        remarks.append(notices.LEXICAL_EMPTY)
    return _combine(_served_mode(mode, vector, lexical, terms), vector, lexical, remarks)


def _attempt(ask: Callable[[], T], remarks: list[Notice]) -> T | None:
    try:
        return ask()
    except _LegFailed as failure:
        remarks.append(failure.notice)
        return None


def _ask_vector(text: str, embedding_set: EmbeddingSet, permitted: PermittedChunks, watch: Stopwatch) -> _VectorAnswer:
    try:
        with watch.measure("embed"):
            embedder = embedder_of(embedding_set)
            vector, is_cut = vector_literal(embedder.embed_query(text)), embedder.query_is_truncated(text)
        with watch.measure("vector"), going_back():
            nearest = nearest_chunks(embedding_set, vector, permitted, limit=LEG_DEPTH)
    except EmbeddingError as error:
        logger.warning("vector search failed: %s", error.code)
        raise _LegFailed(notices.vector_unavailable(error.ja, error.en)) from error
    except EmbedderMismatch as error:
        logger.warning("vector search failed: %s", error.error_code)
        raise _LegFailed(notices.EMBEDDER_MISMATCH) from error
    except Error as error:
        logger.error("vector search failed: %s", in_one_line(error))
        raise _LegFailed(notices.vector_unavailable("", "")) from error
    return _VectorAnswer(vector=vector, nearest=nearest, is_cut=is_cut)


def _ask_lexical(
    terms: QueryTerms,
    embedding_set: EmbeddingSet,
    permitted: PermittedChunks,
    nearest: _VectorAnswer | None,
    watch: Stopwatch,
    tell_terms: bool,
) -> _LexicalAnswer:
    try:
        with watch.measure("lexical"), going_back():
            weighed = weigh_terms(terms, embedding_set)
            hits = lexical_hits(
                weighed,
                permitted,
                embedding_set,
                limit=LEG_DEPTH,
                also=nearest.nearest if nearest else NO_CANDIDATES,
                near=nearest.vector if nearest else None,
                codes=terms.codes,
                tell_terms=tell_terms,
            )
    except Error as error:
        logger.error("lexical search failed: %s", in_one_line(error))
        raise _LegFailed(notices.LEXICAL_UNAVAILABLE) from error
    return _LexicalAnswer(hits=hits, is_cut=terms.is_cut or terms.own_words > max(MAX_TERMS.values()))


def _served_mode(
    wanted: SearchMode, vector: _VectorAnswer | None, lexical: _LexicalAnswer | None, terms: QueryTerms
) -> SearchMode:
    if vector is None:
        return SearchMode.LEXICAL
    # Without a word to look for, every lexical score is 0, and the sum would say less than the cosine alone.
    return wanted if lexical and terms else SearchMode.VECTOR


def _combine(
    mode: SearchMode,
    vector: _VectorAnswer | None,
    lexical: _LexicalAnswer | None,
    remarks: list[Notice],
) -> Findings:
    if (vector and vector.is_cut) or (lexical and lexical.is_cut):
        remarks.append(notices.QUERY_CUT)
    nearest = vector.nearest if vector else NO_CANDIDATES
    # The lexical leg puts those that it found by itself behind the nearest ones.
    hits = lexical.hits if lexical else no_hits(nearest)
    candidates = hits.candidates
    vector_ranks = np.arange(1, len(candidates) + 1)
    return Findings(
        mode=mode,
        candidates=candidates,
        evidence=Evidence(
            chunk_ids=candidates.chunk_ids,
            cosines=candidates.cosines,
            words=hits.words,
            bigrams=hits.bigrams,
            codes=hits.codes,
            are_contents=candidates.are_contents,
        ),
        vector_ranks=np.where(vector_ranks <= len(nearest), vector_ranks, 0),
        lexical_ranks=hits.ranks,
        told=hits.told,
        matched=hits.matched,
        notices=remarks,
    )
