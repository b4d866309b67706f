"""A local endpoint that speaks the wire format of the Amazon Bedrock Agent Runtime API."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PASSAGE: dict[str, Any] = {
    "content": {"text": "非機能要求は六つの大項目に分けて定める。", "type": "TEXT"},
    "location": {"type": "S3", "s3Location": {"uri": "s3://guides/非機能.pdf"}},
}
RESULTS = [{**PASSAGE, "score": 0.82}, {**PASSAGE, "score": 0.41}]
ANSWER = "六つの大項目があります。"


@dataclass
class BedrockServer:
    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    failure: tuple[int, str] | None = None


@contextmanager
def bedrock_server() -> Iterator[BedrockServer]:
    """Serve /knowledgebases/{id}/retrieve and /retrieveAndGenerate; ``failure`` (status, code) is given instead."""
    state = BedrockServer(url="")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.requests.append({"path": self.path, **body})
            if state.failure is not None:
                status, code = state.failure
                self._send(status, {"message": f"said by AWS: {code}"}, {"x-amzn-errortype": code})
            elif self.path == "/retrieveAndGenerate":
                reference = {name: PASSAGE[name] for name in ("content", "location")}
                self._send(
                    200,
                    {
                        "output": {"text": ANSWER},
                        "sessionId": "s-1",
                        "citations": [{"retrievedReferences": [reference]}],
                    },
                )
            else:
                self._send(200, {"retrievalResults": RESULTS})

        def _send(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
            data = json.dumps(body, ensure_ascii=False).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
