"""Removing stored bytes that nobody uses any more."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from knowledge.backends.blob_locks import lock_bytes
from knowledge.backends.storage import get_blob_store
from knowledge.models import Blob, DocumentVersion, Figure


def unused_blobs() -> QuerySet[Blob]:
    """Blobs that are neither a version's file nor a figure."""
    files = DocumentVersion.objects.filter(blob=OuterRef("pk"))
    return Blob.objects.filter(~Exists(files), ~Exists(Figure.objects.filter(blob=OuterRef("pk"))))


def delete_bytes(sha256: str) -> bool:
    """Remove bytes from the store unless somebody has a row for them, or is storing them now.

    :raises StorageUnavailable: the store does not answer.
    """
    with transaction.atomic():
        lock_bytes(sha256)
        if Blob.objects.filter(pk=sha256).exists():
            return False
        get_blob_store().delete(sha256)
    return True


def remove_unused_blobs(hashes: Collection[str], *, delete: Callable[[str], object] = delete_bytes) -> int:
    """Remove those of the blobs that nobody uses, and give their number; ``delete`` gets their names after the commit.

    Inside a transaction that has locked their bytes.
    """
    unused = unused_blobs().filter(pk__in=hashes)
    names = list(unused.values_list("pk", flat=True))
    Blob.objects.filter(pk__in=names).delete()
    for sha256 in names:
        transaction.on_commit(partial(delete, sha256))
    return len(names)
