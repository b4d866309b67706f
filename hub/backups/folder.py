"""The folder of several backups, as it lies on disk.

::

    hub-backups.json         format, and the public keys that everything here is encrypted to (none: plain)
    passphrase.age           the folder's key pair, where a passphrase was given
    files/ab/ID.SHA256       a stored file, shared by the backups; SHA256 is of this very copy, so that it proves itself
    backups/20261125T010000.123456Z-1a2b3c/
        about.json           what anybody may know, and the sha256 of the others; written last
        manifest.json[.age]  counts, migrations, keys' names, searches: see Manifest
        database.dump[.age]  pg_dump's custom format
        files.jsonl[.age]    a line for each stored file: its name in the store, and its copy here
        copies.txt           the copies, by their paths alone
        keys.json.age        with --with-keys

A backup that broke off is ``NAME.part``; its copied files are there for the next one.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.backups.errors import BackupDamaged, BackupFailed, RestoreRefused
from hub.backups.sealing import BLOCK, Opener, Recipients, new_file, read_recipients
from hub.core.errors import Conflict
from hub.core.hashes import sha256_of_file

FORMAT = 1
HEAD, ABOUT, IDENTITY, COPIES = "hub-backups.json", "about.json", "passphrase.age", "copies.txt"
MANIFEST, DATABASE, FILES, KEYS = "manifest.json", "database.dump", "files.jsonl", "keys.json"
PART = ".part"
# What stored files and their copies are called: no name leads out of the store or the folder.
STORED = re.compile(r"[0-9a-f]{64}")
COPY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{64}\.[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Backup:
    """A complete backup in its folder."""

    root: Path
    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    def about(self) -> dict[str, Any]:
        """Give what about.json says. :raises BackupDamaged: it can't be read."""
        try:
            said = json.loads((self.path / ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise damaged(self.path / ABOUT, str(error)) from error
        if not isinstance(said, dict) or said.get("format") != FORMAT:
            raise RestoreRefused(
                _("{path} has the format {format}, which this version does not read; take a newer version of the hub."),
                path=str(self.path),
                format=said.get("format") if isinstance(said, dict) else "?",
            )
        return said

    def copies(self) -> list[str]:
        """List the paths of the copies below ``files/``. :raises BackupDamaged: see there."""
        self.check(COPIES)
        copies = (self.path / COPIES).read_text(encoding="ascii").split()
        if not all(map(COPY.fullmatch, copies)):
            raise damaged(self.path / COPIES, _("it names what is no stored file"))
        return copies

    def copy_path(self, copy: str) -> Path:
        return self.root / "files" / copy

    def check(self, name: str) -> None:
        """Compare one of the backup's own files with what about.json says. :raises BackupDamaged: they differ."""
        expected = self.about()["files"].get(name)
        path = self.path / name
        if expected is None or not path.is_file():
            raise damaged(path, _("it is missing"))
        if sha256_of_file(path) != expected["sha256"]:
            raise damaged(path, _("its sha256 is another"))

    def check_copy(self, copy: str) -> None:
        """Read a copy of a stored file and compare it with its name. :raises BackupDamaged: they differ."""
        path = self.copy_path(copy)
        if not path.is_file():
            raise damaged(path, _("it is missing"))
        if sha256_of_file(path) != copy.rpartition(".")[2]:
            raise damaged(path, _("its sha256 is another"))

    def own_files(self) -> list[str]:
        return sorted(self.about()["files"])

    @property
    def is_encrypted(self) -> bool:
        return bool(self.about()["recipients"])

    def stored_name(self, name: str) -> str:
        """Give what a part is called here."""
        return name + (".age" if self.is_encrypted else "")

    def write_plain(self, name: str, target: IO[bytes], opener: Opener) -> None:
        """Write the plain bytes of a part. :raises BackupDamaged: see there."""
        stored = self.stored_name(name)
        with (self.path / stored).open("rb") as source:
            if self.is_encrypted:
                opener.copy(source, target, stored)
            else:
                shutil.copyfileobj(source, target, BLOCK)


class Folder:
    """A folder that backups are made in."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()

    @property
    def identity_file(self) -> Path:
        return self.root / IDENTITY

    def prepare(self, encrypt_to: str) -> Recipients:
        """Make the folder, private, or go on with it; gives what its files are encrypted to.

        :raises BackupFailed: it is something else, or its backups are encrypted to others.
        """
        head = self.root / HEAD
        if self.root.exists() and not head.exists() and any(self.root.iterdir()):
            raise BackupFailed(
                _("{path} has other files in it and is no folder of backups; name a new or an empty one."),
                path=str(self.root),
            )
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        recipients = read_recipients(encrypt_to, self.identity_file) if encrypt_to else Recipients()
        if not head.exists():
            with new_file(head) as file:
                file.write(json.dumps({"format": FORMAT, "recipients": list(recipients.keys)}).encode())
        known = tuple(json.loads(head.read_text(encoding="utf-8"))["recipients"])
        if known != recipients.keys:
            raise BackupFailed(
                _("The backups in {path} are encrypted to {known}, not to {given}; take another folder for these."),
                path=str(self.root),
                known=", ".join(known) or "-",
                given=", ".join(recipients.keys) or "-",
            )
        return recipients

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only one who writes here. :raises Conflict: another does."""
        with (self.root / HEAD).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Conflict(_("Another backup is being made in {path}."), path=str(self.root)) from error
            yield

    def begin(self, moment: datetime) -> Path:
        """Make the folder of a new backup; remains of those that broke off go, but for copied files."""
        backups = self.root / "backups"
        backups.mkdir(mode=0o700, exist_ok=True)
        for path in backups.glob("*" + PART):
            shutil.rmtree(path)
        for draft in self.root.glob("files/??/.draft-*"):
            draft.unlink(missing_ok=True)
        part = backups / f"{moment:%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(3)}{PART}"
        part.mkdir(mode=0o700)
        return part

    def finish(self, part: Path, about: dict[str, Any]) -> Backup:
        """Write about.json with the hashes of all parts, and give the backup its name."""
        files = {
            path.name: {"sha256": sha256_of_file(path), "bytes": path.stat().st_size} for path in sorted(part.iterdir())
        }
        with new_file(part / ABOUT) as file:
            file.write(json.dumps({"format": FORMAT, **about, "files": files}, indent=1).encode())
        target = part.with_name(part.name.removesuffix(PART))
        part.rename(target)
        for folder in (target, target.parent):
            _sync(folder)
        return Backup(self.root, target)

    def all(self) -> list[Backup]:
        """List the complete backups, the newest first."""
        paths = (path for path in (self.root / "backups").glob("*") if (path / ABOUT).is_file())
        return [Backup(self.root, path) for path in sorted(paths, reverse=True) if path.suffix != PART]

    @cached_property
    def copied(self) -> dict[str, str]:
        """The copies that are here, by what their names begin with."""
        found = (path for path in (self.root / "files").glob("??/*.*") if not path.name.startswith("."))
        return {path.name.partition(".")[0]: f"{path.parent.name}/{path.name}" for path in found}

    def prune(self, keep: int) -> int:
        """Remove all but the newest ``keep`` backups, and copies that none of them has; gives how many backups went."""
        backups = self.all()
        for backup in backups[keep:]:
            shutil.rmtree(backup.path)
        used = {copy for backup in backups[:keep] for copy in backup.copies()}
        for path in (self.root / "files").glob("??/*"):
            if f"{path.parent.name}/{path.name}" not in used:
                path.unlink()
        return len(backups[keep:])


def find_backup(path: Path) -> Backup:
    """Give the backup that a path names: itself, or a folder's newest. :raises RestoreRefused: none is there."""
    path = path.expanduser().absolute()
    if (path / ABOUT).is_file():
        return Backup(path.parent.parent, path)
    backups = Folder(path).all()
    if not backups:
        raise RestoreRefused(_("There is no complete backup in {path}."), path=str(path))
    return backups[0]


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def damaged(path: Path, reason: str | Promise) -> BackupDamaged:
    return BackupDamaged(
        _("{path} of the backup is damaged: {reason}. Take another backup, or restore the folder from its own copy."),
        path=str(path),
        reason=reason,
    )
