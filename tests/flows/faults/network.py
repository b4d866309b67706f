"""A way to another server that a test can make slow, or shut."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Wire:
    """Passes on what comes to ``port`` to a server on this machine, each piece ``delay_s`` late; shut, it refuses."""

    def __init__(self, target: int) -> None:
        self.delay_s = 0.0
        self.is_shut = False
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                caller, _address = self._listener.accept()
                if self.is_shut:
                    caller.close()
                    continue
                server = socket.create_connection(("127.0.0.1", self._target))
                for source, sink in ((caller, server), (server, caller)):
                    threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):  # either side went away
            while (piece := source.recv(65_536)) and not self.is_shut:
                time.sleep(self.delay_s)
                sink.sendall(piece)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listener.close()


@contextmanager
def wire_to(port: int) -> Iterator[Wire]:
    wire = Wire(port)
    try:
        yield wire
    finally:
        wire.close()
