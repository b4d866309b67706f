"""Keeping the lexical index small and up to date: merging, clearing what was deleted, newer analysis."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import groupby

from django.db import transaction

from knowledge.index.postings import outdated_entries, write_postings
from knowledge.index.segments import maintain_segments
from knowledge.models import Chunk

SLICE_S = 20.0
BATCH = 64


def keep_lexical_index(*, seconds: float = SLICE_S) -> bool:
    """Merge segments and index again what an older edition of the analysis made, for about ``seconds``.

    Short transactions, each complete in itself. True when something is left to do.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not maintain_segments() and not _reindex_outdated():
            return False
    return True


def clear_deleted_postings() -> None:
    """Write all segments again that hold postings of deleted chunks."""
    while maintain_segments(purge=True):
        pass


def reindex_chunks(chunk_ids: Sequence[int]) -> None:
    """Write the postings of chunks again, one transaction for each version."""
    rows = Chunk.objects.filter(pk__in=chunk_ids).select_related("version__document").order_by("version_id", "index")
    for _version_id, group in groupby(rows, key=lambda row: row.version_id):
        chunks = list(group)
        with transaction.atomic():
            document = chunks[0].version.document
            write_postings(chunks, title=document.title, path=document.path)


def _reindex_outdated() -> bool:
    outdated = outdated_entries(BATCH)
    reindex_chunks(outdated)
    return bool(outdated)
