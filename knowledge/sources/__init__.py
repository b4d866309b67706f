"""Where watched files are read from: folders, S3 buckets and what speaks its protocol."""

from knowledge.sources.base import (
    FetchedFile,
    FileUnreadable,
    Heartbeat,
    Listing,
    SourceFile,
    SourceReader,
    SourceUnavailable,
)
from knowledge.sources.folder import FolderReader
from knowledge.sources.registry import normal_location, open_source, watched_roots
