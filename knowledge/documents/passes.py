"""One pass over a source of files: what is new, changed, unchanged or gone since the last time.

One engine for `manage.py index` and for watched sources (:mod:`knowledge.documents.sources`). A pass may be stopped or
killed after any file: the next one finds in the rows what was done.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import Conflict, HubError, Unavailable
from hub.core.lease import Lease
from hub.rest.uploads import too_large
from knowledge.collections import get_collection
from knowledge.documents.archives import TakenArchive, folder_of_archive, is_archive_name, take_in_archive
from knowledge.documents.deletion import retire_document
from knowledge.documents.documents import chunk_policy
from knowledge.documents.folder_reports import FolderReport
from knowledge.documents.known_files import KnownFile, documents_of_others, load_known_files
from knowledge.documents.reindexing import recut_document
from knowledge.documents.uploads import Upload, UploadOutcome, clean_path, create_document, hash_file
from knowledge.models import Collection, Document
from knowledge.models.documents import IN_WORK
from knowledge.sources import FetchedFile, Listing, SourceFile, SourceReader, SourceUnavailable
from knowledge.types.anonymising import Anonymising
from knowledge.types.chunks import ChunkOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a pass is to do, and for whom.

    ``incremental`` trusts a file's stamp and does not read files that look unchanged. ``watched`` is a scan that nobody
    asked for: it leaves documents of other uploaders and other sources alone. With a ``lease``, all is written as its
    holder. Without ``chunk_options`` files are cut as the collection says. ``last_identity`` is what the reader was
    last time, if that is known. ``batch`` names what comes in together, so that it can be taken back together.
    """

    principal: Principal
    reader: SourceReader
    collection: str
    chunk_options: ChunkOptions | None
    incremental: bool
    anonymise: Anonymising | None = None
    watched: bool = False
    lease: Lease | None = None
    last_identity: str = ""
    batch: str = ""


def _chunking_of(collection: str) -> ChunkOptions | None:
    """How a collection has its documents cut; None where it says nothing, or is not there."""
    found = Collection.objects.select_related("policy").filter(slug=collection).first()
    return found.policy.options() if found is not None and found.policy is not None else None


_LAST = chr(0x10FFFF)


class Pass:
    """One pass over a source. ``versions`` are those that are in work because of it, with their paths."""

    def __init__(self, plan: Plan, report: FolderReport, *, after: str = "") -> None:
        """Begin behind the file ``after``: the files up to it were dealt with by an earlier, stopped pass."""
        self.report = report
        self.after = after
        self.versions: dict[int, str] = {}
        self._plan = plan
        self._chunk_options = plan.chunk_options or _chunking_of(plan.collection)
        self._policy_id = chunk_policy(self._chunk_options).pk
        self._seen: set[str] = set()
        self._known: dict[str, KnownFile] = {}
        self._paths: list[str] = []

    def run(self, *, until: float | None = None, on_file: Callable[[], None] | None = None) -> bool:
        """Take in and retire; True when all is done, False when the monotonic time ``until`` came first.

        Raises InvalidInput, NotFound (the collection), Unavailable (source or storage), LeaseLost.
        """
        started = time.monotonic()
        try:
            return self._run(until, on_file)
        finally:
            self.report.seconds += time.monotonic() - started

    def _run(self, until: float | None, on_file: Callable[[], None] | None) -> bool:
        get_collection(self._plan.principal, self._plan.collection, scope=Scope.UPLOAD)
        listing = self._plan.reader.list_files(self._heartbeat)
        place = {"collection": self._plan.collection, "root": self._plan.reader.root}
        known = load_known_files(self._plan.principal, **place)
        self._known, self._paths = known, sorted(known)
        self._refuse_another_identity(listing, known)
        others = documents_of_others(self._plan.principal, **place) if self._plan.watched else Document.objects.none()
        taken = frozenset(others.values_list("path", flat=True))
        for file in listing.files:
            name = self._name(file)
            if name is None or file.path <= self.after:
                continue
            self._heartbeat()
            if is_archive_name(name) and self._plan.lease is None:
                self._deal_with_archive(file, name)
            else:
                self._deal_with(file, name, known.get(name), is_taken=name in taken)
            self.after = file.path
            if on_file:
                on_file()
            if until is not None and time.monotonic() > until:
                return False
        self._retire_gone(listing, known)
        return True

    def _heartbeat(self) -> None:
        if self._plan.lease:
            self._plan.lease.renew()

    def _refuse_another_identity(self, listing: Listing, known: dict[str, KnownFile]) -> None:
        """An empty folder where a disk was mounted, or an empty bucket of another server, is no reason to retire."""
        before, now = self._plan.last_identity, self._plan.reader.identity()
        if before and before != now and not listing.files and not all(row.is_retired for row in known.values()):
            raise SourceUnavailable(
                _("{root} is empty and not on the disk or server it was on. Mount it again, or change the location."),
                code="source_replaced",
                root=self._plan.reader.root,
            )

    def _name(self, file: SourceFile) -> str | None:
        """The file's path as documents have it; None, and a problem, when it can't be one."""
        try:
            name = clean_path(file.path)
            if name in self._seen:
                raise Conflict(_("Another file has the same path in composed form. Rename one of them."))
        except HubError as error:
            if file.path > self.after:
                self.report.note(file.path, error)
            return None
        self._seen.add(name)
        return name

    def _deal_with(self, file: SourceFile, name: str, known: KnownFile | None, *, is_taken: bool) -> None:
        looks_same = known is not None and known.stamp == file.stamp and not known.is_retired
        if known is None or not (self._plan.incremental and looks_same):
            self._take_in(file, name, known, is_taken=is_taken)
        elif self._is_cut_as_wanted(known):
            self.report.unchanged += 1
            if known.version_id is not None and known.status in IN_WORK:
                self.versions[known.version_id] = name
        else:
            self._recut(name, known)

    def _deal_with_archive(self, file: SourceFile, name: str) -> None:
        """Take in the documents of a zip, or a mail with what is attached. All of them have the archive's stamp."""
        inside = self._known_inside(name)
        current = {path: row for path, row in inside.items() if row.stamp == file.stamp and not row.is_retired}
        if self._plan.incremental and current and all(map(self._is_cut_as_wanted, current.values())):
            self._seen.update(current)
            self.report.unchanged += len(current)
            return
        try:
            taken = self._unpack(file, name)
        except Unavailable:
            raise  # every other file would fail as well, and nothing may be concluded
        except HubError as error:
            self._seen.update(inside)  # what can't be looked into retires nothing
            self.report.note(name, error)
            return
        for one in taken.files:
            if one.error is not None:
                self.report.note(f"{name}/{one.name}", one.error)
            elif one.outcome is not None:
                self._seen.add(one.outcome.document.path)
                self._count(one.outcome, one.outcome.document.path)

    def _known_inside(self, name: str) -> dict[str, KnownFile]:
        """The documents that came from an archive before, a mail's own among them."""
        below = folder_of_archive(name)
        first, last = bisect_left(self._paths, below), bisect_left(self._paths, below + _LAST)
        own = [name] if name in self._known else []
        return {path: self._known[path] for path in [*own, *self._paths[first:last]]}

    def _unpack(self, file: SourceFile, name: str) -> TakenArchive:
        with self._fetched(file) as (fetched, sha256, size_bytes):
            upload = Upload(
                file=fetched.path,
                filename=PurePosixPath(name).name,
                sha256=sha256,
                size_bytes=size_bytes,
                path=str(PurePosixPath(name).parent) if "/" in name else "",
                collection=self._plan.collection,
                chunk_options=self._chunk_options,
                anonymise=self._plan.anonymise,
                guess_type=True,
                source_root=self._plan.reader.root,
            )
            taken = take_in_archive(principal=self._plan.principal, upload=upload)
            documents = [one.outcome.document.pk for one in taken.files if one.outcome is not None]
            # Last: a pass that ends before has not seen the whole of it.
            Document.objects.filter(pk__in=documents).update(source_stamp=fetched.stamp)
            return taken

    def _is_cut_as_wanted(self, known: KnownFile) -> bool:
        if known.chosen_policy:
            return True
        if self._chunk_options is None:
            return not known.has_own_policy
        return known.version_policy_id == self._policy_id

    def _recut(self, name: str, known: KnownFile) -> None:
        with transaction.atomic():
            self._lock()
            document = recut_document(document_pk=known.pk, chunk_options=self._chunk_options)
        if document is not None and document.latest_version_id is not None:
            self.report.changed += 1
            self.versions[document.latest_version_id] = name

    def _take_in(self, file: SourceFile, name: str, known: KnownFile | None, *, is_taken: bool) -> None:
        try:
            if is_taken:
                raise Conflict(
                    _("{path} belongs to another uploader or source. Rename the file, or use another collection."),
                    code="path_taken",
                    path=name,
                )
            done = self._create(file, name, known)
        except Unavailable:
            raise  # every other file would fail as well, and nothing may be concluded
        except HubError as error:
            self.report.note(name, error)
            return
        self._count(done, name)

    def _create(self, file: SourceFile, name: str, known: KnownFile | None) -> UploadOutcome:
        with self._fetched(file) as (fetched, sha256, size_bytes):
            chosen = known.chosen_policy if known else None
            upload = Upload(
                file=fetched.path,
                filename=Path(file.path).name,
                sha256=sha256,
                size_bytes=size_bytes,
                path=name,
                collection=self._plan.collection,
                chunk_options=chosen.options() if chosen else self._chunk_options,
                replace=self._plan.watched and known is not None,
                anonymise=self._plan.anonymise,
                guess_type=True,
                batch=self._plan.batch,
                source_root=self._plan.reader.root,
                source_stamp=fetched.stamp,
            )
            return create_document(principal=self._plan.principal, upload=upload, hold=self._lock)

    @contextmanager
    def _fetched(self, file: SourceFile) -> Iterator[tuple[FetchedFile, str, int]]:
        """Have a file here inside the block, with its hash and size. :raises LimitExceeded: it is too large."""
        limit = settings.CONFIG.hub_max_upload_bytes
        if file.size_bytes > limit:
            raise too_large(limit)
        with self._plan.reader.fetch(file, self._heartbeat) as fetched:
            sha256, size_bytes = hash_file(fetched.path)
            if size_bytes > limit:
                raise too_large(limit)
            yield fetched, sha256, size_bytes

    def _count(self, done: UploadOutcome, name: str) -> None:
        if done.outcome == "created":
            self.report.new += 1
        elif done.outcome == "new_version":
            self.report.changed += 1
        else:
            self.report.unchanged += 1
        if done.document.latest_version_id is not None:
            self.versions[done.document.latest_version_id] = name

    def _retire_gone(self, listing: Listing, known: dict[str, KnownFile]) -> None:
        """Retire what is gone; nothing at all when some place could not be looked into."""
        for path, error in listing.unreadable:
            self.report.note(path, error)
        if listing.unreadable:
            return
        gone = [row.pk for name, row in known.items() if name not in self._seen and not row.is_retired]
        for document in Document.objects.filter(pk__in=gone).order_by("path"):
            self._heartbeat()
            with transaction.atomic():
                self._lock()
                retire_document(document)
            self.report.removed += 1

    def _lock(self) -> None:
        if self._plan.lease:
            self._plan.lease.lock()
