"""Private folders for files that are copied out of a source."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from hub.rest.uploads import temp_dir

PREFIX = "source-"
STALE_AFTER = timedelta(days=1)


@contextmanager
def private_folder() -> Iterator[Path]:
    """Give an empty folder for its owner only, beside the uploads; afterwards it is gone."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=temp_dir()) as folder:
        yield Path(folder)


def prune_private_folders(now: datetime) -> int:
    """Remove what killed scans left a day ago or earlier; gives their number."""
    oldest = (now - STALE_AFTER).timestamp()
    stale = [path for path in temp_dir().glob(PREFIX + "*") if path.is_dir() and path.stat().st_mtime < oldest]
    for path in stale:
        shutil.rmtree(path, ignore_errors=True)
    return len(stale)
