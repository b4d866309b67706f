"""A server that speaks as hosted models do: OpenAI's chat and embeddings, Amazon Bedrock's Converse and InvokeModel.

``server.script`` is a list of faults for the next requests, one each; after them it answers well.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIMENSIONS = {"titan": 1024, "cohere": 1024, "openai": 8}


class Fault(StrEnum):
    BUSY = "busy"
    BAD_KEY = "bad_key"
    REFUSED = "refused"
    LENGTH = "length"
    FILTERED = "filtered"


STATUSES = {Fault.BUSY: 429, Fault.BAD_KEY: 403, Fault.REFUSED: 400}
AWS_ERRORS = {
    Fault.BUSY: "ThrottlingException",
    Fault.BAD_KEY: "AccessDeniedException",
    Fault.REFUSED: "ValidationException",
}
OPENAI_REASONS: dict[Fault | None, str] = {Fault.LENGTH: "length", Fault.FILTERED: "content_filter"}
AWS_REASONS: dict[Fault | None, str] = {Fault.LENGTH: "max_tokens", Fault.FILTERED: "guardrail_intervened"}
REASON = "this model is not for you"
TOKENS_IN, TOKENS_OUT = 40, 12


def vector_of(text: str, dimension: int) -> list[float]:
    """A vector that depends on the text alone, of any norm."""
    return list(np.random.default_rng(list(text.encode())).normal(size=dimension).tolist())


class ModelServer(ThreadingHTTPServer):
    """``requests`` are the bodies that came, ``answer`` is what the language model says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Fault] = []
        self.requests: list[dict[str, Any]] = []
        self.answer = "応答時間は3秒以内と定められている。"
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients hang up on an answer that is too long."""


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(asked)
            fault = self.server.script.pop(0) if self.server.script else None
        is_aws = self.path.startswith("/model/")
        if fault in STATUSES:
            more = {"x-amzn-ErrorType": AWS_ERRORS[fault]} if is_aws else {"Retry-After": "0"}
            facts = {"message": REASON} if is_aws else {"error": {"message": REASON}}
            self._send(STATUSES[fault], facts, **more)
        elif is_aws and self.path.endswith("/converse"):
            self._send(200, self._conversed(AWS_REASONS.get(fault, "end_turn")))
        elif is_aws:
            self._send(200, _bedrock_vectors(asked))
        elif self.path.endswith("/embeddings"):
            vectors = [vector_of(text, DIMENSIONS["openai"]) for text in asked["input"]]
            data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
            self._send(200, {"object": "list", "data": data[::-1], "model": asked["model"]})
        else:
            self._chat(asked, OPENAI_REASONS.get(fault, "stop"))

    def _conversed(self, reason: str) -> dict[str, Any]:
        return {
            "output": {"message": {"role": "assistant", "content": [{"text": self.server.answer}]}},
            "stopReason": reason,
            "usage": {"inputTokens": TOKENS_IN, "outputTokens": TOKENS_OUT, "totalTokens": TOKENS_IN + TOKENS_OUT},
            "metrics": {"latencyMs": 5},
        }

    def _chat(self, asked: dict[str, Any], reason: str) -> None:
        usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT}
        facts = {"id": "1", "created": 1, "model": "model"}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": self.server.answer}
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._send(200, {**facts, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        facts["object"] = "chat.completion.chunk"
        events: list[dict[str, Any]] = [
            {"delta": {"content": piece}} for piece in (self.server.answer[:5], self.server.answer[5:])
        ]
        events.append({"delta": {}, "finish_reason": reason})
        lines = [{**facts, "choices": [{"index": 0, **event}]} for event in events]
        lines.append({**facts, "choices": [], "usage": usage})
        body = b"".join(b"data: " + json.dumps(line).encode() + b"\n\n" for line in lines) + b"data: [DONE]\n\n"
        self._send_bytes(200, body, content_type="text/event-stream")

    def _send(self, status: int, facts: dict[str, Any], **headers: str) -> None:
        self._send_bytes(status, json.dumps(facts).encode(), content_type="application/json", **headers)

    def _send_bytes(self, status: int, body: bytes, *, content_type: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


def _bedrock_vectors(asked: dict[str, Any]) -> dict[str, Any]:
    if "inputText" in asked:
        return {"embedding": vector_of(asked["inputText"], DIMENSIONS["titan"])}
    return {"embeddings": {"float": [vector_of(text, DIMENSIONS["cohere"]) for text in asked["texts"]]}}


@contextmanager
def model_server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()
