"""Noting for the copies of the index in a search engine what a transaction changes: which passages, never values.

Nothing is noted, and nothing asked, where SEARCH_INDEX is embedded. The rows commit with the change they are of;
`knowledge.generations` sends them afterwards, and reads what is so then.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import connection

from hub.core.queue import enqueue_on_commit
from knowledge.models import ChangeKind, EmbeddingSet

SEND = "knowledge.send_index_changes"

_NOTE = """
INSERT INTO knowledge_indexchange (generation_id, kind, numbers, document_id)
SELECT id, %s, %s, %s FROM knowledge_indexgeneration
WHERE status <> 'dropped' AND (%s::bigint IS NULL OR embedding_set_id = %s) RETURNING generation_id
"""


def has_engine() -> bool:
    """Return whether there is a search engine beside PostgreSQL that has to be told of changes."""
    return bool(settings.CONFIG.search_index != "embedded")


def note_written(numbers: Sequence[int], *, embedding_set: EmbeddingSet | None = None) -> None:
    """Note that passages are new under these numbers, or have a new vector in a set. One query at most."""
    if numbers:
        _note(ChangeKind.PUT, numbers=numbers, embedding_set=embedding_set)


def note_deleted(numbers: Sequence[int]) -> None:
    """Note that passages have left the index. One query at most."""
    if numbers:
        _note(ChangeKind.DROP, numbers=numbers)


def note_tagged(document_id: int) -> None:
    """Note that a document is in another collection, or classified otherwise. One query at most."""
    _note(ChangeKind.RETAG, document_id=document_id)


def _note(
    kind: ChangeKind,
    *,
    numbers: Sequence[int] = (),
    document_id: int | None = None,
    embedding_set: EmbeddingSet | None = None,
) -> None:
    if not has_engine():
        return
    set_id = embedding_set.pk if embedding_set else None
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, [kind.value, list(numbers), document_id, set_id, set_id])
        told = [row[0] for row in cursor.fetchall()]
    for generation_id in told:
        enqueue_on_commit(SEND, generation_id=generation_id)
