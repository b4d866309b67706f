"""A server that speaks OpenAI's POST /chat/completions, and misbehaves when a test says so.

``with llm_server(answer=…) as server`` answers each request with what ``answer`` makes of it: a function of the
request's body, or one text. ``server.script`` is a list of misbehaviours for the next requests, one each:
``SLOW, REFUSE, BUSY, BROKEN, CUT, INVALID_JSON, WRONG_SCHEMA, LENGTH, FILTERED, ENDLESS, NOT_CHAT``.
``server.requests`` has the bodies that came. ``obeys`` makes an answer of a model that follows instructions found in
documents.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "試験モデル"
PIECE = 7
ENDLESS_BYTES = 64 * 1024 * 1024


class Fault(StrEnum):
    SLOW = "slow"
    REFUSE = "refuse"
    BAD_KEY = "bad_key"
    BUSY = "busy"
    BROKEN = "broken"
    CUT = "cut"
    INVALID_JSON = "invalid_json"
    WRONG_SCHEMA = "wrong_schema"
    LENGTH = "length"
    FILTERED = "filtered"
    ENDLESS = "endless"
    NOT_CHAT = "not_chat"


Answer = Callable[[dict[str, Any]], str]
TEXTS = {Fault.INVALID_JSON: '{"verdict": "pass", ', Fault.WRONG_SCHEMA: '{"unexpected": [1, 2, 3]}'}
STATUSES = {Fault.REFUSE: 400, Fault.BAD_KEY: 401, Fault.BUSY: 429, Fault.BROKEN: 500}


class LlmServer(ThreadingHTTPServer):
    """``counts_tokens`` off: answers come without usage. ``retry_after`` is sent with BUSY.

    ``raw_stream`` takes the place of a stream's events.
    """

    daemon_threads = True
    # a client that gives up closes its side; the handler's thread must not be waited for
    block_on_close = False

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.script: list[Fault] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.counts_tokens = True
        self.raw_stream = b""
        self.retry_after = "0"
        self.is_closing = threading.Event()
        self.lock = threading.Lock()
        self.under_way = self.most_under_way = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def next_fault(self) -> Fault | None:
        with self.lock:
            return self.script.pop(0) if self.script else None

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are part of the game."""


class _Handler(BaseHTTPRequestHandler):
    server: LlmServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": MODEL}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(asked)
            self.server.headers.append(dict(self.headers))
            self.server.under_way += 1
            self.server.most_under_way = max(self.server.most_under_way, self.server.under_way)
        try:
            self._answer(asked, self.server.next_fault())
        finally:
            with self.server.lock:
                self.server.under_way -= 1

    def _answer(self, asked: dict[str, Any], fault: Fault | None) -> None:
        if fault in STATUSES:
            self._send(STATUSES[fault], {"error": {"message": "this server misbehaves on purpose"}})
        elif fault is Fault.SLOW:
            self.server.is_closing.wait(60)
            self.close_connection = True
        elif fault is Fault.NOT_CHAT:
            self._send(200, {"hello": "world"})
        elif fault is Fault.ENDLESS:
            self._send_endless()
        else:
            text = TEXTS.get(fault) if fault in TEXTS else self.server.answer(asked)
            assert text is not None
            self._complete(asked, text, fault)

    def _complete(self, asked: dict[str, Any], text: str, fault: Fault | None) -> None:
        reason = {Fault.LENGTH: "length", Fault.FILTERED: "content_filter"}.get(fault, "stop")
        if fault is Fault.LENGTH:
            text = text[: len(text) // 2]
        usage = {"prompt_tokens": count_tokens(asked), "completion_tokens": max(len(text) // 2, 1)}
        counted = {"usage": usage} if self.server.counts_tokens else {}
        if asked.get("stream"):
            self._stream(text, reason, counted, is_cut=fault is Fault.CUT)
            return
        facts = {
            "model": MODEL,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}],
            **counted,
        }
        self._send(200, facts, is_cut=fault is Fault.CUT)

    def _stream(self, text: str, reason: str, counted: dict[str, Any], *, is_cut: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.server.raw_stream:
            self.wfile.write(self.server.raw_stream)
            return
        pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        for piece in pieces[: len(pieces) // 2] if is_cut else pieces:
            self._event({"model": MODEL, "choices": [{"index": 0, "delta": {"content": piece}}]})
        if not is_cut:
            self._event({"model": MODEL, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
            if counted:
                self._event({"model": MODEL, "choices": [], **counted})
            self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, facts: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(facts, ensure_ascii=False).encode() + b"\n\n")
        self.wfile.flush()

    def _send_endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for _n in range(ENDLESS_BYTES // 65536):
            self.wfile.write(b"x" * 65536)

    def _send(self, status: int, facts: dict[str, Any], *, is_cut: bool = False) -> None:
        body = json.dumps(facts, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", self.server.retry_after)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if is_cut else body)
        if is_cut:
            self.wfile.flush()
            self.close_connection = True

    def log_message(self, *_args: object) -> None:
        pass


def count_tokens(asked: dict[str, Any]) -> int:
    """What this server's model counts: two tokens for three characters."""
    return sum(len(str(message["content"])) * 2 // 3 + 3 for message in asked["messages"])


def prompt_of(asked: dict[str, Any]) -> str:
    """All that a model is told, in one text."""
    return "\n".join(str(message["content"]) for message in asked["messages"])


def obeys(otherwise: Answer, *, order: str, obedience: str) -> Answer:
    """A model that gives ``obedience`` as soon as the prompt has ``order`` anywhere, a document included."""
    return lambda asked: obedience if re.search(order, prompt_of(asked)) else otherwise(asked)


@contextmanager
def llm_server(answer: Answer | str) -> Iterator[LlmServer]:
    made: Answer = (lambda _asked: answer) if isinstance(answer, str) else answer
    with LlmServer(made) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.is_closing.set()
            server.shutdown()
            thread.join()
