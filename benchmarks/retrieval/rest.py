"""What REST search costs besides PostgreSQL and the model, by real HTTP requests to a hub in this process.

From the moment the server hands a request to the hub until its answer is complete, on the clock: less the time in which
a statement runs, from being sent until all of its rows are here, or the model does. What is left is the service:
authentication, rate limit, checks, BM25's sums, scores, shapes, JSON, as far as a caller waits for it: what is done
while the model runs is not in it, but it is in the processor time. That leaves out statements and model altogether, and
shows less of what else runs on the machine. The client is another process, whose reading of answers is neither.
"""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import uvicorn
from django.contrib.auth.models import User

from benchmarks.retrieval.question_sets import load_set, read_sets
from hub.access.principals import Scope, local_operator
from hub.access.services import create_token
from hub.core.asgi import AsgiApp, Message, Receive, Send
from hub.core.asgi import Scope as AsgiScope
from hub.core.processes import REQUESTS, collect_seldom
from hub.core.valkey import ensure_queue
from knowledge.index.active_embedder import get_embedder
from knowledge.types.search import SearchMode

ROUNDS = 2
_STATEMENTS = ((psycopg.Cursor, "execute"), (psycopg.Connection, "commit"), (psycopg.Connection, "rollback"))
_MODEL = ("embed_query", "query_is_truncated")


@dataclass(slots=True, kw_only=True)
class Spent:
    """Milliseconds of one request: on the clock, and of this process's processor time."""

    wall: float = 0.0
    processor: float = 0.0
    statements: float = 0.0
    statements_processor: float = 0.0
    model: float = 0.0
    model_processor: float = 0.0
    number: int = 0
    elsewhere: list[tuple[float, float]] = field(default_factory=list)  # from, to: a statement or the model ran

    @property
    def service(self) -> float:
        """What is left for the hub itself."""
        waited, end = 0.0, -math.inf
        for start, stop in sorted(self.elsewhere):
            waited += max(0.0, stop - max(start, end))
            end = max(end, stop)
        return self.wall - waited * 1000

    @property
    def service_processor(self) -> float:
        """The same in processor time."""
        return self.processor - self.statements_processor - self.model_processor


class Meter:
    """Adds up what the one request that runs spends."""

    def __init__(self) -> None:
        self.running = Spent()
        self.done: list[Spent] = []

    def wrap(self, app: AsgiApp) -> AsgiApp:
        """Measure each request from the hand-over by the server until the last part of its answer."""

        async def measured(scope: AsgiScope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            self.running = Spent()
            started, began = time.perf_counter(), time.process_time()

            async def watched(message: Message) -> None:
                await send(message)
                if message["type"] == "http.response.body" and not message.get("more_body"):
                    self.running.wall = (time.perf_counter() - started) * 1000
                    self.running.processor = (time.process_time() - began) * 1000
                    self.done.append(self.running)

            await app(scope, receive, watched)

        return measured

    @contextmanager
    def hooks(self, model: object) -> Iterator[None]:
        """Count the time of every statement, commit and call of the model while the context lasts."""
        kept: list[tuple[Any, str, Any]] = []
        for owner, name in (*_STATEMENTS, *((type(model), name) for name in _MODEL)):
            kept.append((owner, name, getattr(owner, name)))
            part = "model" if name in _MODEL else "statements"
            setattr(owner, name, self._timed(getattr(owner, name), part))
        try:
            yield
        finally:
            for owner, name, before in kept:
                setattr(owner, name, before)

    def _timed(self, method: Callable[..., Any], part: str) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            started, began = time.perf_counter(), time.thread_time()
            try:
                return method(*args, **kwargs)
            finally:
                ended, used = time.perf_counter(), time.thread_time() - began
                self.running.elsewhere.append((started, ended))
                setattr(self.running, part, getattr(self.running, part) + (ended - started) * 1000)
                processor = f"{part}_processor"
                setattr(self.running, processor, getattr(self.running, processor) + used * 1000)
                self.running.number += part == "statements"

        return timed


def run(folder: Path, count: int, cache: Path) -> None:
    """Load the first question set and measure searches of its corpus."""
    question_set = read_sets(folder)[0]
    load_set(question_set, cache)
    questions = [question.text for question in question_set.sample(count)]
    print(f"{question_set.name}: {len(question_set.corpus)} passages, {len(questions)} questions, {ROUNDS} times")
    measure_rest(questions)


def measure_rest(questions: Sequence[str]) -> None:
    """Ask each question through HTTP, one at a time, and print where the time of the later rounds goes."""
    ensure_queue()
    collect_seldom(REQUESTS)  # as a web process does after its start
    user, _made = User.objects.get_or_create(username="benchmark", is_superuser=True)
    scopes = frozenset({Scope.SEARCH})
    _row, token = create_token(principal=local_operator(), user=user, name="benchmark", scopes=scopes)
    meter = Meter()
    with meter.hooks(get_embedder()), _server(meter) as port, _client(port, token) as client:
        print(f"load {os.getloadavg()[0]:.1f}")
        print(
            f"{'median ms':10}{'all':>8}{'SQL':>8}{'model':>8}{'service':>9}{'p95':>8}"
            f"{'processor':>11}{'statements':>12}"
        )
        for mode in SearchMode:
            for text in questions:  # warm: caches, connections
                _ask(client, text, mode)
            meter.done.clear()
            for _round in range(ROUNDS):
                for text in questions:
                    _ask(client, text, mode)
            _print(mode, meter.done)


def _print(mode: SearchMode, done: Sequence[Spent]) -> None:
    names = ("wall", "statements", "model", "service", "service_processor", "number")
    medians = {name: np.median([getattr(one, name) for one in done]) for name in names}
    p95 = np.percentile([one.service for one in done], 95)
    print(
        f"{mode.value:10}{medians['wall']:8.1f}{medians['statements']:8.1f}{medians['model']:8.1f}"
        f"{medians['service']:9.1f}{p95:8.1f}{medians['service_processor']:11.1f}{medians['number']:12.0f}",
        flush=True,
    )


def _ask(client: subprocess.Popen[str], text: str, mode: SearchMode) -> None:
    if client.stdin is None or client.stdout is None:
        raise TypeError("the client has no pipes")
    client.stdin.write(json.dumps({"query": text, "mode": mode}) + "\n")
    client.stdin.flush()
    answer = json.loads(client.stdout.readline())
    if answer["status"] != 200:
        raise RuntimeError(f"search answered {answer['status']}: {answer['body']}")


@contextmanager
def _client(port: int, token: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "benchmarks.retrieval.rest_client", str(port), token]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        yield client


@contextmanager
def _server(meter: Meter) -> Iterator[int]:
    from hub.site.asgi import application

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(meter.wrap(application), lifespan="on", log_level="warning", timeout_keep_alive=75)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield int(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
