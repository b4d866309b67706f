"""A private Valkey, the queue and cache of a hub that was given no REDIS_URL."""

from __future__ import annotations

import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from hub.core.embedded.binaries import valkey_program
from hub.core.embedded.launch import RunAs, open_home_for
from hub.core.embedded.server import EmbeddedServer

_PING_LIMIT_S = 1.0


class EmbeddedValkey(EmbeddedServer):
    """A Valkey below ``home`` that listens on a Unix socket only, for the user that runs the hub only.

    It logs every write and syncs the log once a second: a kill of the server loses nothing that was answered, a
    power cut may lose the last second. ``WAITAOF`` waits for the disk where that matters.
    """

    title = "Valkey"
    socket_name = "valkey.sock"
    process_names = ("valkey", "redis")
    stop_signals: ClassVar[Sequence[tuple[signal.Signals, float]]] = ((signal.SIGTERM, 6.0),)

    def ensure(self) -> None:
        """Make sure that the server runs and counts this process as a user. Idempotent.

        Safe from any number of threads and processes. Starts again a server that was killed, with what it held.

        :raises EmbeddedServerError: it can't be started; the message says what to do.
        """
        with self._exclusive():
            self._ensure_running()

    def is_ready(self) -> bool:
        """Tell whether the server answers, having read its log of writes.

        One whose disk is full refuses even PING, and writes again by itself when there is room.
        """
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_PING_LIMIT_S)
                connection.connect(str(self._socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith((b"+PONG", b"-MISCONF"))
        except OSError:
            return False

    def broker_url(self, db: int) -> str:
        """Return the URL of a numbered database in the form that Celery's transport reads."""
        return f"redis+socket://{quote(str(self._socket))}?virtual_host={db}"

    def redis_url(self, db: int) -> str:
        """Return the URL of a numbered database in the form that redis-py and Django's cache read."""
        return f"unix://{quote(str(self._socket))}?db={db}"

    @property
    def _socket(self) -> Path:
        return self.socket_dir / self.socket_name

    def _prepare(self) -> RunAs | None:
        open_home_for(self.home, None)
        (self.home / "data").mkdir(mode=0o700, exist_ok=True)
        return None

    def _command(self) -> Sequence[str]:
        settings = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self.home / "data"),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
            "proc-title-template": "{title} " + self.marker,
        }
        return [str(valkey_program()), *(part for name, value in settings.items() for part in (f"--{name}", value))]


_shared: dict[str, EmbeddedValkey] = {}


def shared_valkey(home: Path) -> EmbeddedValkey:
    """Return this process's one object for the server below ``home``; starts nothing."""
    key = str(home.resolve())
    # setdefault is atomic: of two threads that come first together, both get the same object.
    return _shared.get(key) or _shared.setdefault(key, EmbeddedValkey(home))
