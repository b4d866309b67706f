"""The life of an embedded server: started by the first process that needs it, stopped by the last one to leave."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

from hub.core.embedded.launch import (
    EmbeddedServerError,
    RunAs,
    discard_socket_folder,
    fingerprint,
    make_home,
    make_socket_folder,
    socket_folder,
    start_daemon,
)
from hub.core.embedded.locks import LifecycleLocks

logger = logging.getLogger(__name__)

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process as the system lists it; a zombie has an empty ``command_line``."""

    pid: int
    program: str
    command_line: str


def marked_pids(marker: str, programs: Iterable[str]) -> set[int]:
    """Return the pids of the living processes that have ``marker`` in their command line.

    Their program's name has to begin with one of ``programs``, lest somebody who searches for the marker be found.
    """
    prefixes = tuple(programs)
    return {
        process.pid
        for process in _processes()
        if marker in process.command_line and process.program.startswith(prefixes)
    }


def send_signal(pid: int, number: signal.Signals) -> None:
    """Signal a process that may have ended by itself in the meantime."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _processes() -> Iterator[Process]:
    return _from_proc() if (_PROC / "self" / "cmdline").exists() else _from_ps()


def _from_proc() -> Iterator[Process]:
    for entry in _PROC.iterdir():
        # A process may end between the listing and the reading, or be hidden from us.
        with suppress(OSError):
            if entry.name.isdigit():
                command_line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                program = (entry / "comm").read_text(errors="replace")
                yield Process(pid=int(entry.name), program=program, command_line=command_line)


def _from_ps() -> Iterator[Process]:
    command = ["/bin/ps", "-axww", "-o", "pid=,ucomm=,command="]
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        pid, program, *rest = line.split(None, 2)
        yield Process(pid=int(pid), program=program, command_line="".join(rest))


# Crash recovery reads the whole log that was written since the last checkpoint.
_START_LIMIT_S = 300.0
_KILL_LIMIT_S = 5.0
# A server has made its socket moments after it was launched, and has it until moments before it ends.
_SOCKET_LIMIT_S = 1.0
_PAUSE_S = 0.02
_LOG_LIMIT_BYTES = 10_000_000
_LOG_TAIL_BYTES = 2_000


class EmbeddedServer(ABC):
    """One server below ``home``, shared by any number of processes and threads. Constructing it starts nothing.

    Each server needs a home folder of its own. ``locks.py`` tells how the processes agree, also across ``fork``.
    """

    title: ClassVar[str]
    socket_name: ClassVar[str]
    process_names: ClassVar[Sequence[str]]
    stop_signals: ClassVar[Sequence[tuple[signal.Signals, float]]]

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.socket_dir = socket_folder(self.home, self.socket_name)
        # All processes of the server carry it in their command lines, so that they can be distinguished from others.
        self.marker = f"hub-{self.title.lower()}-{fingerprint(self.home)}"
        self._locks = LifecycleLocks(self.home)
        self._log_path = self.home / "server.log"

    @property
    def is_held(self) -> bool:
        """Tell whether this process counts as a user of the server, itself or through the parent it forked from."""
        return self._locks.is_user

    @abstractmethod
    def is_ready(self) -> bool:
        """Tell whether the server answers now."""

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Keep everybody else from starting or stopping the server, its home folder being there."""
        make_home(self.home)
        with self._locks.exclusive():
            yield

    @abstractmethod
    def _prepare(self) -> RunAs | None:
        """Put in place what the server needs, while none of its processes lives; return the user to run it as."""

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """Return the program and its arguments, ``marker`` among them."""

    def release(self) -> None:
        """Stop counting this process as a user, and stop the server if it was the last. Runs at exit by itself.

        A forked child that never called ``ensure()`` only lets go of what it inherited.

        :raises EmbeddedServerError: the server didn't end, not even when it was killed.
        """
        if not self._locks.is_user:
            return
        atexit.unregister(self.release)
        if not self._locks.may_stop:
            self._locks.leave()
        elif not self.home.is_dir():
            # Somebody removed it: no users can be counted any more, and there is no data that a clean stop would save.
            self._locks.leave()
            self._signal_all(signal.SIGKILL)
        else:
            with self._locks.exclusive():
                self._locks.leave()
                if not self._locks.has_users():
                    self._stop()

    def _ensure_running(self) -> None:
        """Start the server unless it runs, and join its users; call it inside ``_exclusive()``."""
        if not self.is_ready():
            self._bring_up()
        if not self._locks.may_stop:
            self._locks.join()
            atexit.register(self.release)

    def _bring_up(self) -> None:
        begun = time.monotonic()
        launched = False
        while not self.is_ready():
            if self._locks.server_lives():
                # Also one that a process launched which was killed since, or one that is about to end.
                self._kill_orphans()
                if not launched and time.monotonic() > begun + _SOCKET_LIMIT_S:
                    self._stop_unreachable()
            elif launched:
                raise self._failure("did not start", "が起動しませんでした")
            else:
                self._launch()
                launched = True
            if time.monotonic() > begun + _START_LIMIT_S:
                raise self._failure("did not get ready", "が応答しませんでした")
            time.sleep(_PAUSE_S)

    def _stop_unreachable(self) -> None:
        """Stop a server whose socket somebody removed: it would run on, and nobody could connect any more."""
        socket = self.socket_dir / self.socket_name
        if not socket.exists():
            logger.warning("the socket %s of the embedded %s is gone: it is started again", socket, self.title)
            self._stop()

    def _launch(self) -> None:
        run_as = self._prepare()
        make_socket_folder(self.socket_dir, home=self.home, run_as=run_as)
        with self._open_log() as log:
            start_daemon(self._command(), run_as=run_as, lock=self._locks.server_path, log=log)

    def _stop(self) -> None:
        for number, patience_s in self.stop_signals:
            if (pid := self._main_pid()) is not None:
                send_signal(pid, number)
            if self._wait_for_end(patience_s):
                break
        else:
            self._kill_all()
        discard_socket_folder(self.socket_dir, home=self.home)

    def _wait_for_end(self, patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        while self._locks.server_lives():
            # Children of a main process that was killed would go on for as long as their work takes.
            self._kill_orphans()
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_S)
        return True

    def _kill_all(self) -> None:
        self._signal_all(signal.SIGKILL)
        if not self._wait_for_end(_KILL_LIMIT_S):
            raise self._failure("did not stop", "が停止しませんでした")

    def _kill_orphans(self) -> None:
        """Kill what a main process that is gone left behind.

        The processes are listed once: one that has the lock and becomes the server only then is no orphan.
        """
        found = self._pids()
        if self._locks.server_pid() not in found:
            for pid in found:
                send_signal(pid, signal.SIGKILL)

    def _signal_all(self, number: signal.Signals) -> None:
        for pid in self._pids():
            send_signal(pid, number)

    def _main_pid(self) -> int | None:
        pid = self._locks.server_pid()
        return pid if pid in self._pids() else None

    def _pids(self) -> set[int]:
        return marked_pids(self.marker, self.process_names)

    def _open_log(self) -> IO[bytes]:
        """Open the log to append to it; a long one of earlier runs is put aside, replacing the one before."""
        if self._log_path.exists() and self._log_path.stat().st_size > _LOG_LIMIT_BYTES:
            self._log_path.replace(self._log_path.with_suffix(".log.1"))
        return open(self._log_path, "ab", opener=lambda path, flags: os.open(path, flags, 0o600))

    def _failure(self, en: str, ja: str) -> EmbeddedServerError:
        log = self._log_path.read_bytes() if self._log_path.exists() else b""
        tail = log[-_LOG_TAIL_BYTES:].decode(errors="replace").strip()
        return EmbeddedServerError(
            en=f"The embedded {self.title} in {self.home} {en}. The end of {self._log_path}:\n{tail}",
            ja=f"{self.home} の組み込み {self.title} {ja}。{self._log_path} の末尾：\n{tail}",
        )
