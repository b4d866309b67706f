"""Where watched files are read from: folders, S3 buckets and what speaks its protocol."""

from knowledge.sources.base import (
    FetchedFile,
    FileUnreadable,
    Heartbeat,
    Listing,
    SourceFile,
    SourceReader,
    SourceUnavailable,
    prune_private_folders,
)
from knowledge.sources.folder import FolderReader, walk
from knowledge.sources.registry import normal_location, open_source

__all__ = ["FetchedFile", "FileUnreadable", "Heartbeat", "Listing", "SourceFile", "SourceReader", "SourceUnavailable"]
__all__ += ["prune_private_folders"]
__all__ += ["FolderReader", "walk"]
__all__ += ["normal_location", "open_source"]
