"""Where document bytes are kept, by their sha256, encrypted or not: local disk, or what speaks S3's protocol."""

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
from knowledge.storage.copies import StoredFile, open_for_copy, put_copy, stored_files
from knowledge.storage.ending import EndedReceipt, end_key, ended_but_configured, ended_but_needed, files_by_key
from knowledge.storage.errors import BlobMissing, StorageUnavailable
from knowledge.storage.holding import hold_removals
from knowledge.storage.rotation import Rotation, SealedState, rotate, sealed_state
