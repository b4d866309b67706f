"""The search service: one function behind REST, MCP, admin and CLI."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from django.db import Error
from django.db.models import Q

from hub.access.principals import Principal, Scope
from hub.core.database import in_one_line, told_as_unavailable
from hub.core.errors import Unavailable
from hub.core.shared_measures import SEARCH_FAILURES, SEARCH_SECONDS, Point, count
from knowledge.index.active_embedder import find_active_set
from knowledge.index.analysis import NO_SYNONYMS, QueryTerms, analyse_query
from knowledge.models import EmbeddingSet
from knowledge.ontology.store import expand as expand_by_ontology
from knowledge.ports import Reranker
from knowledge.search import background, notices
from knowledge.search.database import SAVEPOINT, going_back, one_snapshot, set_savepoint
from knowledge.search.fusion import GOOD_EVIDENCE, Calibration, calibration_for, weights_for
from knowledge.search.highlights import query_marks
from knowledge.search.legs import Findings, Stopwatch, ask_legs, embed_question
from knowledge.search.pages import Page, load_page
from knowledge.search.phrases import WithPhrases, chunks_with_phrases, find_phrases
from knowledge.search.query import check_query
from knowledge.search.ranking import Ranking, arrange, ceiling_for, explain, missing_codes, rank_candidates, tell
from knowledge.search.rerankers import configured_reranker, rerank
from knowledge.search.scope import PermittedChunks, permitted_chunks
from knowledge.text.structure import names_contents
from knowledge.types.notices import Notice
from knowledge.types.search import LegScore, SearchDetail, SearchMode, SearchQuery, SearchResult

logger = logging.getLogger(__name__)
_ALL_PARTS = "all"
Expand = Callable[[str], Mapping[str, str]]
_NOTHING = SearchResult(hits=(), total_found=0, notices=(notices.NOTHING_TO_SEARCH, notices.NO_GOOD_EVIDENCE))


def search(
    principal: Principal,
    query: SearchQuery,
    *,
    expand: Expand = expand_by_ontology,
    embedding_set: EmbeddingSet | None = None,
    reranker: Reranker | None = None,
) -> SearchResult:
    """Find the passages that answer, among those the caller may search.

    ``expand`` gives other names of what a text names, each with the name that stands there, by default those of the
    published ontologies. Hits come as asked for: by relevance (equals by chunk id) or by document path and place;
    neighbours stand around their hit.
    With ``full_document``, ``limit``, ``offset`` and ``total_found`` count documents. The number of queries does
    not depend on how much is found. Chunks, vectors and calibration are those of one embedding set, by default of
    the one that is active when the search begins. ``reranker`` orders the first candidates, by default that of
    RERANKER_MODEL.

    :raises Forbidden: the caller lacks the scope search. :raises InvalidInput: names the field.
    :raises Unavailable: neither leg can answer, or the database fails. What a search can do without leaves a notice.
    """
    principal.require(Scope.SEARCH)
    query = check_query(query)
    watch = Stopwatch()
    try:
        with watch.measure("total"), told_as_unavailable("a search"), one_snapshot():
            used = _used_set(embedding_set)
            result = _search(principal, query, used, watch, expand, reranker) if used else _NOTHING
    except Unavailable:
        count(Point(family=SEARCH_FAILURES, labels=(_ALL_PARTS,), value=1))
        raise
    failed = {notices.PARTS[notice.code] for notice in result.notices if notice.code in notices.PARTS}
    count(
        *(Point(family=SEARCH_SECONDS, labels=(step,), value=ms / 1000) for step, ms in watch.timings_ms.items()),
        *(Point(family=SEARCH_FAILURES, labels=(part,), value=1) for part in failed),
    )
    return replace(result, timings_ms=watch.timings_ms)


def _used_set(given: EmbeddingSet | None) -> EmbeddingSet | None:
    """Give the set to search, and set the savepoint that parts go back to. One query."""
    if given is None:
        return find_active_set(savepoint=SAVEPOINT)
    set_savepoint()
    return given


def vector_search(principal: Principal, query: SearchQuery) -> SearchResult:
    """Search by meaning alone; otherwise as `search`."""
    return search(principal, replace(query, mode=SearchMode.VECTOR))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What a query's text asks for, before any passage is looked at."""

    phrases: tuple[str, ...]
    synonyms: Mapping[str, str]
    terms: QueryTerms
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked:
    """The candidates in order, those of the threshold or more, what the reranker said of them, and codes none has."""

    ranking: Ranking
    found: Ranking
    reranked: Mapping[int, LegScore]
    missing: tuple[str, ...]
    notices: tuple[Notice, ...] = ()


def _search(
    principal: Principal,
    query: SearchQuery,
    embedding_set: EmbeddingSet,
    watch: Stopwatch,
    expand: Expand,
    reranker: Reranker | None,
) -> SearchResult:
    embed = partial(embed_question, query.text, embedding_set, watch)
    # The model takes as long as all that a search does before it needs the vector, and uses another core.
    vector = embed if query.mode is SearchMode.LEXICAL else background.begin(embed)
    question = _read_question(query, expand)
    quoting = _look_for_phrases(principal, query, embedding_set, question, watch)
    within = (Q(pk__lte=query.after.newest) if query.after else Q()) & quoting.condition
    for_words = query.mode is not SearchMode.VECTOR
    permitted = permitted_chunks(principal, query.filter, embedding_set, within=within, for_words=for_words)
    if permitted.is_empty:
        return _NOTHING
    is_explained = query.level.includes(SearchDetail.EXPLAIN)
    findings = ask_legs(
        vector,
        question.terms,
        mode=query.mode,
        embedding_set=embedding_set,
        permitted=permitted,
        watch=watch,
        tell_terms=is_explained,
    )
    calibration = calibration_for(backend=embedding_set.backend, model=embedding_set.model)
    ranked = _rank(query, question, findings, calibration, watch)
    ranked = _rerank(ranked, query, question, findings, reranker, watch)
    with watch.measure("load"):
        page, total = _load(query, question, permitted, findings, ranked)
    remarks = [*question.notices, *_phrase_notices(quoting, question, permitted, findings)]
    remarks += [notices.codes_not_found(ranked.missing)] if ranked.missing else []
    remarks += ranked.notices
    remarks += _quality_notices(ranked.ranking, findings.mode, calibration)
    explanation = (
        explain(query, embedding_set, question.terms, question.phrases, permitted, findings) if is_explained else None
    )
    return SearchResult(
        hits=tuple(page.hits),
        total_found=total,
        next_offset=page.next_offset,
        next_page=page.next_page,
        notices=(*findings.notices, *remarks, *page.notices),
        explanation=explanation,
    )


def _read_question(query: SearchQuery, expand: Expand) -> _Question:
    """Take a query's text apart. No queries but those of ``expand``."""
    phrases = find_phrases(query.text)
    remarks: list[Notice] = []
    synonyms = NO_SYNONYMS if query.mode is SearchMode.VECTOR else _synonyms(query.text, expand, remarks)
    return _Question(
        phrases=phrases,
        synonyms=synonyms,
        terms=analyse_query(query.text, synonyms=synonyms),
        notices=tuple(remarks),
    )


def _synonyms(text: str, expand: Expand, remarks: list[Notice]) -> Mapping[str, str]:
    try:
        with going_back():
            return expand(text)
    except Error as error:
        logger.error("the search goes on without synonyms: %s", in_one_line(error))
        remarks.append(notices.SYNONYMS_UNAVAILABLE)
        return NO_SYNONYMS


def _look_for_phrases(
    principal: Principal, query: SearchQuery, embedding_set: EmbeddingSet, question: _Question, watch: Stopwatch
) -> WithPhrases:
    """Find the passages that have what the question quotes; all, without a query, where it quotes nothing."""
    if not question.phrases:
        return WithPhrases(condition=Q())
    with watch.measure("phrases"):
        return chunks_with_phrases(principal, query.filter, embedding_set, question.phrases, question.terms)


def _rank(
    query: SearchQuery,
    question: _Question,
    findings: Findings,
    calibration: Calibration,
    watch: Stopwatch,
) -> _Ranked:
    """Put the candidates in order."""
    with watch.measure("fuse"):
        missing = missing_codes(question.terms, findings, question.phrases)
        ranking = rank_candidates(
            findings,
            calibration,
            weights=weights_for(query.text),
            ceiling=ceiling_for(question.terms, missing, question.phrases),
            wants_contents=names_contents(query.text),
        )
        found = ranking.at(np.flatnonzero(ranking.scores >= query.threshold))
    return _Ranked(ranking=ranking, found=found, reranked={}, missing=missing)


def _rerank(
    ranked: _Ranked,
    query: SearchQuery,
    question: _Question,
    findings: Findings,
    reranker: Reranker | None,
    watch: Stopwatch,
) -> _Ranked:
    """Let the reranker order the first candidates, if there is one and it answers. One query then."""
    try:
        if chosen := reranker or configured_reranker():
            with watch.measure("rerank"), going_back():
                found, reranked = rerank(query.text, ranked.found, findings.candidates, chosen)
            return replace(ranked, found=found, reranked=reranked)
    except (Unavailable, Error) as error:
        logger.error("the search goes on without the reranker: %s", in_one_line(error))
        return replace(ranked, notices=(notices.RERANKER_UNAVAILABLE,))
    return ranked


def _load(
    query: SearchQuery, question: _Question, permitted: PermittedChunks, findings: Findings, ranked: _Ranked
) -> tuple[Page, int]:
    """Load the page that is asked for, and tell how many hits there are on all of them."""
    shown, total = arrange(ranked.found, query, findings.candidates)
    is_marked = query.level.includes(SearchDetail.HIGHLIGHTS)
    also = (*question.phrases, *question.synonyms)
    marks = query_marks(query.text, question.terms, also=also) if is_marked else None
    page = shown.at(slice(query.offset, query.offset + query.limit))
    told = tell(page, ranked.found, findings, query, ranked.reranked)
    keys = findings.candidates.chunk_ids[shown.places].tolist()
    return load_page(permitted, query, told, keys, marks=marks), total


def _phrase_notices(
    quoting: WithPhrases, question: _Question, permitted: PermittedChunks, findings: Findings
) -> list[Notice]:
    has_any = len(findings.candidates) > 0
    remarks = [notices.PHRASES_UNAVAILABLE] if quoting.is_unindexed else []
    remarks += [notices.PHRASE_CUT] if quoting.is_cut else []
    remarks += [] if has_any else _emptiness(permitted, question.phrases)
    return remarks + ([notices.PHRASE_DIVIDED] if quoting.is_divided and has_any else [])


def _emptiness(permitted: PermittedChunks, phrases: Sequence[str]) -> list[Notice]:
    """Tell why there is no candidate at all. What is hidden and what is not there are told alike."""
    if phrases:
        return [notices.PHRASE_NOT_FOUND]
    return [notices.NOTHING_TO_SEARCH] if permitted.count == 0 else []


def _quality_notices(ranking: Ranking, mode: SearchMode, calibration: Calibration) -> list[Notice]:
    if not calibration.is_known(mode):
        return [notices.UNCALIBRATED]
    return [] if ranking.scores.max(initial=0.0) >= GOOD_EVIDENCE else [notices.NO_GOOD_EVIDENCE]
