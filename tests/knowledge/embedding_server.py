"""A server that speaks OpenAI's POST /embeddings: the bundled model's vectors, projected to another dimension."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from knowledge.index.active_embedder import make_embedder

DIMENSION = 64


class EmbeddingServer(ThreadingHTTPServer):
    """``refuses`` makes it answer 401."""

    refuses = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.refuses:
            self._answer(401, {"error": {"message": "no"}})
            return
        vectors = make_embedder("bundled", "", "").embed_passages(asked["input"]) @ _projection()
        data = [{"index": index, "embedding": vector.tolist()} for index, vector in enumerate(vectors)]
        self._answer(200, {"data": data})

    def _answer(self, status: int, facts: dict[str, object]) -> None:
        body = json.dumps(facts).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


def _projection() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(384, DIMENSION)).astype(np.float32)


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
