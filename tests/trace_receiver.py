"""A collector of traces for tests: it takes what OTLP over HTTP sends, and gives it back as flat spans."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    seconds: float
    code: str
    facts: dict[str, Any]
    process: str
    linked: tuple[str, ...]


class TraceReceiver(ThreadingHTTPServer):
    """Listens on a free port of this machine."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[bytes] = []
        self.paths: set[str] = set()
        self.headers_seen: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def spans(self) -> list[Received]:
        """What has come until now."""
        return [span for body in list(self.bodies) for span in _spans(body)]


class _Handler(BaseHTTPRequestHandler):
    server: TraceReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_packed = self.headers.get("Content-Encoding") == "gzip"
        self.server.bodies.append(gzip.decompress(body) if is_packed else body)
        self.server.paths.add(self.path)
        self.server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


def _spans(body: bytes) -> Iterator[Received]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        process = _facts(resource.resource.attributes)["service.instance.id"]
        for scope in resource.scope_spans:
            for one in scope.spans:
                yield Received(
                    name=one.name,
                    trace_id=one.trace_id.hex(),
                    span_id=one.span_id.hex(),
                    parent_id=one.parent_span_id.hex(),
                    seconds=(one.end_time_unix_nano - one.start_time_unix_nano) / 1e9,
                    code=one.status.message,
                    facts=_facts(one.attributes),
                    process=process,
                    linked=tuple(link.trace_id.hex() for link in one.links),
                )


def _facts(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@contextmanager
def trace_receiver() -> Iterator[TraceReceiver]:
    with TraceReceiver() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
