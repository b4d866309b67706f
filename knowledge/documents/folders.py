"""Bringing a collection in step with a folder, and waiting until its documents are finished."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import InvalidInput
from knowledge.documents.folder_reports import FolderReport, Problem
from knowledge.documents.passes import Pass, Plan
from knowledge.documents.workers import work_through
from knowledge.models import DocumentStatus, DocumentVersion
from knowledge.sources import FolderReader
from knowledge.types.anonymising import Anonymising
from knowledge.types.chunks import ChunkOptions


def index_folder(
    *,
    principal: Principal,
    folder: Path,
    collection: str,
    chunk_options: ChunkOptions | None,
    incremental: bool,
    anonymise: Anonymising | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> FolderReport:
    """Bring a collection in step with a folder and wait until its documents are finished.

    Paths are relative to ``folder``; a file that is gone retires its document, within this folder only.
    ``incremental`` trusts size and modification time and does not read files that look unchanged. ``on_progress`` gets
    (finished, total). Raises InvalidInput when there is no such folder.
    """
    reader = FolderReader(folder.expanduser().resolve())
    if not Path(reader.root).is_dir():
        raise InvalidInput(_("There is no folder {folder}. Give one with -d."), folder=str(folder))
    report = FolderReport()
    plan = Plan(
        principal=principal,
        reader=reader,
        collection=collection,
        chunk_options=chunk_options,
        incremental=incremental,
        anonymise=anonymise,
    )
    work = Pass(plan, report)
    work.run()
    _finish(report, work.versions, on_progress)
    return report


def _finish(report: FolderReport, versions: dict[int, str], on_progress: Callable[[int, int], None] | None) -> None:
    work_through(versions, on_change=(lambda done: on_progress(done, len(versions))) if on_progress else None)
    failed = DocumentVersion.objects.filter(pk__in=versions, status=DocumentStatus.FAILED).order_by("pk")
    for version in failed:
        report.problems.append(
            Problem(
                path=versions[version.pk],
                ja=version.status_reason_ja or version.status_code,
                en=version.status_reason_en or version.status_code,
            )
        )
