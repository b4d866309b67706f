"""The process that runs queries: started when needed, killed when it does not answer, shared by several callers."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

import knowledge
from hub.access.principals import Principal
from hub.access.turns import caller_name
from hub.core.errors import RateLimited, Unavailable
from hub.core.temporary import temp_dir
from hub.core.waiting import Stopped, waiting_elsewhere, woken_by_stop
from knowledge.graph.cypher.frames import read_frame, write_frame

logger = logging.getLogger(__name__)

_MODULE = "knowledge.graph.cypher.child"
_ROOT = Path(knowledge.__path__[0]).parent
# What an answer takes beyond the query's own timeout: the engine looks at its clock now and then.
GRACE_S = 0.5
# For somebody whose query ended the process: everybody's copy of the graph has to be loaded again.
PAUSE_S = 30


class ProcessEnded(Exception):
    """The process is gone: it was killed, ran out of memory, or crashed. Another one can be started.

    ``was_alone``: it ended by itself while it did nothing but what was asked here, which is to blame then.
    """

    def __init__(self, *, was_alone: bool = False) -> None:
        super().__init__("the process that runs queries ended")
        self.was_alone = was_alone


class QueryProcess:
    """One child with its own session, an empty environment and resource limits.

    Several threads may ask at once. ``generation`` tells one process's life from the next: graphs do not survive it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._waiting: dict[int, tuple[int, Future[dict[str, Any]]]] = {}
        self._numbers = itertools.count(1)
        self._unwanted: set[int] = set()  # of those, the queries that nobody waits for
        self._killed: set[int] = set()  # the generations that were ended from here
        self.generation = 0

    def ensure(self) -> int:
        """Have a living process; gives its generation."""
        with self._lock:
            if self._child is None or self._child.poll() is not None:
                self._start()
            return self.generation

    def ask(
        self, request: dict[str, Any], tables: Sequence[bytes] = (), *, timeout_s: float, generation: int
    ) -> dict[str, Any]:
        """Send a request and wait. Kills the process when it does not answer in time.

        A query that nobody waits for any more ends at once where it is the only one; beside others it goes on until
        these are answered, and so does this call.

        :raises TimeoutError: it did not answer. :raises ProcessEnded: it ended meanwhile, or is of another
        generation. :raises Stopped: nobody waits for the query any more.
        """
        number = next(self._numbers)
        answer: Future[dict[str, Any]] = Future()
        with self._lock:
            child = self._child
            if child is None or self.generation != generation or child.stdin is None:
                raise ProcessEnded
            self._waiting[number] = (generation, answer)
        try:
            with self._writing:
                write_frame(child.stdin, {**request, "id": number}, tables)
            if request["do"] != "query":  # copies that others use too
                return answer.result(timeout=timeout_s)
            with woken_by_stop(partial(self._give_up, number)):
                return answer.result(timeout=timeout_s)
        except NoAnswer:
            with self._lock:
                self._killed.add(generation)
            self._kill(child)
            raise TimeoutError from None
        except Stopped:
            self._kill(child)
            raise
        except (BrokenPipeError, ValueError) as error:
            raise ProcessEnded from error
        finally:
            with self._lock:
                self._waiting.pop(number, None)
                self._unwanted.discard(number)
            self._end_unwanted(generation)

    def _give_up(self, number: int) -> None:
        with self._lock:
            generation, _answer = self._waiting.get(number, (0, None))
            self._unwanted.add(number)
        self._end_unwanted(generation)

    def _end_unwanted(self, generation: int) -> None:
        """End the queries that nobody waits for, and their process, unless it works for somebody else, too."""
        with self._lock:
            numbers = [number for number, (of, _answer) in self._waiting.items() if of == generation]
            if not numbers or not self._unwanted.issuperset(numbers):
                return
            answers = [self._waiting.pop(number)[1] for number in numbers]
            self._killed.add(generation)
        for answer in answers:
            answer.set_exception(Stopped())

    def stop(self) -> None:
        """End the process; the next query starts another."""
        with self._lock:
            child, self._child = self._child, None
            self._killed.add(self.generation)
        if child is not None:
            self._kill(child)

    def _start(self) -> None:
        folder = tempfile.mkdtemp(prefix="hub-cypher-", dir=temp_dir())
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", _MODULE, str(settings.CONFIG.hub_graph_memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )
        self.generation += 1
        threading.Thread(
            target=self._listen, args=(self._child, self.generation, folder), name="cypher", daemon=True
        ).start()

    def _listen(self, child: subprocess.Popen[bytes], generation: int, folder: str) -> None:
        """Hand answers to those who wait for them, until the process ends."""
        with contextlib.suppress(ValueError, OSError):
            while child.stdout is not None and (frame := read_frame(child.stdout)) is not None:
                said, _tables = frame
                with self._lock:
                    waiting = self._waiting.pop(said.pop("id"), None)
                if waiting is not None:
                    waiting[1].set_result(said)
        self._kill(child)
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
        with self._lock:  # the thread that takes an answer out of those that are waited for returns it
            numbers = [number for number, (of, _answer) in self._waiting.items() if of == generation]
            lost = [self._waiting.pop(number)[1] for number in numbers]
            was_alone = len(lost) == 1 and generation not in self._killed
            self._killed.discard(generation)
        for answer in lost:
            answer.set_exception(ProcessEnded(was_alone=was_alone))

    @staticmethod
    def _kill(child: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _environment(folder: str) -> dict[str, str]:
    """Give the child what Python needs and nothing of ours: no secrets, no addresses, no configuration."""
    return {
        "PYTHONPATH": str(_ROOT),
        "PYTHONUTF8": "1",
        "PYTHONWARNINGS": "ignore",
        "LANG": "C.UTF-8",
        "HOME": folder,
        "TMPDIR": folder,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": "2",
    }


class SharedLock:
    """Queries run together or one alone. Who wants to be alone comes before those who come later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = 0
        self._is_alone = False
        self._wanting_alone = 0

    @contextmanager
    def shared(self, *, wait_s: float) -> Iterator[None]:
        """Run while nobody is alone. Raises Unavailable when somebody was for ``wait_s``."""
        with self._changed:
            self._wait(lambda: not self._is_alone and not self._wanting_alone, wait_s)
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, *, wait_s: float) -> Iterator[None]:
        """Run while nobody else does. Raises Unavailable when somebody did for ``wait_s``."""
        with self._changed:
            self._wanting_alone += 1
            try:
                self._wait(lambda: not self._is_alone and not self._sharing, wait_s)
                self._is_alone = True
            finally:
                self._wanting_alone -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._is_alone = False
                self._changed.notify_all()

    def _wait(self, may_run: Callable[[], bool], wait_s: float) -> None:
        if may_run():
            return
        with waiting_elsewhere():
            if not self._changed.wait_for(may_run, timeout=wait_s):
                raise busy()


class Pauses:
    """Callers whose queries are refused for a while, since one of them ended the process."""

    def __init__(self, pause_s: float = PAUSE_S) -> None:
        self._pause_s = pause_s
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}

    def begin(self, principal: Principal) -> None:
        """Refuse the caller's queries from now on."""
        now = time.monotonic()
        with self._lock:
            self._until = {name: until for name, until in self._until.items() if until > now}
            self._until[caller_name(principal)] = now + self._pause_s

    def refuse(self, principal: Principal) -> None:
        """:raises RateLimited: the caller's queries are refused for now; says how long."""
        with self._lock:
            left_s = self._until.get(caller_name(principal), 0.0) - time.monotonic()
        if left_s > 0:
            raise RateLimited(
                _(
                    "A query of yours has just ended the process that runs everybody's queries. Narrow it with "
                    "labels, ids or LIMIT, or bound *-patterns, and come back in {retry_after_s} seconds."
                ),
                code="query_paused",
                retry_after_s=int(left_s) + 1,
            )


def busy() -> Unavailable:
    """Make the refusal of a query that could not run for what others do."""
    return Unavailable(
        _("Queries of other people ended the process that runs queries, or keep it busy. Try again."), code="graph_busy"
    )
