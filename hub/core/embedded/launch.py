"""Run a server's programs, as another user where needed, through the small script ``launched.py``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from hub.core.embedded.errors import EmbeddedServerError

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
