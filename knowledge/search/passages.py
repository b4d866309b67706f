"""Reading what a hit tells of passages, as plain rows: on the way of every search, models would cost the most."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from knowledge.models import Chunk
from knowledge.search.postings import array_literal
from knowledge.search.scope import PermittedChunks


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
