"""Encryption of backups in the age format, to the public keys of recipients or to a passphrase.

The format is https://age-encryption.org/v1, so that the program ``age`` opens what is here, too. A passphrase does not
encrypt each file: it encrypts, once for a folder, a key pair whose public key all files of the folder are encrypted to.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.utils.translation import gettext_lazy as _
from pyrage import DecryptError, IdentityError, RecipientError, decrypt_io, encrypt_io, passphrase, x25519

from hub.backups.errors import BackupDamaged, BackupFailed, RestoreRefused

BLOCK = 1024 * 1024
LEAST_PASSPHRASE_CHARS = 12
SECRET_MARK = "AGE-SECRET-KEY-"  # noqa: S105 (a mark, no secret)


@dataclass(frozen=True, slots=True)
class Recipients:
    """Public keys that files are encrypted to; none = files are written as they are."""

    keys: tuple[str, ...] = ()

    @property
    def suffix(self) -> str:
        """What the names of such files end with."""
        return ".age" if self.keys else ""

    def write(self, source: IO[bytes], target: IO[bytes]) -> None:
        """Write what is read from ``source``, encrypted or not."""
        if self.keys:
            encrypt_io(source, target, [x25519.Recipient.from_str(key) for key in self.keys])
        else:
            shutil.copyfileobj(source, target, BLOCK)


def read_recipients(text: str, identity_file: Path) -> Recipients:
    """Read ``--encrypt-to``: public keys ``age1…`` with commas between, or the path of a passphrase file.

    With a passphrase the folder's key pair is made, unless ``identity_file`` holds one already.

    :raises BackupFailed: it is neither, or the passphrase is too short or another one than the folder's.
    """
    if text.startswith("age1"):
        return Recipients(tuple(sorted(_checked_key(key.strip()) for key in text.split(","))))
    words = _read_passphrase(Path(text).expanduser())
    if not identity_file.exists():
        _make_identity(identity_file, words)
    return Recipients((str(_open_identity(identity_file, words).to_public()),))


def _make_identity(identity_file: Path, words: str) -> None:
    """Write a new key pair, private; one that another process has written meanwhile stays.

    Replacing it would leave that process's backup with a key that nobody has.
    """
    sealed = passphrase.encrypt(str(x25519.Identity.generate()).encode(), words)
    try:
        handle = os.open(identity_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(handle, "wb") as file:
        file.write(sealed)
        file.flush()
        os.fsync(file.fileno())


def _checked_key(key: str) -> str:
    try:
        return str(x25519.Recipient.from_str(key))
    except RecipientError as error:
        raise BackupFailed(_("{key} is no public key of age (age1…): {reason}."), key=key, reason=error) from error


def _read_passphrase(path: Path) -> str:
    try:
        words = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BackupFailed(
            _("{path} can't be read as a passphrase: {reason}. Give a public key (age1…) or a file with a passphrase."),
            path=str(path),
            reason=str(error),
        ) from error
    if len(words) < LEAST_PASSPHRASE_CHARS:
        raise BackupFailed(
            _("The passphrase in {path} has fewer than {count} characters."),
            path=str(path),
            count=LEAST_PASSPHRASE_CHARS,
        )
    return words


def _open_identity(identity_file: Path, words: str) -> x25519.Identity:
    try:
        return x25519.Identity.from_str(passphrase.decrypt(identity_file.read_bytes(), words).decode())
    except DecryptError as error:
        raise RestoreRefused(
            _("The passphrase does not open {path}: it is another one than this folder was begun with."),
            path=str(identity_file),
        ) from error


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens what `Recipients` wrote; without identities only what is not encrypted."""

    identities: tuple[Any, ...] = ()

    @property
    def can_open(self) -> bool:
        return bool(self.identities)

    def copy(self, source: IO[bytes], target: IO[bytes], name: str) -> None:
        """Write the plain bytes of an encrypted file to ``target``.

        :raises BackupDamaged: these are not the bytes that were encrypted, or were encrypted to others.
        """
        try:
            decrypt_io(source, target, list(self.identities))
        except (DecryptError, OSError) as error:
            if isinstance(error, OSError) and error.errno:  # the disk's, not the format's
                raise
            raise BackupDamaged(
                _("{name} can't be decrypted ({reason}): it was changed, or the key is not one of its recipients'."),
                name=name,
                reason=str(error),
            ) from error


def read_opener(given: Path | None, identity_file: Path) -> Opener:
    """Read ``--identity``: a file of age identities (AGE-SECRET-KEY-1…), or the folder's passphrase.

    :raises RestoreRefused: it opens nothing.
    """
    if given is None:
        return Opener()
    try:
        text = given.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RestoreRefused(_("{path} can't be read: {reason}."), path=str(given), reason=str(error)) from error
    lines = [line.strip() for line in text.splitlines()]
    secrets = [line for line in lines if line.startswith(SECRET_MARK)]
    if secrets:
        return Opener(tuple(_identity(line, given) for line in secrets))
    if not identity_file.exists():
        raise RestoreRefused(_("{path} has no identity of age (AGE-SECRET-KEY-1…)."), path=str(given))
    return Opener((_open_identity(identity_file, text.strip()),))


def _identity(line: str, path: Path) -> x25519.Identity:
    try:
        return x25519.Identity.from_str(line)
    except IdentityError as error:
        raise RestoreRefused(_("{path} has an identity that can't be read."), path=str(path)) from error


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears complete and on disk, or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
