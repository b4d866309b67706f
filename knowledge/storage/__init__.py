"""Where document bytes are kept, by their sha256: local disk, or S3 and what speaks its protocol."""

from knowledge.storage.blob_locks import lock_bytes
from knowledge.storage.blobs import (
    delete_bytes,
    expect_bytes,
    pending_removals,
    received_bytes,
    remove_pending_bytes,
    remove_unused_blobs,
)
from knowledge.storage.errors import BlobMissing, StorageUnavailable
from knowledge.storage.registry import get_blob_store
from knowledge.storage.store_owner import claim_store, owns_store, unknown_names

__all__ = [
    "BlobMissing",
    "StorageUnavailable",
    "claim_store",
    "delete_bytes",
    "expect_bytes",
    "get_blob_store",
    "lock_bytes",
    "owns_store",
    "pending_removals",
    "received_bytes",
    "remove_pending_bytes",
    "remove_unused_blobs",
    "unknown_names",
]
