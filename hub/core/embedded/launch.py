"""The user that an embedded server runs as, its folders, and running its programs through the script ``launched.py``.

PostgreSQL refuses to be run by root. The data and the programs may lie below folders that no other user can traverse,
and those folders are not ours to open. So the server keeps one capability of root's, from the first of these that the
system grants:

1. CAP_DAC_READ_SEARCH: it may traverse and read everything, and write only what is its own. The home folder stays
   closed, so that other processes of the same user can't reach the data.
2. None: it reaches its files by itself, the home folder being made traversable.
3. CAP_DAC_OVERRIDE: it may also write everything. Containers often grant this one and not the first.
"""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from hub.core.texts import Text


class EmbeddedServerError(Exception):
    """An embedded server can't do its work; the message says what is wrong, where, and what to do.

    ``text`` holds it in both languages; ``str()`` gives the English one.
    """

    def __init__(self, *, en: str, ja: str) -> None:
        super().__init__(en)
        self.text = Text(ja=ja, en=en)


_SCRIPT = Path(__file__).with_name("launched.py")
_KEPT_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_LAUNCH_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAs:
    """The user a server runs as, and the one capability (its number in linux/capability.h) it keeps, if any."""

    uid: int
    gid: int
    capability: int | None


def run_command(
    argv: Sequence[str], *, run_as: RunAs | None, folder: Path, limit_s: float
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end in ``folder``; its standard output and error come back together in ``stdout``.

    :raises EmbeddedServerError: it didn't end in time.
    """
    return _launch(argv, run_as=run_as, folder=folder, lock=None, output=subprocess.PIPE, limit_s=limit_s)


def start_daemon(argv: Sequence[str], *, run_as: RunAs | None, lock: Path, log: IO[bytes]) -> None:
    """Start a program that outlives us, in a session of its own, holding ``lock`` as long as it lives.

    What it prints goes to ``log``, and so does the reason why it could not be started.
    """
    _launch(argv, run_as=run_as, folder=Path("/"), lock=lock, output=log, limit_s=_LAUNCH_LIMIT_S)


def _launch(
    argv: Sequence[str],
    *,
    run_as: RunAs | None,
    folder: Path,
    lock: Path | None,
    output: int | IO[bytes],
    limit_s: float,
) -> subprocess.CompletedProcess[str]:
    order = {
        "argv": list(argv),
        "folder": str(folder),
        "lock": str(lock) if lock else None,
        "run_as": asdict(run_as) if run_as else None,
    }
    try:
        return subprocess.run(
            [sys.executable, "-I", "-S", str(_SCRIPT), json.dumps(order)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=limit_s,
            env=_environment(),
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EmbeddedServerError(
            en=f"{argv[0]} did not end within {limit_s:.0f} s. See whether the disk or the machine is overloaded.",
            ja=f"{argv[0]} が {limit_s:.0f} 秒以内に終わりませんでした。ディスクやマシンの負荷を確認してください。",
        ) from error


def _environment() -> dict[str, str]:
    """Keep the hub's secrets, and PostgreSQL's client variables, out of the servers' environment."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


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


# Source: linux/capability.h.
CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2

_PROBE_LIMIT_S = 60.0
_SETTING = "HUB_PG_OS_USER"


def choose_user(*, program: Path, home: Path, data: Path) -> RunAs | None:
    """Choose the user and capability with which ``program`` runs and ``home`` can be traversed; None = as we are.

    Only root chooses. The owner of an existing ``data`` folder comes before HUB_PG_OS_USER, and this one before
    ``nobody``. Gives ``home`` its mode.

    :raises EmbeddedServerError: there is no such user, it is root, or it can't reach the files in any way.
    """
    if os.geteuid() != 0:
        open_home_for(home, None)
        return None
    uid, gid = _user_for(data)
    reason = ""
    for candidate in _candidates(uid, gid):
        open_home_for(home, candidate)
        probe = run_command([str(program), "--version"], run_as=candidate, folder=home, limit_s=_PROBE_LIMIT_S)
        if probe.returncode == 0:
            return candidate
        reason = probe.stdout.strip()
    open_home_for(home, None)
    raise _unreachable(RunAs(uid=uid, gid=gid, capability=None), (home / "data", program), reason)


def _candidates(uid: int, gid: int) -> Iterator[RunAs]:
    capabilities = (CAP_DAC_READ_SEARCH, None, CAP_DAC_OVERRIDE) if sys.platform == "linux" else (None,)
    for capability in capabilities:
        yield RunAs(uid=uid, gid=gid, capability=capability)


def _user_for(data: Path) -> tuple[int, int]:
    if data.exists() and (owner := data.stat()).st_uid != 0:
        return owner.st_uid, owner.st_gid
    name = os.environ.get(_SETTING) or "nobody"
    try:
        user = pwd.getpwnam(name)
    except KeyError as error:
        raise _unfit(name, "does not exist", "は存在しません") from error
    if user.pw_uid == 0:
        raise _unfit(name, "is root, which PostgreSQL refuses", "は root で、PostgreSQL が拒否します")
    return user.pw_uid, user.pw_gid


def _unfit(name: str, en: str, ja: str) -> EmbeddedServerError:
    return EmbeddedServerError(
        en=f"The system's user {name} {en}. Set {_SETTING} to an unprivileged user to run PostgreSQL as.",
        ja=f"OS のユーザー {name} {ja}。PostgreSQL を実行する一般ユーザーを {_SETTING} に設定してください。",
    )


def _unreachable(user: RunAs, paths: tuple[Path, ...], reason: str) -> EmbeddedServerError:
    closed = [folder for path in paths if (folder := first_closed_folder(path, user))]
    where_en = f"the folder {closed[0]} is closed to it" if closed else reason
    where_ja = f"フォルダー {closed[0]} に入れません" if closed else reason
    return EmbeddedServerError(
        en=f"PostgreSQL can't run as the user with id {user.uid}: {where_en}. Let that user traverse the folder"
        " (chmod o+x), move HUB_DATA_DIR or the programs elsewhere, run the hub as an ordinary user, or set"
        f" DATABASE_URL. {_SETTING} chooses the user.",
        ja=f"PostgreSQL をユーザー ID {user.uid} で実行できません：{where_ja}。"
        "そのユーザーの通過を許可する（chmod o+x）、HUB_DATA_DIR かプログラムを移す、hub を一般ユーザーで実行する、"
        f"DATABASE_URL を設定する、のいずれかを行ってください。ユーザーは {_SETTING} で選べます。",
    )
