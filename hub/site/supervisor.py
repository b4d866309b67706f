"""Runs the hub's processes: starts them, starts again what dies, stops all of them in time."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

logger = logging.getLogger(__name__)

POLL_S = 0.25
STOP_PATIENTLY_S = 3.0
STOP_AT_ALL_S = 6.0
LONGEST_PAUSE_S = 10.0
STABLE_AFTER_S = 60.0
PR_SET_PDEATHSIG = 1


@dataclass(slots=True)
class Child:
    """A process to keep alive."""

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_again_at: float = 0.0
    pause_s: float = 1.0

    def start(self, cwd: Path) -> None:
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            list(self.command), cwd=cwd, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_die_with_parent
        )

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Ask the process; SIGKILL goes to its whole group, since a Celery worker has children of its own."""
        if self.process is not None and self.is_running:
            (os.killpg if number == signal.SIGKILL else os.kill)(self.process.pid, number)


def _die_with_parent() -> None:
    """Have Linux end this child when the supervisor is killed with SIGKILL, which it can't pass on."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass(slots=True)
class Supervisor:
    """Keeps ``children`` alive until SIGTERM or SIGINT. ``tend`` is called about once a second between."""

    children: list[Child]
    cwd: Path
    tend: Callable[[], None]
    _stop: bool = field(default=False)

    def run(self) -> None:
        """Start all children and return when all have stopped."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)
        for child in self.children:
            child.start(self.cwd)
        try:
            self._watch()
        finally:
            self._stop_children()

    def _ask_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop = True

    def _watch(self) -> None:
        tended_at = 0.0
        while not self._stop:
            now = time.monotonic()
            for child in self.children:
                self._keep_alive(child, now)
            if now - tended_at >= 1.0:
                tended_at = now
                self.tend()
            time.sleep(POLL_S)

    def _keep_alive(self, child: Child, now: float) -> None:
        if child.is_running:
            return
        if not child.start_again_at:
            code = child.process.returncode if child.process else None
            if now - child.started_at > STABLE_AFTER_S:
                child.pause_s = 1.0
            logger.error("%s ended with %s, starting it again in %.0f s", child.name, code, child.pause_s)
            child.start_again_at = now + child.pause_s
            child.pause_s = min(child.pause_s * 2, LONGEST_PAUSE_S)
        elif now >= child.start_again_at:
            child.start_again_at = 0.0
            child.start(self.cwd)

    def _stop_children(self) -> None:
        """Ask first, insist after 3 s (Celery then drops its tasks, which are resumed), kill after 6 s."""
        began = time.monotonic()
        self._signal_all(signal.SIGTERM)
        insisted = False
        while any(child.is_running for child in self.children):
            elapsed = time.monotonic() - began
            if elapsed > STOP_AT_ALL_S:
                self._signal_all(signal.SIGKILL)
            elif elapsed > STOP_PATIENTLY_S and not insisted:
                insisted = True
                self._signal_all(signal.SIGQUIT)
            time.sleep(0.05)

    def _signal_all(self, number: signal.Signals) -> None:
        for child in self.children:
            child.signal(number)
