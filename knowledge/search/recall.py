"""Ask both legs, fetch each one's scores for the other's candidates, and go on with one when the other fails."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
from django.db import Error
from django.utils.translation import gettext_lazy as _
from numpy.typing import NDArray
from psycopg.errors import QueryCanceled

from hub.core.database import in_one_line
from hub.core.errors import Unavailable
from hub.core.tracing import Span, span
from hub.core.waiting import raise_if_stopped
from knowledge.embedders import EmbeddingError
from knowledge.index.active_embedder import EmbedderMismatch, embedder_of
from knowledge.index.analysis import QueryTerms
from knowledge.index.vectors import vector_literal
from knowledge.models import EmbeddingSet
from knowledge.search import notices
from knowledge.search.candidates import NO_CANDIDATES, Candidates
from knowledge.search.database import going_back
from knowledge.search.fusion import Evidence
from knowledge.search.indexes import index_of
from knowledge.search.lexical import LexicalHits, lexical_hits, no_hits
from knowledge.search.port import IndexUnavailable, SearchIndex, TermSums
from knowledge.search.scope import PermittedChunks
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
    def measure(self, step: str) -> Iterator[Span]:
        """Add the time until the context ends to a step's, and trace it. No step begins for a caller who has gone."""
        raise_if_stopped()
        started = time.perf_counter()
        try:
            with span(f"search {step}") as traced:
                yield traced
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.timings_ms[step] = round(self.timings_ms.get(step, 0.0) + spent, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the legs found: candidates, evidence for each, each leg's ranks from 1 (0 where it is not), in columns.

    ``mode`` is the one that could be served: not the wanted one when a leg failed or had nothing to say. ``matched``
    says which candidates have each of the ``terms``: (terms, candidates). ``passages`` is how many chunks the set has,
    0 where it has no word of the question.
    """

    mode: SearchMode
    candidates: Candidates
    evidence: Evidence
    vector_ranks: NDArray[np.int64]
    lexical_ranks: NDArray[np.int64]
    terms: tuple[str, ...]
    matched: NDArray[np.bool_]
    notices: list[Notice]
    passages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionVector:
    """A question's vector as `vector_literal` writes it; ``is_cut`` when it is that of the question's beginning."""

    literal: str
    is_cut: bool


class _LegFailed(Exception):
    def __init__(self, notice: Notice) -> None:
        super().__init__(notice.en)
        self.notice = notice


def embed_question(text: str, embedding_set: EmbeddingSet, watch: Stopwatch) -> QuestionVector:
    """Compute a question's vector with the model of a set. No query, so that any thread may call it.

    :raises EmbeddingError: the model does not answer. :raises EmbedderMismatch: it is not the one of the set.
    """
    with watch.measure("embed"):
        embedder = embedder_of(embedding_set)
        literal = vector_literal(embedder.embed_query(text))
        return QuestionVector(literal=literal, is_cut=embedder.query_is_truncated(text))


def recall(
    embed: Callable[[], QuestionVector],
    terms: QueryTerms,
    *,
    mode: SearchMode,
    embedding_set: EmbeddingSet,
    permitted: PermittedChunks,
    watch: Stopwatch,
    with_terms: bool = False,
) -> Findings:
    """Collect evidence for up to ``LEG_DEPTH`` candidates of each leg. Call it where a savepoint is set.

    ``embed`` gives the question's vector, or waits for it: as late as may be. ``with_terms`` also finds which terms
    each candidate has, and not only which codes.

    A leg that fails is replaced by the other one and a notice. :raises Unavailable: neither can answer.
    """
    remarks: list[Notice] = []
    legs = _Legs(
        terms=terms,
        embedding_set=embedding_set,
        index=index_of(embedding_set),
        permitted=permitted,
        watch=watch,
        remarks=remarks,
    )
    sums = nearest = hits = None
    if mode is not SearchMode.VECTOR:
        sums = legs.attempt(partial(legs.sum_words, is_beside=mode is SearchMode.HYBRID))
    if mode is not SearchMode.LEXICAL:
        nearest = legs.attempt(partial(legs.ask_vector, embed))
    if mode is SearchMode.VECTOR and nearest is None:
        sums = legs.attempt(legs.sum_words)
    if sums is not None:
        hits = legs.attempt(partial(legs.ask_lexical, sums, nearest, with_terms=with_terms))
    if mode is SearchMode.LEXICAL and hits is None:
        nearest = legs.attempt(partial(legs.ask_vector, embed))
    if nearest is None and hits is None:
        raise Unavailable(
            _("Search is not available: neither vector search nor lexical search answered."), code="search_unavailable"
        )
    if nearest and not permitted.has_index:
        remarks.append(notices.PASSAGE_FACTS_UNAVAILABLE)
    if hits and not terms:
        remarks.append(notices.LEXICAL_EMPTY)
    remarks += legs.index.remarks
    is_cut = hits is not None and (terms.is_cut or terms.own_words > max(MAX_TERMS.values()))
    if is_cut or (nearest and nearest[0].is_cut):
        remarks.append(notices.QUERY_CUT)
    # Without a word to look for, every lexical score is 0, and the sum would say less than the cosine alone.
    served = SearchMode.LEXICAL if nearest is None else mode if hits and terms else SearchMode.VECTOR
    passages = max((term.passages for term in sums.terms), default=0) if sums and hits else 0
    return _findings(served, nearest[1] if nearest else NO_CANDIDATES, hits, remarks, passages)


def _findings(
    mode: SearchMode, nearest: Candidates, found: LexicalHits | None, remarks: list[Notice], passages: int
) -> Findings:
    # The lexical leg puts those that it found by itself behind the nearest ones.
    hits = found or no_hits(nearest)
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
        terms=hits.terms,
        matched=hits.matched,
        notices=remarks,
        passages=passages,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Legs:
    """Both legs of one search. What fails in one of them is undone and raised as _LegFailed."""

    terms: QueryTerms
    embedding_set: EmbeddingSet
    index: SearchIndex
    permitted: PermittedChunks
    watch: Stopwatch
    remarks: list[Notice]

    def attempt(self, ask: Callable[[], T]) -> T | None:
        """Ask a leg; None, and a remark, where it can't answer."""
        try:
            return ask()
        except _LegFailed as failure:
            self.remarks.append(failure.notice)
            return None

    def ask_vector(self, embed: Callable[[], QuestionVector]) -> tuple[QuestionVector, Candidates]:
        try:
            asked = embed()
            with self.watch.measure("vector"):
                return asked, self._nearest(asked.literal)
        except EmbeddingError as error:
            logger.warning("vector search failed: %s", error.code)
            raise _LegFailed(notices.vector_unavailable(error.text)) from error
        except EmbedderMismatch as error:
            logger.warning("vector search failed: %s", error.error_code)
            raise _LegFailed(notices.EMBEDDER_MISMATCH) from error
        except (Error, IndexUnavailable) as error:
            logger.error("vector search failed: %s", in_one_line(error))
            raise _LegFailed(notices.vector_unavailable()) from error

    def _nearest(self, vector: str) -> Candidates:
        """Find the nearest; without what the lexical index knows of them where that can't be read."""
        try:
            with going_back():
                return self.index.nearest(vector, self.permitted, limit=LEG_DEPTH)
        except Error as error:
            if isinstance(error.__cause__, QueryCanceled):  # it would only take as long again
                raise
            reason = in_one_line(error)
        self.permitted.has_index = False  # from now on
        with going_back():
            nearest = self.index.nearest(vector, self.permitted, limit=LEG_DEPTH)
        logger.error("vector search went on without the lexical index: %s", reason)
        return nearest

    def sum_words(self, *, is_beside: bool = False) -> TermSums:
        with self._lexical():
            weighed = weigh_terms(self.terms, self.embedding_set, visible=self.permitted.visible)
            return self.index.sum_terms(weighed, self.permitted, limit=LEG_DEPTH, is_beside=is_beside)

    def ask_lexical(
        self, sums: TermSums, nearest: tuple[QuestionVector, Candidates] | None, *, with_terms: bool
    ) -> LexicalHits:
        with self._lexical():
            return lexical_hits(
                sums,
                self.permitted,
                self.embedding_set,
                also=nearest[1] if nearest else NO_CANDIDATES,
                near=nearest[0].literal if nearest else None,
                codes=self.terms.codes,
                with_terms=with_terms,
            )

    @contextmanager
    def _lexical(self) -> Iterator[None]:
        try:
            with self.watch.measure("lexical"), going_back():
                yield
        except (Error, IndexUnavailable) as error:
            logger.error("lexical search failed: %s", in_one_line(error))
            raise _LegFailed(notices.LEXICAL_UNAVAILABLE) from error
