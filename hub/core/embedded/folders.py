"""The folders of an embedded server: its home, and the one with its socket, whose path has to be short."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from hub.core.embedded.errors import EmbeddedServerError
from hub.core.embedded.launch import RunAs

_CLOSED = 0o700
_TRAVERSABLE = 0o711

# sockaddr_un holds 108 bytes on Linux and 104 on macOS, a final NUL included; below 100 there is room to spare.
_SOCKET_PATH_LIMIT = 100


def fingerprint(home: Path) -> str:
    """Name a home folder by 12 hexadecimal digits."""
    return hashlib.sha256(os.fsencode(home)).hexdigest()[:12]


def socket_folder(home: Path, socket_name: str) -> Path:
    """Choose the folder for the socket, creating nothing: ``home/run``, or a short private one where that won't do.

    The short one depends on the user, ``home`` and the system's folder for temporary files only, so that all
    processes of a hub agree. A comma won't do either: PostgreSQL's clients split their list of hosts at it.

    :raises EmbeddedServerError: even the folder for temporary files has too long a path.
    """
    preferred = home / "run"
    if _is_usable(preferred / socket_name):
        return preferred
    short = Path(tempfile.gettempdir()) / f"hub-{os.geteuid()}-{fingerprint(home)}" / "run"
    if _is_usable(short / socket_name):
        return short
    raise EmbeddedServerError(
        en=f"The path {short} is too long, or has a comma, for a socket. Set TMPDIR or HUB_DATA_DIR to a shorter one.",
        ja=f"ソケットのパス {short} が長すぎるか、カンマを含みます。"
        "TMPDIR か HUB_DATA_DIR に短いパスを設定してください。",
    )


def _is_usable(socket: Path) -> bool:
    return len(os.fsencode(socket)) < _SOCKET_PATH_LIMIT and "," not in str(socket)


def make_home(home: Path) -> None:
    """Create the home folder if need be, readable by its owner only.

    :raises EmbeddedServerError: it belongs to another user, or can't be created.
    """
    try:
        home.mkdir(mode=_CLOSED, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(home, error.strerror) from error
    _require_own(home)


def open_home_for(home: Path, run_as: RunAs | None) -> None:
    """Give the home folder its mode: closed, or traversable where the server could not reach its files else."""
    home.chmod(_mode_for(run_as))


def make_socket_folder(folder: Path, *, home: Path, run_as: RunAs | None) -> None:
    """Create the socket's folder and give it to the user the server runs as.

    :raises EmbeddedServerError: somebody else has taken its name in the folder for temporary files.
    """
    if folder.parent != home:
        folder.parent.mkdir(mode=_CLOSED, exist_ok=True)
        _require_own(folder.parent)
        folder.parent.chmod(_mode_for(run_as))
    folder.mkdir(mode=_CLOSED, exist_ok=True)
    give_to(folder, run_as)


def discard_socket_folder(folder: Path, *, home: Path) -> None:
    """Remove the socket's folder where it lies outside the home folder, and is empty."""
    if folder.parent == home:
        return
    for each in (folder, folder.parent):
        if each.is_dir() and not any(each.iterdir()):
            each.rmdir()


def give_to(path: Path, run_as: RunAs | None) -> None:
    """Make the user the server runs as the owner, without following a symbolic link."""
    if run_as is not None:
        os.chown(path, run_as.uid, run_as.gid, follow_symlinks=False)


def first_closed_folder(path: Path, run_as: RunAs) -> Path | None:
    """Return the first folder above ``path``, from the root down, that the user may not traverse."""
    for folder in reversed(path.parents):
        status = folder.stat()
        if status.st_uid == run_as.uid:
            bit = stat.S_IXUSR
        elif status.st_gid == run_as.gid:
            bit = stat.S_IXGRP
        else:
            bit = stat.S_IXOTH
        if not status.st_mode & bit:
            return folder
    return None


def _mode_for(run_as: RunAs | None) -> int:
    return _TRAVERSABLE if run_as is not None and run_as.capability is None else _CLOSED


def _require_own(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise _unusable(folder, "it is not a folder of the user that runs the hub")


def _unusable(folder: Path, reason: str | None) -> EmbeddedServerError:
    return EmbeddedServerError(
        en=f"The folder {folder} can't be used for an embedded server: {reason}. Remove it, or set HUB_DATA_DIR"
        " to a folder that belongs to the user that runs the hub.",
        ja=f"フォルダー {folder} は組み込みサーバーに使えません（{reason}）。削除するか、hub を実行するユーザーが"
        "所有するフォルダーを HUB_DATA_DIR に設定してください。",
    )
