"""Where document bytes are kept, by their sha256: local disk, or S3 and what speaks its protocol."""

from knowledge.storage.blobs import (
    claim_store,
    delete_bytes,
    expect_bytes,
    get_blob_store,
    lock_bytes,
    owns_store,
    pending_removals,
    received_bytes,
    remove_pending_bytes,
    remove_unused_blobs,
    unknown_names,
)
from knowledge.storage.errors import BlobMissing, StorageUnavailable
