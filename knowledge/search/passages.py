"""Reading passages, their neighbours and whole documents as hits; in plain rows, since models would cost the most."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Left, Length
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import InvalidInput, NotFound
from knowledge.models import Chunk, DocumentVersion, VersionContent
from knowledge.search.postings import array_literal
from knowledge.search.scope import PermittedChunks
from knowledge.types.search import Duplicate, Hit, LegScore


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with what a hit tells of its document; ``document_id`` is the public one. Fields as `_COLUMNS` has."""

    pk: int
    public_id: str
    version_id: int
    policy_id: int
    index: int
    content: str
    context_prefix: str
    section_path: Sequence[str]
    page: int | None
    cell: str | None
    start_offset: int
    end_offset: int
    version: int
    document_id: str
    document_path: str
    title: str
    metadata: Mapping[str, Any]
    collection: str


_COLUMNS = """
c.id, c.public_id, c.version_id, c.policy_id, c.index, c.content, c.context_prefix, c.section_path, c.page, c.cell,
c.start_offset, c.end_offset, v.number, d.public_id, d.path, d.title, d.metadata::text, k.slug
"""
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


def newest_and_passages(chunk_ids: Sequence[int], permitted: PermittedChunks) -> tuple[int, dict[int, Passage]]:
    """Read the permitted ones of some chunks, by key, and the newest key of any chunk (0 without one). One query."""
    if not chunk_ids or permitted.is_empty:
        return 0, {}
    with connection.cursor() as cursor:
        cursor.execute(_PERMITTED.format(permitted=permitted.sql), [array_literal(chunk_ids), *permitted.params])
        rows = cursor.fetchall()
    return rows[0][0] if rows else 0, {row[1]: _passage(row[1:]) for row in rows}


def near_passages(chunks: Sequence[Passage], size: int) -> list[Passage]:
    """Read what stands up to ``size`` places before and after chunks in their versions, without these. One query."""
    spans = [[one.version_id for one in chunks], [one.policy_id for one in chunks]]
    spans += [[max(one.index - size, 0) for one in chunks], [one.index + size for one in chunks]]
    with connection.cursor() as cursor:
        cursor.execute(_NEAR, [*spans, [one.pk for one in chunks]])
        return [_passage(row) for row in cursor.fetchall()]


def _passage(row: Sequence[Any]) -> Passage:
    *before, metadata, collection = row
    return Passage(*(*before, json.loads(metadata), collection))


def passage_of(chunk: Chunk) -> Passage:
    """Make a passage of a chunk that was loaded with its version, document and collection."""
    document = chunk.version.document
    return Passage(
        chunk.pk,
        chunk.public_id,
        chunk.version_id,
        chunk.policy_id,
        chunk.index,
        chunk.content,
        chunk.context_prefix,
        chunk.section_path,
        chunk.page,
        chunk.cell,
        chunk.start_offset,
        chunk.end_offset,
        chunk.version.number,
        document.public_id,
        document.path,
        document.title,
        document.metadata,
        document.collection.slug,
    )


MAX_NEIGHBOURS = 20


def get_chunk(principal: Principal, chunk_id: str) -> Hit:
    """Read one passage by its public id, also of an older version or a retired document.

    :raises NotFound: there is none, or the caller may not read its document.
    """
    return hit_of(passage_of(_readable_chunk(principal, chunk_id)))


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
    chunk = _readable_chunk(principal, chunk_id)
    around = with_documents(
        Chunk.objects.filter(
            version_id=chunk.version_id,
            policy_id=chunk.policy_id,
            index__range=(max(chunk.index - before, 0), chunk.index + after),
        )
    )
    return tuple(hit_of(passage_of(row), is_context=row.pk != chunk.pk) for row in around.order_by("index"))


def _readable_chunk(principal: Principal, chunk_id: str) -> Chunk:
    principal.require(Scope.READ)
    versions = DocumentVersion.objects.visible_to(principal, Scope.READ).values("pk")
    found = (
        None
        if "\0" in chunk_id
        else with_documents(Chunk.objects.filter(public_id=chunk_id, version__in=versions)).first()
    )
    if found is None:
        raise NotFound(_("There is no passage {id}."), code="chunk_not_found", id=chunk_id[:60])
    return found


def with_documents(chunks: QuerySet[Chunk]) -> QuerySet[Chunk]:
    """Load chunks together with all that a hit tells of their documents."""
    return chunks.select_related("version__document__collection")


def hit_of(
    chunk: Passage,
    *,
    score: float | None = None,
    is_context: bool = False,
    legs: Mapping[str, LegScore] | None = None,
    highlights: tuple[tuple[int, int], ...] | None = None,
    terms: tuple[str, ...] | None = None,
    duplicates: tuple[Duplicate, ...] = (),
) -> Hit:
    """Make a hit of a passage."""
    return Hit(
        chunk_id=chunk.public_id,
        document_id=chunk.document_id,
        document_path=chunk.document_path,
        title=chunk.title,
        content=chunk.content,
        context_prefix=chunk.context_prefix,
        score=score,
        chunk_index=chunk.index,
        section_path=tuple(chunk.section_path),
        page=chunk.page,
        cell=chunk.cell,
        start_offset=chunk.start_offset,
        end_offset=chunk.end_offset,
        collection=chunk.collection,
        version=chunk.version,
        is_context=is_context,
        metadata=chunk.metadata,
        legs=legs,
        highlights=highlights,
        terms=terms,
        duplicates=duplicates,
    )


def neighbour_hits(chunks: Sequence[Passage], size: int) -> dict[int, list[Hit]]:
    """Find up to ``size`` passages on each side of each chunk: chunk pk → its context, in document order.

    A passage is shown once, with the first chunk that it stands next to, and never when it is a hit itself. What
    overlaps text already shown is cut off, offsets included, so that content stays verbatim. One query.
    """
    if not chunks or size == 0:
        return {}
    near = {(row.version_id, row.policy_id, row.index): row for row in near_passages(chunks, size)}
    shown: dict[int, list[tuple[int, int]]] = {}
    for chunk in chunks:
        shown.setdefault(chunk.version_id, []).append((chunk.start_offset, chunk.end_offset))
    return {chunk.pk: _take_context(chunk, size, near, shown[chunk.version_id]) for chunk in chunks}


def _take_context(
    chunk: Passage, size: int, near: dict[tuple[int, int, int], Passage], shown: list[tuple[int, int]]
) -> list[Hit]:
    taken = []
    for step in sorted(range(-size, size + 1), key=abs):
        row = near.pop((chunk.version_id, chunk.policy_id, chunk.index + step), None)
        if row is None:
            continue
        start, end = _uncovered(row.start_offset, row.end_offset, shown)
        if start < end:
            shown.append((start, end))
            content = row.content[start - row.start_offset : end - row.start_offset]
            hit = hit_of(row, is_context=True)
            taken.append(replace(hit, content=content, start_offset=start, end_offset=end))
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
