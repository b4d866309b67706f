"""The search service: one function behind REST, MCP, admin and CLI."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

from django.db import Error
from django.db.models import Q

from hub.access.principals import Principal, Scope
from hub.core.database import in_one_line, raising_unavailable
from hub.core.errors import Unavailable
from hub.core.measures import SEARCH_FAILURES, SEARCH_SECONDS, Point, count
from knowledge.index.active_embedder import find_active_set
from knowledge.models import EmbeddingSet
from knowledge.ontology.store import expand as expand_by_ontology
from knowledge.ports import Reranker
from knowledge.search import background, notices
from knowledge.search.database import SAVEPOINT, going_back, one_snapshot, set_savepoint
from knowledge.search.fusion import GOOD_EVIDENCE, calibration_for
from knowledge.search.pages import load_page
from knowledge.search.phrases import WithPhrases, chunks_with_phrases
from knowledge.search.query import Expand, Question, check_query, read_question
from knowledge.search.ranking import Ranked, configured_reranker, explain, rank, rerank
from knowledge.search.reach import Reach, reach_of
from knowledge.search.recall import Findings, Stopwatch, embed_question, recall
from knowledge.search.scope import PermittedChunks, permitted_chunks
from knowledge.types.notices import Notice
from knowledge.types.search import SearchDetail, SearchMode, SearchQuery, SearchResult

logger = logging.getLogger(__name__)
_ALL_PARTS = "all"
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

    ``expand`` gives other names of what a text names, each with the name that is there, by default those of the
    published ontologies. Hits come as asked for: by relevance (equals by chunk id) or by document path and place;
    neighbours are around their hit.
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
        with watch.measure("total") as traced, raising_unavailable("a search"), one_snapshot():
            used = _used_set(embedding_set)
            result = _search(principal, query, used, watch, expand, reranker) if used else _NOTHING
            traced.note({"hub.mode": query.mode.value, "hub.hits": len(result.hits), "hub.found": result.total_found})
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
    if given is None:
        return find_active_set(savepoint=SAVEPOINT)
    set_savepoint()
    return given


def _search(
    principal: Principal,
    query: SearchQuery,
    embedding_set: EmbeddingSet,
    watch: Stopwatch,
    expand: Expand,
    reranker: Reranker | None,
) -> SearchResult:
    """Read the question, recall candidates, rank them and load a page: one value object between two steps."""
    embed = partial(embed_question, query.text, embedding_set, watch)
    # The model takes as long as all that a search does before it needs the vector, and uses another core.
    vector = embed if query.mode is SearchMode.LEXICAL else background.begin(embed)
    question = read_question(query, expand)
    reach = reach_of(principal)
    quoting = _look_for_phrases(reach, query, embedding_set, question, watch)
    within = (Q(pk__lte=query.after.newest) if query.after else Q()) & quoting.condition
    for_words = query.mode is not SearchMode.VECTOR
    permitted = permitted_chunks(reach, query.filter, embedding_set, within=within, for_words=for_words)
    if permitted.is_empty:
        return _NOTHING
    is_explained = query.level.includes(SearchDetail.EXPLAIN)
    findings = recall(
        vector,
        question.terms,
        mode=query.mode,
        embedding_set=embedding_set,
        permitted=permitted,
        watch=watch,
        with_terms=is_explained,
    )
    calibration = calibration_for(backend=embedding_set.backend, model=embedding_set.model)
    with watch.measure("fuse"):
        ranked = rank(query, question, findings, calibration)
    ranked = _rerank(ranked, query, findings, reranker, watch)
    with watch.measure("load"):
        page = load_page(permitted, query, question, findings, ranked)
    remarks = [*findings.notices, *question.notices, *_phrase_notices(quoting, question, permitted, findings)]
    remarks += [notices.codes_not_found(ranked.missing)] if ranked.missing else []
    remarks += ranked.notices
    if not calibration.is_known(findings.mode):
        remarks.append(notices.UNCALIBRATED)
    elif ranked.best < GOOD_EVIDENCE:
        remarks.append(notices.NO_GOOD_EVIDENCE)
    explanation = explain(query, question, embedding_set, permitted, findings) if is_explained else None
    return replace(page, notices=(*remarks, *page.notices), explanation=explanation)


def _look_for_phrases(
    reach: Reach, query: SearchQuery, embedding_set: EmbeddingSet, question: Question, watch: Stopwatch
) -> WithPhrases:
    """Find the passages that have what the question quotes; all, without a query, where it quotes nothing."""
    if not question.phrases:
        return WithPhrases(condition=Q())
    with watch.measure("phrases"):
        return chunks_with_phrases(reach, query.filter, embedding_set, question.phrases, question.terms)


def _rerank(
    ranked: Ranked, query: SearchQuery, findings: Findings, reranker: Reranker | None, watch: Stopwatch
) -> Ranked:
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


def _phrase_notices(
    quoting: WithPhrases, question: Question, permitted: PermittedChunks, findings: Findings
) -> list[Notice]:
    """Say how phrases were looked for, and why there is no candidate: hidden ones are as none."""
    remarks = [notices.PHRASES_UNAVAILABLE] if quoting.is_unindexed else []
    remarks += [notices.PHRASE_CUT] if quoting.is_cut else []
    if len(findings.candidates):
        return remarks + ([notices.PHRASE_DIVIDED] if quoting.is_divided else [])
    if question.phrases:
        return [*remarks, notices.PHRASE_NOT_FOUND]
    return [*remarks, notices.NOTHING_TO_SEARCH] if permitted.count == 0 else remarks
