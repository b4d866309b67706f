"""The search service: one function behind REST, MCP, admin and CLI."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from django.db import Error
from django.db.models import Q

from hub.access.principals import Principal, Scope
from hub.core.database import in_one_line, raising_unavailable
from hub.core.errors import Unavailable
from hub.core.measures import SEARCH_FAILURES, SEARCH_SECONDS, Point, count
from hub.core.replicas import ask_replica
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
from knowledge.search.scope import PermittedChunks, are_all_permitted, permitted_chunks
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
        with watch.measure("total") as traced, raising_unavailable("a search"):
            result = _search(principal, query, embedding_set, watch, expand, reranker)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What one snapshot of the primary or of a replica has for a query."""

    embedding_set: EmbeddingSet
    question: Question
    quoting: WithPhrases
    permitted: PermittedChunks
    findings: Findings


def _search(
    principal: Principal,
    query: SearchQuery,
    embedding_set: EmbeddingSet | None,
    watch: Stopwatch,
    expand: Expand,
    reranker: Reranker | None,
) -> SearchResult:
    """Find, at a replica where one serves, and load what is shown from the primary, in a snapshot of its own.

    What a replica found stands if the caller may search the same now, and the primary permits all of it: else the
    replica does not know of a change that this answer is about, and the primary is asked for everything. So it is for
    counts, which `explain` tells.
    """
    find = partial(_find, principal, query, embedding_set, watch, expand)
    is_explained = query.level.includes(SearchDetail.EXPLAIN)
    found = None if is_explained else ask_replica(partial(_in_own_snapshot, find), reader=principal.user_id)
    with one_snapshot():
        if found is not None:
            set_savepoint()
        if found is None or not _is_permitted(principal, found):
            found = find()
        return _NOTHING if found is None else _answer(query, found, watch, reranker)


def _in_own_snapshot(find: Callable[[], _Found | None]) -> _Found | None:
    with one_snapshot():
        return find()


def _is_permitted(principal: Principal, found: _Found) -> bool:
    """Ask the primary whether all that was found may be shown. Two queries."""
    is_same = reach_of(principal) == found.permitted.reach
    return is_same and are_all_permitted(found.findings.candidates.chunk_ids, found.permitted)


def _used_set(given: EmbeddingSet | None) -> EmbeddingSet | None:
    if given is None:
        return find_active_set(savepoint=SAVEPOINT)
    set_savepoint()
    return given


def _find(
    principal: Principal, query: SearchQuery, embedding_set: EmbeddingSet | None, watch: Stopwatch, expand: Expand
) -> _Found | None:
    """Read the question and recall candidates: one value object between two steps. None: nothing may be searched."""
    used = _used_set(embedding_set)
    if used is None:
        return None
    embed = partial(embed_question, query.text, used, watch)
    # The model takes as long as all that a search does before it needs the vector, and uses another core.
    vector = embed if query.mode is SearchMode.LEXICAL else background.begin(embed)
    question = read_question(query, expand)
    reach = reach_of(principal)
    quoting = _look_for_phrases(reach, query, used, question, watch)
    within = (Q(pk__lte=query.after.newest) if query.after else Q()) & quoting.condition
    for_words = query.mode is not SearchMode.VECTOR
    permitted = permitted_chunks(reach, query.filter, used, within=within, for_words=for_words)
    if permitted.is_empty:
        return None
    findings = recall(
        vector,
        question.terms,
        mode=query.mode,
        embedding_set=used,
        permitted=permitted,
        watch=watch,
        with_terms=query.level.includes(SearchDetail.EXPLAIN),
    )
    return _Found(embedding_set=used, question=question, quoting=quoting, permitted=permitted, findings=findings)


def _answer(query: SearchQuery, found: _Found, watch: Stopwatch, reranker: Reranker | None) -> SearchResult:
    """Rank what was found and load a page. No query but to the primary."""
    question, permitted, findings = found.question, found.permitted, found.findings
    calibration = calibration_for(backend=found.embedding_set.backend, model=found.embedding_set.model)
    with watch.measure("fuse"):
        ranked = rank(query, question, findings, calibration)
    ranked = _rerank(ranked, query, findings, reranker, watch)
    with watch.measure("load"):
        page = load_page(permitted, query, question, findings, ranked)
    remarks = [*findings.notices, *question.notices, *_phrase_notices(found.quoting, question, permitted, findings)]
    remarks += [notices.codes_not_found(ranked.missing)] if ranked.missing else []
    remarks += ranked.notices
    if not calibration.is_known(findings.mode):
        remarks.append(notices.UNCALIBRATED)
    elif ranked.best < GOOD_EVIDENCE:
        remarks.append(notices.NO_GOOD_EVIDENCE)
    is_explained = query.level.includes(SearchDetail.EXPLAIN)
    explanation = explain(query, question, found.embedding_set, permitted, findings) if is_explained else None
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
