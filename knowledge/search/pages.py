"""Pages of an answer: passages, their neighbours or whole documents as hits, up to the output budget.

Read in plain rows, since models would cost the most.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from django.conf import settings
from django.db import connection
from django.db.models.functions import Left, Length
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import InvalidInput, NotFound
from knowledge.models import Chunk, DocumentVersion, VersionContent
from knowledge.search import notices
from knowledge.search.facets import facets_of
from knowledge.search.highlights import Marks, highlight_spans, query_marks
from knowledge.search.postings import array_literal
from knowledge.search.query import Question
from knowledge.search.ranking import Ranked, Scored, arrange, scored_candidates
from knowledge.search.recall import Findings
from knowledge.search.scope import PermittedChunks
from knowledge.types.search import Duplicate, Hit, PageMark, SearchDetail, SearchOrder, SearchQuery, SearchResult

MAX_NEIGHBOURS = 20
# What is read of a passage, as SQL and as the ORM have it: four keys, then the fields of its hit.
_FACTS = (
    *("chunk_id", "document_id", "document_path", "title", "content", "context_prefix", "section_path", "page", "cell"),
    *("start_offset", "end_offset", "ocr_confidence", "version", "collection", "metadata"),
)
_COLUMNS = """
c.id, c.version_id, c.policy_id, c.index, c.public_id, d.public_id, d.path, d.title, c.content, c.context_prefix,
c.section_path, c.page, c.cell, c.start_offset, c.end_offset, c.ocr_confidence, v.number, k.slug, d.metadata::text
"""
_FIELDS = (
    *("pk", "version_id", "policy_id", "index", "public_id", "version__document__public_id"),
    *("version__document__path", "version__document__title", "content", "context_prefix", "section_path"),
    *(
        "page",
        "cell",
        "start_offset",
        "end_offset",
        "ocr_confidence",
        "version__number",
        "version__document__collection__slug",
    ),
    "version__document__metadata",
)
_TABLES = """
knowledge_chunk c JOIN knowledge_documentversion v ON v.id = c.version_id
JOIN knowledge_document d ON d.id = v.document_id JOIN knowledge_collection k ON k.id = d.collection_id
"""
_PERMITTED = f"""
SELECT (SELECT max(id) FROM knowledge_chunk), {_COLUMNS} FROM {_TABLES}
WHERE c.id = ANY(%s::bigint[]) AND c.id IN ({{permitted}})
"""  # noqa: S608 (constants of this module, and a compiled query whose values are parameters)
_NEAR = f"""
SELECT {_COLUMNS}
FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::int[]) AS around (version_id, policy_id, first, last)
JOIN ({_TABLES})
  ON c.version_id = around.version_id AND c.policy_id = around.policy_id
  AND c.index BETWEEN around.first AND around.last
WHERE c.id <> ALL(%s)
"""  # noqa: S608 (constants of this module)


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk's keys, its place in its version, and its hit without a score."""

    pk: int
    version_id: int
    policy_id: int
    index: int
    hit: Hit


def _passage(row: Sequence[Any]) -> Passage:
    pk, version_id, policy_id, index, *values = row
    facts = dict(zip(_FACTS, values, strict=True))
    metadata = facts["metadata"]
    facts["metadata"] = json.loads(metadata) if isinstance(metadata, str) else metadata
    facts["section_path"] = tuple(facts["section_path"])
    return Passage(pk, version_id, policy_id, index, Hit(**facts, chunk_index=index, score=None))


def newest_and_passages(chunk_ids: Sequence[int], permitted: PermittedChunks) -> tuple[int, dict[int, Passage]]:
    """Read the permitted ones of some chunks, by key, and the newest key of any chunk (0 without one). One query."""
    if not chunk_ids or permitted.is_empty:
        return 0, {}
    with connection.cursor() as cursor:
        cursor.execute(_PERMITTED.format(permitted=permitted.sql), [array_literal(chunk_ids), *permitted.params])
        rows = cursor.fetchall()
    return rows[0][0] if rows else 0, {row[1]: _passage(row[1:]) for row in rows}


def find_chunk(principal: Principal, chunk_id: str) -> Hit:
    """As `get_chunk`, for a service that says itself in the audit trail what it read."""
    return _readable_passage(principal, chunk_id).hit


def get_chunk(principal: Principal, chunk_id: str) -> Hit:
    """Read one passage by its public id, also of an older version or a retired document; the audit trail says so.

    :raises NotFound: there is none, or the caller may not read its document.
    """
    hit = find_chunk(principal, chunk_id)
    _record_reading(principal, hit, passages=1)
    return hit


def neighbours(principal: Principal, chunk_id: str, *, before: int = 1, after: int = 1) -> tuple[Hit, ...]:
    """Read a passage with those before and after it in the same version, in document order; overlaps stay.

    All but the passage itself are marked ``is_context``. :raises NotFound: as `get_chunk` does.
    :raises InvalidInput: ``before`` or ``after`` is not from 0 to ``MAX_NEIGHBOURS``.
    """
    for name, value in (("before", before), ("after", after)):
        if not 0 <= value <= MAX_NEIGHBOURS:
            raise InvalidInput(
                _("{field}: expected a number from 0 to {limit}, got {given}."),
                field=name,
                limit=MAX_NEIGHBOURS,
                given=value,
            )
    asked = _readable_passage(principal, chunk_id)
    places = (max(asked.index - before, 0), asked.index + after)
    around = Chunk.objects.filter(version_id=asked.version_id, policy_id=asked.policy_id, index__range=places)
    passages = list(map(_passage, around.order_by("index").values_list(*_FIELDS)))
    _record_reading(principal, asked.hit, passages=len(passages))
    return tuple(replace(one.hit, is_context=one.pk != asked.pk) for one in passages)


def _record_reading(principal: Principal, hit: Hit, *, passages: int) -> None:
    facts = {"version": hit.version, "chunk": hit.chunk_id, "passages": passages}
    record_event(principal, "DOCUMENT_READ", f"document:{hit.document_id}", part="passages", **facts)


def _readable_passage(principal: Principal, chunk_id: str) -> Passage:
    principal.require(Scope.READ)
    versions = DocumentVersion.objects.visible_to(principal, Scope.READ).values("pk")
    chunks = Chunk.objects.filter(public_id=chunk_id, version__in=versions)
    row = None if "\0" in chunk_id else chunks.values_list(*_FIELDS).first()
    if row is None:
        raise NotFound(_("There is no passage {id}."), code="chunk_not_found", id=chunk_id[:60])
    return _passage(row)


def neighbour_hits(chunks: Sequence[Passage], size: int) -> dict[int, list[Hit]]:
    """Find up to ``size`` passages on each side of each chunk: chunk pk → its context, in document order.

    A passage is shown once, with the first chunk that it is next to, and never when it is a hit itself. What
    overlaps text already shown is cut off, offsets included, so that content stays verbatim. One query.
    """
    if not chunks or size == 0:
        return {}
    spans = [[one.version_id for one in chunks], [one.policy_id for one in chunks]]
    spans += [[max(one.index - size, 0) for one in chunks], [one.index + size for one in chunks]]
    with connection.cursor() as cursor:
        cursor.execute(_NEAR, [*spans, [one.pk for one in chunks]])
        rows = [_passage(row) for row in cursor.fetchall()]
    near = {(row.version_id, row.policy_id, row.index): row.hit for row in rows}
    shown: dict[int, list[tuple[int, int]]] = {}
    for chunk in chunks:
        shown.setdefault(chunk.version_id, []).append((chunk.hit.start_offset, chunk.hit.end_offset))
    return {chunk.pk: _take_context(chunk, size, near, shown[chunk.version_id]) for chunk in chunks}


def _take_context(
    chunk: Passage, size: int, near: dict[tuple[int, int, int], Hit], shown: list[tuple[int, int]]
) -> list[Hit]:
    taken = []
    for step in sorted(range(-size, size + 1), key=abs):
        hit = near.pop((chunk.version_id, chunk.policy_id, chunk.index + step), None)
        if hit is None:
            continue
        start, end = _uncovered(hit.start_offset, hit.end_offset, shown)
        if start < end:
            shown.append((start, end))
            content = hit.content[start - hit.start_offset : end - hit.start_offset]
            taken.append(replace(hit, is_context=True, content=content, start_offset=start, end_offset=end))
    return sorted(taken, key=lambda hit: hit.start_offset)


def _uncovered(start: int, end: int, shown: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Cut off both ends of a span what is shown already; nothing is left when the result's start reaches its end."""
    for shown_start, shown_end in shown:
        if shown_start <= start < shown_end:
            start = shown_end
        if shown_start < end <= shown_end:
            end = shown_start
    return start, end


def full_documents(chunks: Sequence[Passage], *, budget: int) -> dict[int, tuple[str, bool]]:
    """Read the Markdown of each chunk's version: version pk → (text, whether it was cut at ``budget``). One query."""
    texts = VersionContent.objects.filter(version_id__in={chunk.version_id for chunk in chunks})
    cut = texts.annotate(head=Left("markdown", budget), characters=Length("markdown"))
    return {pk: (head, length > budget) for pk, head, length in cut.values_list("pk", "head", "characters")}


def full_document_hit(best: Hit, markdown: str) -> Hit:
    """Make the hit of a whole document (or as much of it as ``markdown`` is) from its best passage."""
    return replace(
        best,
        content=markdown,
        context_prefix="",
        chunk_index=None,
        section_path=(),
        page=None,
        cell=None,
        start_offset=0,
        end_offset=len(markdown),
        is_full_document=True,
    )


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
    are, one more with facets, and one from the second page on.
    """
    shown, total = arrange(ranked.found, query, findings.candidates)
    page = scored_candidates(shown.at(slice(query.offset, query.offset + query.limit)), ranked, findings, query)
    keys = findings.candidates.chunk_ids[shown.places].tolist()
    wanted = [one.chunk_id for one in page] + [key for one in page for key in one.duplicates]
    newest, rows = newest_and_passages(wanted, permitted)
    if query.after:
        newest = query.after.newest
    here = [(one, rows[one.chunk_id]) for one in page if one.chunk_id in rows]
    groups = _documents(here, query) if query.full_document else _with_context(here, rows, query, question)
    facets = facets_of(findings.candidates.version_ids[shown.places].tolist()) if query.with_facets else ()
    return replace(_fit(groups, query, keys, newest), total_found=total, facets=facets)


def _with_context(here: Rows, rows: Mapping[int, Passage], query: SearchQuery, question: Question) -> list[_Group]:
    also = (*question.phrases, *question.synonyms)
    is_marked = query.level.includes(SearchDetail.HIGHLIGHTS)
    marks = query_marks(query.text, question.terms, also=also) if is_marked else None
    size = query.context_size if query.with_context else 0
    around = neighbour_hits([chunk for _one, chunk in here], size)
    groups = []
    for one, chunk in here:
        hit = _hit(one, chunk, query, marks=marks, duplicates=[rows[key].hit for key in one.duplicates if key in rows])
        hits = sorted([hit, *around.get(chunk.pk, ())], key=lambda hit: hit.start_offset)
        groups.append(_Group(scored=one, hits=hits))
    return groups


def _documents(here: Rows, query: SearchQuery) -> list[_Group]:
    budget = settings.CONFIG.hub_output_budget_chars
    texts = full_documents([chunk for _one, chunk in here], budget=budget)
    groups = []
    for one, chunk in here:
        markdown, is_cut = texts[chunk.version_id]
        hit = full_document_hit(_hit(one, chunk, query), markdown)
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
