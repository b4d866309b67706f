"""The files for Caddy and nginx in the real servers: TLS 1.3, one address of the caller, no metrics, no waiting."""

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.flows.hub_process import free_port

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


class Echo(BaseHTTPRequestHandler):
    """Answers with the headers that the proxy sent; at /events with a first piece, the rest when it is let go on."""

    server: Behind

    def do_GET(self) -> None:
        headers = self.headers.items()
        body = json.dumps({"port": self.server.server_port, "headers": headers}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path == "/events":
            self.wfile.write(body[:1])
            assert self.server.go_on.wait(30)
            body = body[1:]
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


class Behind(ThreadingHTTPServer):
    """What stands for a web process."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.go_on = threading.Event()


@pytest.fixture
def webs() -> Iterator[tuple[Behind, Behind]]:
    both = (Behind(), Behind())
    for one in both:
        threading.Thread(target=one.serve_forever, daemon=True).start()
    yield both
    for one in both:
        one.shutdown()
        one.server_close()


def ports_of(webs: Sequence[Behind]) -> list[int]:
    return [web.server_port for web in webs]


@contextmanager
def running(command: Sequence[str], port: int, folder: Path, **environment: str) -> Iterator[str]:
    """The URL of a proxy that listens on this machine."""
    with (folder / "log").open("wb") as log:
        own = {"PATH": f"{os.environ['PATH']}:/usr/sbin", "HOME": str(folder), **environment}
        proxy = subprocess.Popen(command, env=own, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while not _listens(port):
            assert proxy.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
        yield f"https://localhost:{port}"
    finally:
        proxy.terminate()
        proxy.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def caddy(folder: Path, ports: Sequence[int]) -> Iterator[str]:
    port = free_port()
    command = ["caddy", "run", "--config", str(DEPLOY / "caddy" / "Caddyfile"), "--adapter", "caddyfile"]
    names = {"HUB_NAME": f"localhost:{port}", "HUB_UPSTREAM": f"127.0.0.1:{ports[0]}"}
    with running(command, port, folder, **names) as url:
        yield url


@contextmanager
def nginx(folder: Path, ports: Sequence[int]) -> Iterator[str]:
    """Our file as it is, but for ports and the certificate, inside of the least that nginx needs around it."""
    port, own = free_port(), (DEPLOY / "nginx" / "hub.conf").read_text()
    certificate = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"]
    certificate += ["-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")]
    subprocess.run(["openssl", "req", *certificate, *files], check=True, capture_output=True)
    changes = {"listen 443": f"listen 127.0.0.1:{port}", "/etc/hub/": f"{folder}/"}
    changes |= {f"127.0.0.1:{8001 + at}": f"127.0.0.1:{behind}" for at, behind in enumerate(ports)}
    for before, after in changes.items():
        assert before in own
        own = own.replace(before, after)
    (folder / "hub.conf").write_text(own)
    kept = "".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; worker_processes 1; events {{}}\n"
        f"http {{ access_log off; {kept} include {folder}/hub.conf; }}\n"
    )
    with running(["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)], port, folder) as url:
        yield url


PROXIES: dict[str, Callable[[Path, Sequence[int]], AbstractContextManager[str]]] = {"caddy": caddy, "nginx": nginx}


@pytest.fixture(params=PROXIES)
def proxy(request, tmp_path, webs) -> Iterator[str]:
    if shutil.which(request.param, path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip(f"{request.param} is not installed")
    with PROXIES[request.param](tmp_path, ports_of(webs)) as url:
        yield url


def opened(
    url: str, headers: Mapping[str, str] = NO_HEADERS, *, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3
) -> Any:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = newest
    asked = urllib.request.Request(url, headers=dict(headers))
    return urllib.request.urlopen(asked, context=context, timeout=10)


def ask(url: str, headers: Mapping[str, str] = NO_HEADERS) -> dict[str, list[str]]:
    """The values of each header as the web process got them, and its port."""
    with opened(url, headers) as answer:
        facts = json.loads(answer.read())
    seen: dict[str, list[str]] = {"port": [facts["port"]]}
    for name, value in facts["headers"]:
        seen.setdefault(name.lower(), []).append(value)
    return seen


def test_a_proxy_speaks_tls_1_3_says_who_calls_and_keeps_metrics_in(proxy):
    seen = ask(f"{proxy}/x", {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "http"})
    assert seen["x-forwarded-for"] == ["127.0.0.1"]
    assert seen["x-forwarded-proto"] == ["https"]
    assert seen["host"] == [proxy.removeprefix("https://")]
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(f"{proxy}/metrics")
    assert refused.value.code == 403
    refused.value.close()
    with pytest.raises(urllib.error.URLError):
        opened(f"{proxy}/x", newest=ssl.TLSVersion.TLSv1_2)


def test_the_pieces_of_a_stream_come_at_once(proxy, webs):
    with opened(f"{proxy}/events") as answer:
        assert answer.read(1) == b"{"  # nothing more was sent yet
        for web in webs:
            web.go_on.set()
        assert json.loads(b"{" + answer.read())["port"]


def test_nginx_shares_requests_out_and_keeps_mcp_at_one_process(tmp_path, webs):
    if shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip("nginx is not installed")
    with nginx(tmp_path, ports_of(webs)) as url:
        ports = {web.server_port for web in webs}
        assert {ask(f"{url}/api/v1/x")["port"][0] for _ in range(4)} == ports
        assert len({ask(f"{url}/mcp/hub/")["port"][0] for _ in range(4)}) == 1
        webs[1].shutdown()
        webs[1].server_close()  # one is restarted: the other answers all
        assert {ask(f"{url}/api/v1/x")["port"][0] for _ in range(6)} == {webs[0].server_port}


def test_nginx_has_the_other_process_answer_mcp_while_the_first_is_away(tmp_path, webs):
    if shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip("nginx is not installed")
    with nginx(tmp_path, ports_of(webs)) as url:
        assert {ask(f"{url}/mcp/hub/")["port"][0] for _ in range(4)} == {webs[0].server_port}
        webs[0].shutdown()
        webs[0].server_close()
        assert {ask(f"{url}/mcp/hub/")["port"][0] for _ in range(4)} == {webs[1].server_port}
