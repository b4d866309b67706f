"""The search service: one function behind REST, MCP, admin and CLI."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from django.db import Error, transaction
from django.db.models import Q

from hub.access.principals import Principal, Scope
from hub.core.shared_measures import SEARCH_SECONDS, Point, count
from knowledge.backends.active_embedder import find_active_set
from knowledge.backends.analysis import NO_SYNONYMS, analyse_query
from knowledge.backends.rerankers import configured_reranker
from knowledge.models import EmbeddingSet
from knowledge.ontology.queries import expand as expand_by_ontology
from knowledge.ports import Reranker
from knowledge.search import notices
from knowledge.search.calibration import GOOD_EVIDENCE, Calibration, calibration_for
from knowledge.search.explain import explain
from knowledge.search.fusion import weights_for
from knowledge.search.highlights import query_marks
from knowledge.search.legs import Stopwatch, ask_legs
from knowledge.search.pages import load_page
from knowledge.search.phrases import chunks_with_phrases, find_phrases
from knowledge.search.query import check_query
from knowledge.search.ranking import Ranking, arrange, ceiling_for, missing_codes, rank_candidates, tell
from knowledge.search.rerank import rerank
from knowledge.search.scope import PermittedChunks, permitted_chunks
from knowledge.search.snapshot import going_back_to, in_one_line, one_snapshot
from knowledge.text.structure import names_contents
from knowledge.types.notices import Notice
from knowledge.types.search import LegScore, SearchDetail, SearchMode, SearchQuery, SearchResult

logger = logging.getLogger(__name__)
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
    :raises Unavailable: neither leg can answer, or the configured reranker can't be loaded.
    """
    principal.require(Scope.SEARCH)
    query = check_query(query)
    watch = Stopwatch()
    with watch.measure("total"), one_snapshot():
        used = embedding_set or find_active_set()
        chosen = reranker or configured_reranker()
        result = _search(principal, query, used, watch, expand, chosen) if used else _NOTHING
    count(*(Point(family=SEARCH_SECONDS, labels=(step,), value=ms / 1000) for step, ms in watch.timings_ms.items()))
    return replace(result, timings_ms=watch.timings_ms)


def vector_search(principal: Principal, query: SearchQuery) -> SearchResult:
    """Search by meaning alone; otherwise as `search`."""
    return search(principal, replace(query, mode=SearchMode.VECTOR))


def _search(
    principal: Principal,
    query: SearchQuery,
    embedding_set: EmbeddingSet,
    watch: Stopwatch,
    expand: Expand,
    reranker: Reranker | None,
) -> SearchResult:
    phrases = find_phrases(query.text)
    # All parts that a search can do without go back to the same one; it ends with the transaction.
    savepoint = transaction.savepoint()
    remarks: list[Notice] = []
    synonyms = NO_SYNONYMS if query.mode is SearchMode.VECTOR else _synonyms(query.text, expand, savepoint, remarks)
    terms = analyse_query(query.text, synonyms=synonyms)
    within = Q(pk__lte=query.after.newest) if query.after else Q()
    is_divided = False
    if phrases:
        with watch.measure("phrases"):
            quoting = chunks_with_phrases(principal, query.filter, embedding_set, phrases, terms, savepoint=savepoint)
        within &= quoting.condition
        remarks += [notices.PHRASE_CUT] if quoting.is_cut else []
        is_divided = quoting.is_divided
    for_words = query.mode is not SearchMode.VECTOR
    permitted = permitted_chunks(principal, query.filter, embedding_set, within=within, for_words=for_words)
    if permitted.is_empty:
        return _NOTHING
    is_explained = query.level.includes(SearchDetail.EXPLAIN)
    findings = ask_legs(
        query.text,
        terms,
        mode=query.mode,
        embedding_set=embedding_set,
        permitted=permitted,
        watch=watch,
        savepoint=savepoint,
        tell_terms=is_explained,
    )
    calibration = calibration_for(backend=embedding_set.backend, model=embedding_set.model)
    with watch.measure("fuse"):
        missing = missing_codes(terms, findings, phrases)
        ranking = rank_candidates(
            findings,
            calibration,
            weights=weights_for(query.text),
            ceiling=ceiling_for(terms, missing, phrases),
            wants_contents=names_contents(query.text),
        )
        found = ranking.at(np.flatnonzero(ranking.scores >= query.threshold))
    reranked: dict[int, LegScore] = {}
    if reranker:
        with watch.measure("rerank"):
            found, reranked = rerank(query.text, found, findings.candidates, reranker)
    with watch.measure("load"):
        shown, total = arrange(found, query, findings.candidates)
        is_marked = query.level.includes(SearchDetail.HIGHLIGHTS)
        marks = query_marks(query.text, terms, also=(*phrases, *synonyms)) if is_marked else None
        page = tell(shown.at(slice(query.offset, query.offset + query.limit)), found, findings, query, reranked)
        keys = findings.candidates.chunk_ids[shown.places].tolist()
        loaded = load_page(permitted, query, page, keys, marks=marks)
    has_any = len(findings.candidates) > 0
    remarks += [] if has_any else _emptiness(permitted, phrases)
    remarks += [notices.PHRASE_DIVIDED] if is_divided and has_any else []
    remarks += [notices.codes_not_found(missing)] if missing else []
    return SearchResult(
        hits=tuple(loaded.hits),
        total_found=total,
        next_offset=loaded.next_offset,
        next_page=loaded.next_page,
        notices=(*findings.notices, *remarks, *_quality_notices(ranking, findings.mode, calibration), *loaded.notices),
        explanation=explain(query, embedding_set, terms, phrases, permitted, findings) if is_explained else None,
    )


def _synonyms(text: str, expand: Expand, savepoint: str, remarks: list[Notice]) -> Mapping[str, str]:
    try:
        with going_back_to(savepoint):
            return expand(text)
    except Error as error:
        logger.error("the search goes on without synonyms: %s", in_one_line(error))
        remarks.append(notices.SYNONYMS_UNAVAILABLE)
        return NO_SYNONYMS


def _emptiness(permitted: PermittedChunks, phrases: Sequence[str]) -> list[Notice]:
    """Tell why there is no candidate at all. What is hidden and what is not there are told alike."""
    if phrases:
        return [notices.PHRASE_NOT_FOUND]
    return [notices.NOTHING_TO_SEARCH] if permitted.count == 0 else []


def _quality_notices(ranking: Ranking, mode: SearchMode, calibration: Calibration) -> list[Notice]:
    if not calibration.is_known(mode):
        return [notices.UNCALIBRATED]
    return [] if ranking.scores.max(initial=0.0) >= GOOD_EVIDENCE else [notices.NO_GOOD_EVIDENCE]
