"""Search in the hub, in the Amazon Bedrock knowledge base, or in both, each with an order of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from django.conf import settings

from hub.access.audit_lines import query_facts
from hub.access.principals import Classification, Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Unavailable
from hub.llm.outside import Service, admit, needs_masking
from knowledge.documents.documents import check_search_filter
from knowledge.remote.bedrock_kb import DEFAULT_RESULTS, Citation, KbAnswer, KbConfig, KnowledgeBaseError, ask
from knowledge.search.audit import record_question
from knowledge.search.hybrid import search
from knowledge.search.query import check_query
from knowledge.types.notices import notice_of
from knowledge.types.search import RemoteHit, SearchFilter, SearchMode, SearchQuery, SearchResult, SearchSource


def knowledge_base_config() -> KbConfig:
    config = settings.CONFIG
    return KbConfig(
        aws_region=config.aws_region,
        aws_profile=config.aws_profile,
        kb_id=config.bedrock_kb_id,
        model_arn=config.bedrock_model_arn,
    )


KNOWLEDGE_BASE = Service(name="knowledge_base", is_private=False, is_trusted=True)


def ask_knowledge_base(
    *, principal: Principal, query: str, max_results: int = DEFAULT_RESULTS, generate: bool | None = None
) -> KbAnswer:
    """Ask the configured Amazon Bedrock knowledge base.

    :raises KnowledgeBaseError: with the kind of problem and what to do about it.
    """
    principal.require(Scope.SEARCH)
    # A question belongs to no document: c1, as whoever may search may ask it.
    admit(KNOWLEDGE_BASE, Classification.C1)
    masks = needs_masking(KNOWLEDGE_BASE)
    answer = ask(knowledge_base_config(), query=query, max_results=max_results, generate=generate, masks=masks)
    facts = {**query_facts(query), "mode": "bedrock", "results": len(answer.citations)}
    record_event(principal, "ANSWER" if answer.answer else "SEARCH", "bedrock", **facts)
    return answer


NOT_CONFIGURED = notice_of("search", "bedrock_not_configured")
NOT_FILTERED = notice_of("search", "bedrock_not_filtered")
LOCAL_UNAVAILABLE = notice_of("search", "local_unavailable")
_NOTHING = SearchResult(hits=(), total_found=0)


def search_sources(
    principal: Principal, query: SearchQuery, *, source: SearchSource = SearchSource.LOCAL
) -> SearchResult:
    """Find passages in the hub, in the Bedrock knowledge base, or in both.

    Bedrock's passages come in ``remote``, in its order and with its scores, which compare with nothing here: they are
    not mixed with the hub's hits, and the threshold, modes and context do not concern them. Up to ``limit`` of them
    come with the first page, and ``total_found`` counts them there. A knowledge base that is not configured, does not
    answer or can't be filtered as asked leaves a notice. Raises as `knowledge.search.hybrid.search` does, NotFound for
    a collection and InvalidInput for a document type in the filter that is not there; with ALL, Unavailable only when
    neither answers.
    """
    check_search_filter(principal, query.filter)
    if source is SearchSource.LOCAL:
        return _search_here(principal, query)
    query = check_query(query)
    remote = _NOTHING if query.after or query.offset else _ask_bedrock(principal, query)
    if source is SearchSource.BEDROCK:
        return remote
    try:
        local = _search_here(principal, query)
    except Unavailable:
        if not remote.remote:
            raise
        return replace(remote, notices=(LOCAL_UNAVAILABLE, *remote.notices))
    return replace(
        local,
        remote=remote.remote,
        total_found=local.total_found + remote.total_found,
        notices=(*local.notices, *remote.notices),
        timings_ms={**local.timings_ms, **remote.timings_ms},
    )


def compare_modes(
    principal: Principal, query: SearchQuery, modes: Sequence[SearchMode]
) -> list[tuple[SearchMode, SearchResult]]:
    """Ask the same in several modes. Raises as `search_sources` does."""
    return [(mode, _search_here(principal, replace(query, mode=mode))) for mode in modes]


def _search_here(principal: Principal, query: SearchQuery) -> SearchResult:
    result = search(principal, query)
    documents = [hit.document_id for hit in result.hits]
    record_question(
        principal,
        "SEARCH",
        query.text,
        mode=query.mode.value,
        asked=query.filter,
        documents=documents,
        results=len(documents),
    )
    return result


def _ask_bedrock(principal: Principal, query: SearchQuery) -> SearchResult:
    if not knowledge_base_config().kb_id.strip():
        return replace(_NOTHING, notices=(NOT_CONFIGURED,))
    if query.filter != SearchFilter():
        return replace(_NOTHING, notices=(NOT_FILTERED,))
    started = time.perf_counter()
    try:
        answer = ask_knowledge_base(principal=principal, query=query.text, max_results=query.limit, generate=False)
    except KnowledgeBaseError as error:
        unavailable = notice_of("search", "bedrock_unavailable", type=error.error_type, message=error.message)
        return replace(_NOTHING, notices=(unavailable,))
    hits = tuple(_remote_hit(rank, citation) for rank, citation in enumerate(answer.citations, 1))
    spent = round((time.perf_counter() - started) * 1000, 3)
    return SearchResult(hits=(), remote=hits, total_found=len(hits), timings_ms={"bedrock": spent})


def _remote_hit(rank: int, citation: Citation) -> RemoteHit:
    address = _address(citation)
    return RemoteHit(
        source=SearchSource.BEDROCK.value,
        rank=rank,
        title=PurePosixPath(address).name or address,
        address=address,
        content=citation.content,
        location=citation.location,
        score=citation.score,
    )


def _address(citation: Citation) -> str:
    """The URI or URL in a location, whatever its type names it: s3Location.uri, webLocation.url, …"""
    for part in citation.location.values():
        if isinstance(part, dict):
            found = next((part[name] for name in ("uri", "url", "id") if isinstance(part.get(name), str)), "")
            if found:
                return str(found)
    return ""
