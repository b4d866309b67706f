"""The Caddyfile in a real Caddy: TLS 1.3 alone, one address of the caller, no metrics."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.flows.hub_process import free_port

CADDYFILE = Path(__file__).resolve().parents[2] / "deploy" / "caddy" / "Caddyfile"
pytestmark = pytest.mark.skipif(shutil.which("caddy") is None, reason="caddy is not installed")


class Echo(BaseHTTPRequestHandler):
    """Answers with the headers that the proxy sent."""

    def do_GET(self) -> None:
        body = json.dumps(self.headers.items()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@pytest.fixture
def proxy(tmp_path) -> Iterator[str]:
    """The URL of Caddy, with a certificate of its own making, in front of what echoes."""
    behind = HTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=behind.serve_forever, daemon=True).start()
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HUB_NAME": f"localhost:{port}",
        "HUB_UPSTREAM": f"127.0.0.1:{behind.server_port}",
    }
    command = ["caddy", "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
    with (tmp_path / "log").open("wb") as log:
        caddy = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while not _listens(port):
            assert caddy.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < deadline, (tmp_path / "log").read_text()
            time.sleep(0.05)
        yield f"https://localhost:{port}"
    finally:
        caddy.terminate()
        caddy.wait()
        behind.shutdown()
        behind.server_close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ask(url: str, *, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3, **headers: str) -> list[list[str]]:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = newest
    asked = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    with urllib.request.urlopen(asked, context=context, timeout=10) as answer:
        return json.loads(answer.read())


def test_the_proxy_speaks_tls_1_3_says_who_calls_and_keeps_metrics_in(proxy):
    seen = ask(f"{proxy}/x", X_Forwarded_For="198.51.100.7", X_Forwarded_Proto="http")
    assert [value for name, value in seen if name.lower() == "x-forwarded-for"] == ["127.0.0.1"]
    assert [value for name, value in seen if name.lower() == "x-forwarded-proto"] == ["https"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(f"{proxy}/metrics")
    assert refused.value.code == 403
    refused.value.close()
    with pytest.raises(urllib.error.URLError):
        ask(f"{proxy}/x", newest=ssl.TLSVersion.TLSv1_2)
