"""Making a backup while everything runs.

One transaction sees the database as it was at one moment: counts, the list of stored files, ten searches and pg_dump
read that snapshot. Until the files are copied nothing is removed from the store, so each file of the list is there.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from psycopg import IsolationLevel

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.backups import folder as places
from hub.backups.errors import BackupFailed
from hub.backups.folder import Backup, Folder
from hub.backups.keys import carried_keys, keys_in_use
from hub.backups.manifest import (
    Manifest,
    database_facts,
    embedding_set_names,
    row_counts,
)
from hub.backups.programs import dumped
from hub.backups.progress import Watch, unwatched
from hub.backups.sealing import Recipients, new_file
from hub.backups.searches import ask_ten
from hub.core.encryption.errors import SealBroken
from hub.core.errors import HubError
from hub.core.hashes import sha256_of_file
from hub.core.schema_version import applied_migrations
from hub.version import hub_version
from knowledge.storage import (
    BlobMissing,
    StoredFile,
    hold_removals,
    open_for_copy,
    remove_pending_bytes,
    stored_files,
)


@dataclass(slots=True, kw_only=True)
class Copied:
    """What became of the stored files: ``fresh`` were copied now, ``replaced`` had a damaged copy."""

    files: int = 0
    file_bytes: int = 0
    fresh: int = 0
    replaced: int = 0
    unopened: int = 0
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A backup that was made, what was copied, and how many old ones went."""

    backup: Backup
    manifest: Manifest
    copied: Copied
    pruned: int


def make_backup(
    principal: Principal,
    path: Path,
    *,
    encrypt_to: str = "",
    with_keys: bool = False,
    keep: int | None = None,
    compress: bool = True,
    progress: Watch = unwatched,
) -> Made:
    """Write a backup into the folder ``path``; files that an earlier one copied are read and compared, not copied.

    ``progress`` is told after each stored file. With ``keep`` only so many of the folder's backups stay. It writes a
    line of the audit trail.

    :raises BackupFailed: and what storage and database raise; then no backup is there, but what was copied stays for
        the next one. Stored files that are missing or damaged in the store fail nothing: the manifest names them.
    """
    if with_keys and not encrypt_to:
        raise BackupFailed(_("Keys are put into encrypted backups only: name --encrypt-to as well."))
    folder = Folder(path)
    recipients = folder.prepare(encrypt_to)
    with folder.locked():
        with hold_removals():
            part = folder.begin(timezone.now())
            facts, files = _write_database(part, recipients, compress=compress)
            copied = _Copying(folder, recipients).copy_all(files, part, progress)
            manifest = Manifest(
                **facts,
                files=copied.files,
                file_bytes=copied.file_bytes,
                missing=copied.missing,
                damaged=copied.damaged,
                unopened=copied.unopened,
            )
            _write_part(part / places.MANIFEST, recipients, manifest.model_dump_json(indent=1).encode())
            if with_keys:
                _write_part(part / places.KEYS, recipients, json.dumps(carried_keys()).encode())
            about = {"taken_at": manifest.taken_at.isoformat(), "hub_version": manifest.hub_version}
            backup = folder.finish(part, {**about, "recipients": list(recipients.keys)})
        # Still locked: copies that another backup has made and not yet named would count as nobody's.
        pruned = folder.prune(keep) if keep else 0
    remove_pending_bytes()  # what was deleted meanwhile
    record_event(
        principal,
        "BACKUP",
        backup.name,
        files=copied.files,
        missing=len(copied.missing),
        damaged=len(copied.damaged),
        encrypted=bool(recipients.keys),
    )
    return Made(backup=backup, manifest=manifest, copied=copied, pruned=pruned)


@contextmanager
def _snapshot() -> Iterator[str]:
    """See the database as it is now for the length of the block; gives the snapshot's name for pg_dump."""
    connection.ensure_connection()
    driver = connection.connection
    before = driver.isolation_level
    driver.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_export_snapshot()")
                name = str(cursor.fetchone()[0])
            yield name
    finally:
        if not driver.closed:
            driver.isolation_level = before


def _write_database(part: Path, recipients: Recipients, *, compress: bool) -> tuple[dict[str, Any], list[StoredFile]]:
    """Dump the database, and give the facts of the same moment and the stored files that it names."""
    with _snapshot() as snapshot:
        facts: dict[str, Any] = database_facts() | {
            "taken_at": timezone.now(),
            "hub_version": hub_version(),
            "migrations": applied_migrations(),
            "tables": row_counts(),
            "embedding_sets": embedding_set_names(),
            "keys": keys_in_use(),
        }
        with (
            dumped(snapshot, facts["schema_name"], compress=compress) as dump,
            new_file(part / (places.DATABASE + recipients.suffix)) as target,
        ):
            recipients.write(dump, target)
        try:
            facts["searches"] = ask_ten()
        except HubError as error:  # a remote model that is away is no reason to have no backup; the manifest says so
            facts |= {"searches": (), "searches_failed": str(error)}
        return facts, stored_files()


def _write_part(path: Path, recipients: Recipients, content: bytes) -> None:
    with TemporaryFile() as source, new_file(path.with_name(path.name + recipients.suffix)) as target:
        source.write(content)
        source.seek(0)
        recipients.write(source, target)


class _Copying:
    """Copies stored files into a folder, each once."""

    def __init__(self, folder: Folder, recipients: Recipients) -> None:
        self._folder = folder
        self._recipients = recipients
        self._copied = Copied()
        # Names say nothing of content where the backup is encrypted: a sha256 tells who has the same file.
        about = "hub backup names 1\0" + ",".join(recipients.keys)
        self._naming = hmac.digest(settings.SECRET_KEY.encode(), about.encode(), "sha256") if recipients.keys else b""

    def copy_all(self, files: list[StoredFile], part: Path, progress: Watch) -> Copied:
        """Have a copy of each file that the store has, and write the lists of them."""
        lines, copies = [], []
        for number, file in enumerate(files, 1):
            if copy := self._copy(file):
                lines.append({"name": copy[0], "sha256": file.sha256, "copy": copy[1]})
                copies.append(copy[1])
            progress(number, len(files))
        text = "".join(json.dumps(line) + "\n" for line in lines)
        _write_part(part / places.FILES, self._recipients, text.encode())
        with new_file(part / places.COPIES) as target:
            target.write("".join(f"{copy}\n" for copy in copies).encode())
        self._copied.files = len(copies)
        return self._copied

    def _copy(self, file: StoredFile) -> tuple[str, str] | None:
        """Give the name in the store, and the copy's path; None when the store has it not, or not as it was."""
        if copy := self._known(file.name):
            self._copied.file_bytes += file.size_bytes
            return file.name, copy
        try:
            file, source = open_for_copy(file)
        except BlobMissing:
            self._copied.missing.append(file.sha256)
            return None
        with source:
            if not self._is_whole(file, source):
                self._copied.damaged.append(file.sha256)
                return None
            source.seek(0)
            copy = self._write(file.name, source)
        self._copied.fresh += 1
        self._copied.file_bytes += file.size_bytes
        return file.name, copy

    def _is_whole(self, file: StoredFile, source: IO[bytes]) -> bool:
        try:
            whole = file.is_whole(source)
        except SealBroken:
            return False
        self._copied.unopened += whole is None
        return whole is not False

    def _id(self, name: str) -> str:
        return hmac.digest(self._naming, name.encode(), "sha256").hex() if self._naming else name

    def _known(self, name: str) -> str | None:
        """Give the copy that is here already, if it is still what was written."""
        copy = self._folder.copied.get(self._id(name))
        if copy is None:
            return None
        path = self._folder.root / "files" / copy
        if sha256_of_file(path) == copy.rpartition(".")[2]:
            return copy
        path.unlink()
        del self._folder.copied[self._id(name)]
        self._copied.replaced += 1
        return None

    def _write(self, name: str, source: IO[bytes]) -> str:
        folder = self._folder.root / "files" / self._id(name)[:2]
        draft = folder / f".draft-{self._id(name)}"
        with new_file(draft) as target:
            self._recipients.write(source, target)
        sha256 = sha256_of_file(draft)
        path = folder / f"{self._id(name)}.{sha256}"
        draft.replace(path)
        return f"{folder.name}/{path.name}"
