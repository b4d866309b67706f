"""The search service: one function behind REST, MCP, admin and CLI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet

from hub.access.principals import Principal, Scope
from knowledge.backends.active_embedder import find_active_set
from knowledge.backends.analysis import Expand, analyse_query
from knowledge.models import Chunk, EmbeddingSet
from knowledge.ontology.queries import expand as expand_by_ontology
from knowledge.search import context, notices
from knowledge.search.calibration import GOOD_EVIDENCE, Calibration, calibration_for
from knowledge.search.fusion import Evidence, Fused, fuse
from knowledge.search.legs import Findings, Stopwatch, ask_legs
from knowledge.search.query import check_query
from knowledge.search.scope import permitted_chunks, searchable_chunks
from knowledge.types import Hit, LegScore, Notice, SearchMode, SearchOrder, SearchQuery, SearchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """A candidate above the threshold, with its calibrated score and what each leg said on request."""

    chunk_id: int
    score: float
    legs: dict[str, LegScore] | None


_Rows: TypeAlias = list[tuple[_Scored, Chunk]]
_NOTHING = SearchResult(hits=(), total_found=0, notices=(notices.NO_GOOD_EVIDENCE,))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """A hit with its context, in the order of the text, or a whole document."""

    scored: _Scored
    hits: list[Hit]
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """The hits of one page and where the next one starts, if there is one."""

    hits: list[Hit]
    next_offset: int | None
    notices: list[Notice]


def search(
    principal: Principal,
    query: SearchQuery,
    *,
    expand: Expand = expand_by_ontology,
    embedding_set: EmbeddingSet | None = None,
) -> SearchResult:
    """Find the passages that answer, among those the caller may search.

    ``expand`` gives synonyms of what a text mentions, by default those of the published ontologies. Hits come as
    asked for: by relevance (equals by chunk id) or by document path and place; neighbours stand around their hit.
    With ``full_document``, ``limit``, ``offset`` and ``total_found`` count documents. The number of queries does
    not depend on how much is found. Chunks, vectors and calibration are those of one embedding set, by default of
    the one that is active when the search begins.

    :raises Forbidden: the caller lacks the scope search. :raises InvalidInput: names the field.
    :raises Unavailable: neither leg can answer.
    """
    principal.require(Scope.SEARCH)
    query = check_query(query)
    watch = Stopwatch()
    with watch.measure("total"), _one_snapshot():
        used = embedding_set or find_active_set()
        result = _search(principal, query, used, watch, expand) if used else _NOTHING
    return replace(result, timings_ms=watch.timings_ms)


@contextmanager
def _one_snapshot() -> Iterator[None]:
    """Let all queries see the database as it is at the first one: a set that is dropped meanwhile still answers whole.

    Inside a caller's transaction its own isolation holds.
    """
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def vector_search(principal: Principal, query: SearchQuery) -> SearchResult:
    """Search by meaning alone; otherwise as `search`."""
    return search(principal, replace(query, mode=SearchMode.VECTOR))


def _search(
    principal: Principal, query: SearchQuery, embedding_set: EmbeddingSet, watch: Stopwatch, expand: Expand
) -> SearchResult:
    permitted = permitted_chunks(principal, query.filter, embedding_set)
    if permitted.is_empty:
        return _NOTHING
    terms = analyse_query(query.text, expand=None if query.mode is SearchMode.VECTOR else expand)
    findings = ask_legs(
        query.text, terms, mode=query.mode, embedding_set=embedding_set, permitted=permitted, watch=watch
    )
    calibration = calibration_for(backend=embedding_set.backend, model=embedding_set.model)
    with watch.measure("fuse"):
        ranked = fuse(findings.evidence, mode=findings.mode, cosine_range=calibration.cosine_range)
        scored = [_score(one, findings, calibration, detail=query.detail) for one in ranked]
    found = [one for one in scored if one.score >= query.threshold]
    with watch.measure("load"):
        if query.full_document:
            found = _best_of_each_document(found)
        rows = _load_rows(searchable_chunks(principal, query.filter, embedding_set), query, found)
        page = (_load_documents if query.full_document else _load_passages)(rows, query, found)
    return SearchResult(
        hits=tuple(page.hits),
        total_found=len(found),
        next_offset=page.next_offset,
        notices=(*findings.notices, *_quality_notices(scored, findings.mode, calibration), *page.notices),
    )


def _score(one: Fused, findings: Findings, calibration: Calibration, *, detail: bool) -> _Scored:
    score = calibration.score(one.value, findings.mode)
    legs = _legs(one.evidence, findings) if detail else None
    return _Scored(chunk_id=one.evidence.chunk_id, score=round(score, 6), legs=legs)


def _legs(evidence: Evidence, findings: Findings) -> dict[str, LegScore]:
    """Tell what each leg that was asked said of a candidate."""
    legs = {}
    if findings.mode is not SearchMode.VECTOR:
        legs["lexical"] = LegScore(rank=findings.lexical_ranks.get(evidence.chunk_id), raw=evidence.lexical)
    if evidence.cosine is not None:
        legs["vector"] = LegScore(rank=findings.vector_ranks.get(evidence.chunk_id), raw=evidence.cosine)
    return legs


def _quality_notices(scored: Sequence[_Scored], mode: SearchMode, calibration: Calibration) -> list[Notice]:
    if not calibration.is_known(mode):
        return [notices.UNCALIBRATED]
    return [] if scored and scored[0].score >= GOOD_EVIDENCE else [notices.NO_GOOD_EVIDENCE]


def _best_of_each_document(found: Sequence[_Scored]) -> list[_Scored]:
    versions = dict(Chunk.objects.filter(pk__in=[one.chunk_id for one in found]).values_list("pk", "version_id"))
    best: dict[int, _Scored] = {}
    for one in found:
        if one.chunk_id in versions:
            best.setdefault(versions[one.chunk_id], one)
    return list(best.values())


def _load_rows(permitted: QuerySet[Chunk], query: SearchQuery, found: Sequence[_Scored]) -> _Rows:
    """Load a page's chunks in rank order; permissions are asked again, so what went meanwhile is not shown."""
    page = found[query.offset : query.offset + query.limit]
    chunks = permitted.filter(pk__in=[one.chunk_id for one in page])
    rows = {chunk.pk: chunk for chunk in context.with_documents(chunks)}
    return [(one, rows[one.chunk_id]) for one in page if one.chunk_id in rows]


def _load_passages(rows: _Rows, query: SearchQuery, found: Sequence[_Scored]) -> _Page:
    size = query.context_size if query.with_context else 0
    around = context.neighbour_hits([chunk for _one, chunk in rows], size)
    groups = []
    for one, chunk in rows:
        group = [context.hit_of(chunk, score=one.score, legs=one.legs), *around.get(chunk.pk, ())]
        groups.append(_Group(scored=one, hits=sorted(group, key=lambda hit: hit.start_offset)))
    return _fit(groups, query, found)


def _load_documents(rows: _Rows, query: SearchQuery, found: Sequence[_Scored]) -> _Page:
    texts = context.full_documents([chunk for _one, chunk in rows], budget=settings.CONFIG.hub_output_budget_chars)
    groups = []
    for one, chunk in rows:
        markdown, is_cut = texts[chunk.version_id]
        hit = context.full_document_hit(context.hit_of(chunk, score=one.score, legs=one.legs), markdown)
        groups.append(_Group(scored=one, hits=[hit], is_cut=is_cut))
    return _fit(groups, query, found)


def _fit(groups: Sequence[_Group], query: SearchQuery, found: Sequence[_Scored]) -> _Page:
    """Keep the first groups that the output budget has room for (one at least), in the order asked for."""
    budget, kept = settings.CONFIG.hub_output_budget_chars, 0
    for group in groups:
        budget -= sum(len(hit.content) for hit in group.hits)
        if budget < 0 and kept:
            break
        kept += 1
    hits = [hit for group in groups[:kept] for hit in group.hits]
    if query.order is SearchOrder.DOCUMENT:
        hits.sort(key=lambda hit: (hit.document_path, hit.document_id, hit.start_offset))
    remarks = [notices.DOCUMENT_CUT] if any(group.is_cut for group in groups[:kept]) else []
    if kept == len(groups):
        return _Page(hits=hits, next_offset=_next_offset(query, found), notices=remarks)
    return _Page(
        hits=hits,
        next_offset=query.offset + found[query.offset :].index(groups[kept].scored),
        notices=[*remarks, notices.OUTPUT_CUT],
    )


def _next_offset(query: SearchQuery, found: Sequence[_Scored]) -> int | None:
    reached = query.offset + query.limit
    return reached if reached < len(found) else None
