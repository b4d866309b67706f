"""Clearing away a dropped embedding set: its index, the chunks that only it used, its vectors.

Bounded slices under the set's lease, as building has them. ``build_started_at`` of a dropped set stays until nothing
is left of it. A search that began before the drop goes on with what its snapshot shows.
"""

from __future__ import annotations

import logging
import time

from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from hub.core.lease import Lease, LeaseLost, claim
from knowledge.index.vectors import drop_index
from knowledge.ingest.stages import unindex
from knowledge.models import Chunk, DocumentVersion, EmbeddingSet, EmbeddingSetStatus

logger = logging.getLogger(__name__)

SLICE_S = 20.0
VECTORS_AT_ONCE = 5000
_DELETE_VECTORS = """
DELETE FROM knowledge_chunkvector WHERE embedding_set_id = %s AND chunk_id IN (
  SELECT chunk_id FROM knowledge_chunkvector WHERE embedding_set_id = %s ORDER BY chunk_id LIMIT %s
)
"""


def clear_slice(set_id: int, *, seconds: float = SLICE_S) -> bool:
    """Clear away a dropped set for about ``seconds``. True when more is left; False when done, held or not dropped."""
    dropped = EmbeddingSet.objects.filter(status=EmbeddingSetStatus.DROPPED, build_started_at__isnull=False)
    lease = claim(dropped, set_id)
    if lease is None:
        return False
    embedding_set = EmbeddingSet.objects.get(pk=set_id)
    deadline = time.monotonic() + seconds
    try:
        drop_index(embedding_set, concurrently=True)
        while _remove_chunks_of_one_version(embedding_set, lease) or _remove_vectors(embedding_set, lease):
            if time.monotonic() > deadline:
                lease.release()
                return True
        _note_cleared(embedding_set, lease)
    except LeaseLost:
        logger.info("clearing embedding set %s was taken over", embedding_set.name)
    return False


def _remove_chunks_of_one_version(embedding_set: EmbeddingSet, lease: Lease) -> bool:
    """Remove the chunks of a version that is cut for the active set too, if no set that is kept cuts as this one did.

    All of them in one transaction: for a set that is made anew a version is either cut or not.
    """
    lease.renew()
    with transaction.atomic():
        lease.lock()
        kept = EmbeddingSet.objects.exclude(status=EmbeddingSetStatus.DROPPED)
        if kept.filter(policy_id=embedding_set.policy_id).exists():
            return False
        active = Chunk.objects.filter(
            version_id=OuterRef("pk"), policy_id__in=kept.filter(is_active=True).values("policy_id")
        )
        unused = Chunk.objects.filter(version_id=OuterRef("pk"), policy_id=embedding_set.policy_id)
        versions = DocumentVersion.objects.filter(Exists(unused), Exists(active), has_own_policy=False).order_by("pk")
        version = versions.select_for_update(skip_locked=True).first()
        if version is None:
            return False
        chunks = Chunk.objects.filter(version=version, policy_id=embedding_set.policy_id)
        unindex(list(chunks.values_list("pk", flat=True)))
        chunks.delete()
    return True


def _remove_vectors(embedding_set: EmbeddingSet, lease: Lease) -> bool:
    lease.renew()
    with transaction.atomic(), connection.cursor() as cursor:
        lease.lock()
        cursor.execute(_DELETE_VECTORS, [embedding_set.pk, embedding_set.pk, VECTORS_AT_ONCE])
        return bool(cursor.rowcount)


def _note_cleared(embedding_set: EmbeddingSet, lease: Lease) -> None:
    with transaction.atomic():
        lease.lock()
        lease.release()
        EmbeddingSet.objects.filter(pk=embedding_set.pk).update(build_started_at=None, passages_per_second=None)
