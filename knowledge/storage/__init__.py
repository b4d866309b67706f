"""Where document bytes are kept, by their sha256: local disk, or S3 and what speaks its protocol."""

from knowledge.storage.errors import BlobMissing, StorageUnavailable
from knowledge.storage.registry import get_blob_store

__all__ = ["BlobMissing", "StorageUnavailable", "get_blob_store"]
