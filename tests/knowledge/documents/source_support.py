"""Watching a folder or bucket in tests, and what a scan of it did."""

from __future__ import annotations

from pathlib import Path

from hub.access.principals import local_operator
from knowledge.documents import scans, sources
from knowledge.documents.workers import work_through
from knowledge.models import Document, DocumentVersion, Source


def watch(folder: Path, *, name: str = "共有フォルダー", **more) -> Source:
    return sources.create_source(
        principal=local_operator(), name=name, location=str(folder), **{"collection": "default", **more}
    )


def run(source: Source) -> tuple[int, int, int, int, int]:
    """Scan now, to the end; gives new, changed, unchanged, removed, failed."""
    Source.objects.filter(pk=source.pk).update(scanned_at=None)
    while scans.scan(source.pk):
        pass
    source.refresh_from_db()
    return tuple(source.report[name] for name in ("new", "changed", "unchanged", "removed", "failed"))


def state(source: Source) -> str:
    return source.report["state"]


def live_paths() -> set[str]:
    return set(Document.objects.live().values_list("path", flat=True))


def work_off() -> None:
    work_through(list(DocumentVersion.objects.values_list("pk", flat=True)))
