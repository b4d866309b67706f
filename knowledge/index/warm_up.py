"""Reading the search index into memory: after a start it is on disk, and the first questions would wait for it.

A walk through HNSW touches thousands of pages at random, which takes seconds from a disk and milliseconds from memory.
What is read, in the order of how much a question needs it: the active set's HNSW index, terms, postings, entries,
chunks, vectors. With the extension pg_prewarm pages go into PostgreSQL's own buffers while half of those are free for
them; without it the server reads the files through `pg_read_binary_file`, which leaves them in the system's cache. That
needs the right to call it, which the hub's role has in the embedded PostgreSQL.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from django.db import connection

from hub.core.embedded.postgres import machine_memory_bytes
from knowledge.index.active_embedder import find_active_set
from knowledge.index.vectors import index_name
from knowledge.models import EmbeddingSet

Way = Literal["pg_prewarm", "files"]
# One statement reads so much; PostgreSQL holds as much of it at once.
SLICE_BYTES = 16 * 1024**2
_PAGE_BYTES = 8192
# A relation's file is followed by another one at this size. Source: PostgreSQL manual, "Database File Layout".
_FILE_BYTES = 1024**3
_TABLES = (
    *("knowledge_lexicalterm", "knowledge_lexicalposting", "knowledge_lexicalentry", "knowledge_chunk"),
    *("knowledge_documentversion", "knowledge_document", "knowledge_chunkvector"),
)
_WAYS = """
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_prewarm'),
  has_function_privilege('pg_read_binary_file(text, bigint, bigint, boolean)', 'EXECUTE')
"""
# A relation that was cut off or removed meanwhile is left out.
_PREWARM = """
SELECT pg_prewarm(
  oid, CASE WHEN %s < pg_size_bytes(current_setting('shared_buffers')) / 2 THEN 'buffer' ELSE 'read' END, 'main', %s, %s
) FROM pg_class WHERE oid = %s AND pg_relation_size(oid) >= %s
"""
# HNSW indexes of other sets are not asked. A table comes before what belongs to it, its indexes and long values.
_RELATIONS = """
WITH given AS (
  SELECT to_regclass(name)::oid AS oid, place FROM unnest(%s::text[]) WITH ORDINALITY AS given (name, place)
),
own AS (
  SELECT oid, place, 0 AS part FROM given
  UNION ALL SELECT c.reltoastrelid, place, 2 FROM given JOIN pg_class c USING (oid)
  UNION ALL SELECT i.indexrelid, place, 3 FROM given JOIN pg_class c USING (oid)
    JOIN pg_index i ON i.indrelid IN (c.oid, c.reltoastrelid)
    JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam WHERE a.amname = 'btree'
)
SELECT oid, pg_relation_filepath(oid), pg_relation_size(oid) FROM own
WHERE oid <> 0 AND pg_relation_size(oid) > 0 ORDER BY place, part, oid
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A table or an index: its number, its first file below the data folder, and its bytes."""

    oid: int
    path: str
    size: int


def warm_up(start: int = 0, *, seconds: float = 2.0) -> int | None:
    """Read what a search needs, from the byte ``start`` on, for about so long; gives where to go on, None at the end.

    Ends at once where the server can't be made to read its files. What is in memory already takes no time to speak of.
    """
    embedding_set, way = find_active_set(), way_to_warm()
    if embedding_set is None or way is None:
        return None
    relations, deadline = relations_to_warm(embedding_set), time.monotonic() + seconds
    while (done := _warm_slice(relations, start, way)) > start:
        start = done
        if time.monotonic() >= deadline:
            return start
    return None


def way_to_warm() -> Way | None:
    """Return how this server can be made to read its files; None when it can't. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_WAYS)
        has_extension, may_read_files = cursor.fetchone()
    return "pg_prewarm" if has_extension else "files" if may_read_files else None


def relations_to_warm(embedding_set: EmbeddingSet) -> list[Relation]:
    with connection.cursor() as cursor:
        cursor.execute(_RELATIONS, [[index_name(embedding_set), *_TABLES]])
        return [Relation(oid=oid, path=path, size=size) for oid, path, size in cursor.fetchall()]


def _warm_slice(relations: list[Relation], start: int, way: Way) -> int:
    """Read the slice that begins ``start`` bytes into all relations one after the other; gives where the next begins.

    At the end, and at the budget of HUB_WARM_UP_BYTES, it gives ``start`` back. One query.
    """
    before = 0
    for relation in relations:
        offset = start - before
        if offset < relation.size:
            size = min(SLICE_BYTES, relation.size - offset, _FILE_BYTES - offset % _FILE_BYTES)
            if start + size > min(settings.CONFIG.hub_warm_up_bytes, machine_memory_bytes() // 2):
                return start
            (_prewarm if way == "pg_prewarm" else _read_file)(relation, offset, size, start)
            return start + size
        before += relation.size
    return start


def _read_file(relation: Relation, offset: int, size: int, _read_before: int) -> None:
    number, within = divmod(offset, _FILE_BYTES)
    path = f"{relation.path}.{number}" if number else relation.path
    with connection.cursor() as cursor:  # a file that is gone meanwhile is none to read
        cursor.execute("SELECT octet_length(pg_read_binary_file(%s, %s, %s, true))", [path, within, size])


def _prewarm(relation: Relation, offset: int, size: int, read_before: int) -> None:
    pages = offset // _PAGE_BYTES, (offset + size - 1) // _PAGE_BYTES
    with connection.cursor() as cursor:
        cursor.execute(_PREWARM, [read_before + size, *pages, relation.oid, offset + size])
