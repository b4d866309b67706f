"""Indexing a folder tree: what is new, changed, unchanged or gone since the last time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import HubError, InvalidInput
from knowledge.models import Document, DocumentStatus, DocumentVersion
from knowledge.services.collections import get_collection
from knowledge.services.documents import Upload, create_document, hash_file, retire_document
from knowledge.services.workers import work_through
from knowledge.types import ChunkOptions

LOCK_FILE_PREFIX = "~$"


@dataclass(slots=True)
class FolderReport:
    """What indexing a folder did, in numbers of files; ``failures`` are (path, reason)."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)


def index_folder(
    *,
    principal: Principal,
    folder: Path,
    collection: str,
    chunk_options: ChunkOptions | None,
    incremental: bool,
    on_progress: Callable[[int, int], None] | None = None,
) -> FolderReport:
    """Bring a collection in step with a folder and wait until its documents are finished.

    Paths are relative to ``folder``; a file that is gone retires its document, within this folder only.
    ``incremental`` trusts size and modification time and does not read files that look unchanged. ``on_progress`` gets
    (finished, total). Raises InvalidInput when there is no such folder.
    """
    root = folder.expanduser().resolve()
    if not root.is_dir():
        raise InvalidInput(_("There is no folder {folder}. Give one with -d."), folder=str(folder))
    get_collection(principal, collection, scope=Scope.UPLOAD)
    known = _known_documents(principal, root, collection)
    report = FolderReport()
    versions: dict[int, str] = {}
    for path in walk(root):
        name = path.relative_to(root).as_posix()
        before = known.pop(name, None)
        stamp = _stamp(path)
        if incremental and before is not None and before.source_stamp == stamp and before.retired_at is None:
            report.unchanged += 1
            continue
        upload = _upload(path, name, root, stamp, collection, chunk_options)
        _take_in(principal, upload, report, versions)
    for gone in known.values():
        if gone.retired_at is None:
            retire_document(gone)
            report.removed += 1
    _finish(report, versions, on_progress)
    return report


def walk(root: Path) -> Iterator[Path]:
    """The files below ``root`` in a stable order, without hidden ones, lock files of office programs and links."""
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).parts
        hidden = any(part.startswith((".", LOCK_FILE_PREFIX)) for part in relative)
        if path.is_file() and not path.is_symlink() and not hidden:
            yield path


def _known_documents(principal: Principal, root: Path, collection: str) -> dict[str, Document]:
    documents = Document.objects.visible_to(principal, Scope.UPLOAD).filter(
        collection__slug=collection, source_root=str(root)
    )
    return {document.path: document for document in documents}


def _stamp(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size}:{status.st_mtime_ns}"


def _upload(
    path: Path, name: str, root: Path, stamp: str, collection: str, chunk_options: ChunkOptions | None
) -> Upload:
    sha256, size_bytes = hash_file(path)
    return Upload(
        file=path,
        filename=path.name,
        sha256=sha256,
        size_bytes=size_bytes,
        path=name,
        collection=collection,
        chunk_options=chunk_options,
        source_root=str(root),
        source_stamp=stamp,
    )


def _take_in(principal: Principal, upload: Upload, report: FolderReport, versions: dict[int, str]) -> None:
    try:
        done = create_document(principal=principal, upload=upload)
    except HubError as error:
        report.failures.append((upload.path, str(error)))
        return
    if done.outcome == "created":
        report.new += 1
    elif done.outcome == "new_version":
        report.changed += 1
    else:
        report.unchanged += 1
    if done.document.latest_version_id is not None:
        versions[done.document.latest_version_id] = upload.path


def _finish(report: FolderReport, versions: dict[int, str], on_progress: Callable[[int, int], None] | None) -> None:
    work_through(versions, on_change=(lambda done: on_progress(done, len(versions))) if on_progress else None)
    failed = DocumentVersion.objects.filter(pk__in=versions, status=DocumentStatus.FAILED).order_by("pk")
    for version in failed:
        report.failures.append((versions[version.pk], version.status_reason or version.status_code))
