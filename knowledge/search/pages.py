"""Pages of an answer: loading passages, their neighbours or whole documents, and keeping to the output budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from django.conf import settings

from knowledge.search import notices, passages
from knowledge.search.highlights import Marks, highlight_spans, query_marks
from knowledge.search.passages import Passage
from knowledge.search.query import Question
from knowledge.search.ranking import Ranked, Scored, arrange, scored_candidates
from knowledge.search.recall import Findings
from knowledge.search.scope import PermittedChunks
from knowledge.types.search import Duplicate, Hit, PageMark, SearchDetail, SearchOrder, SearchQuery, SearchResult

Rows: TypeAlias = list[tuple[Scored, Passage]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    scored: Scored
    hits: list[Hit]
    is_cut: bool = False


def load_page(
    permitted: PermittedChunks, query: SearchQuery, question: Question, findings: Findings, ranked: Ranked
) -> SearchResult:
    """Load the passages of the page that is asked for, in rank order, and count the hits on all pages.

    Permissions are asked again, so what went meanwhile is not shown. Up to three queries, however many passages there
    are, and one from the second page on.
    """
    shown, total = arrange(ranked.found, query, findings.candidates)
    page = scored_candidates(shown.at(slice(query.offset, query.offset + query.limit)), ranked, findings, query)
    keys = findings.candidates.chunk_ids[shown.places].tolist()
    wanted = [one.chunk_id for one in page] + [key for one in page for key in one.duplicates]
    newest, rows = passages.newest_and_passages(wanted, permitted)
    if query.after:
        newest = query.after.newest
    here = [(one, rows[one.chunk_id]) for one in page if one.chunk_id in rows]
    groups = _documents(here, query) if query.full_document else _passages(here, rows, query, question)
    return replace(_fit(groups, query, keys, newest), total_found=total)


def _passages(here: Rows, rows: Mapping[int, Passage], query: SearchQuery, question: Question) -> list[_Group]:
    also = (*question.phrases, *question.synonyms)
    is_marked = query.level.includes(SearchDetail.HIGHLIGHTS)
    marks = query_marks(query.text, question.terms, also=also) if is_marked else None
    size = query.context_size if query.with_context else 0
    around = passages.neighbour_hits([chunk for _one, chunk in here], size)
    groups = []
    for one, chunk in here:
        hit = _hit(one, chunk, query, marks=marks, duplicates=[rows[key].hit for key in one.duplicates if key in rows])
        hits = sorted([hit, *around.get(chunk.pk, ())], key=lambda hit: hit.start_offset)
        groups.append(_Group(scored=one, hits=hits))
    return groups


def _documents(here: Rows, query: SearchQuery) -> list[_Group]:
    budget = settings.CONFIG.hub_output_budget_chars
    texts = passages.full_documents([chunk for _one, chunk in here], budget=budget)
    groups = []
    for one, chunk in here:
        markdown, is_cut = texts[chunk.version_id]
        hit = passages.full_document_hit(_hit(one, chunk, query), markdown)
        groups.append(_Group(scored=one, hits=[hit], is_cut=is_cut))
    return groups


def _hit(
    one: Scored, chunk: Passage, query: SearchQuery, *, marks: Marks | None = None, duplicates: Sequence[Hit] = ()
) -> Hit:
    return replace(
        chunk.hit,
        score=one.score,
        legs=one.legs if query.level.includes(SearchDetail.SCORES) else None,
        highlights=None if marks is None else highlight_spans(chunk.hit.content, marks),
        terms=one.terms if query.level.includes(SearchDetail.EXPLAIN) else None,
        duplicates=tuple(
            Duplicate(chunk_id=other.chunk_id, document_id=other.document_id, document_path=other.document_path)
            for other in duplicates
        ),
    )


def _fit(groups: Sequence[_Group], query: SearchQuery, found: Sequence[int], newest: int) -> SearchResult:
    """Keep the first groups that the output budget has room for (one at least), in the order asked for.

    ``found`` are the keys of all that is shown on this page and the later ones.
    """
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
        reached = query.offset + query.limit
    else:
        reached = found.index(groups[kept].scored.chunk_id, query.offset)
        remarks.append(notices.OUTPUT_CUT)
    next_offset = reached if reached < len(found) else None
    # The next page goes on behind these, among the passages that there are now.
    shown = (*(query.after.shown if query.after else ()), *found[:reached])
    mark = None if next_offset is None else PageMark(shown=shown, newest=newest)
    return SearchResult(
        hits=tuple(hits), total_found=0, next_offset=next_offset, next_page=mark, notices=tuple(remarks)
    )
