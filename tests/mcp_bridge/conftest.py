"""A whole hub of its own for the tests that talk to real processes: data, tokens, and a web server when asked for."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from hub.core.embedded import shared_postgres, shared_valkey
from tests.conftest import REPOSITORY
from tests.mcp_bridge.operators import OPERATOR, Operator
from tests.migrated import start_from_migrated

START_LIMIT_S = 120
DESIGN = """# 図書館システム基本設計書

## 1 目的

本書は図書館システムの基本設計を示す。対象は貸出、返却、予約の各業務とする。

## 2 性能

利用者検索の応答時間は3秒以内とする。要件は REQ-001 による。

## 3 運用

バックアップは毎日午前2時に取得する。
"""
SET_UP = """
import json
import django
django.setup()
from django.contrib.auth.models import User
from hub.access.principals import ALL_SCOPES, Scope, local_operator
from hub.access.services import create_token
from knowledge.models import Collection, CollectionGrant
def token(username, scopes, **rights):
    user, _made = User.objects.get_or_create(username=username, defaults=rights)
    return create_token(principal=local_operator(), user=user, name="test", scopes=frozenset(scopes))[1]
stranger = token("stranger", ALL_SCOPES)
print(json.dumps({
    "admin": token("admin", ALL_SCOPES, is_superuser=True),
    "searcher": token("admin", {Scope.READ, Scope.SEARCH}),
    "stranger": stranger,
}))
"""

NO_RULES = """
import django
django.setup()
from review.models import CheckItemVersion
items = CheckItemVersion.objects.filter(item__code__in=["BD-C01", "BD-C02"])
items.update(criteria={"prompt": "応答時間が定められているか。"})
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestHub:
    """A migrated data folder, its tokens by name, and the environment of its processes."""

    __test__ = False

    home: Path
    tokens: dict[str, str]
    environment: dict[str, str] = field(repr=False)

    def stdio(self, name: str, *arguments: str, **environment: str) -> StdioServerParameters:
        return StdioServerParameters(
            command=sys.executable,
            args=[str(REPOSITORY / "manage.py"), "mcp", name, *arguments],
            env={**self.environment, **environment},
        )

    def start_stdio(self, name: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start the command with pipes, to talk to it byte by byte."""
        server = self.stdio(name, *arguments, **environment)
        return subprocess.Popen(
            [server.command, *server.args],
            env=server.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSite:
    """A running web server of a hub."""

    __test__ = False

    url: str
    hub: TestHub
    process: subprocess.Popen[bytes]

    def headers(self, owner: str = "admin", **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.hub.tokens[owner]}", **more}

    @asynccontextmanager
    async def client(self, name: str, *, owner: str = "admin", language: str = "", mode: str = "auto", **options):
        headers = self.headers(owner, **({"Accept-Language": language} if language else {}))
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(
                f"{self.url}/mcp/{name if '?' in name else name + '/'}", http_client=http
            )
            async with Client(transport, mode=mode, **options) as client:
                yield client


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def hub() -> Iterator[TestHub]:
    """A hub of its own, with its database kept running between its processes."""
    with new_hub() as made:
        yield made


@contextmanager
def new_hub() -> Iterator[TestHub]:
    """Make a hub, and take it away after the block."""
    home = Path(tempfile.mkdtemp(prefix="hub-mcp-"))
    environment = {**os.environ, "HUB_DATA_DIR": str(home), "DJANGO_SETTINGS_MODULE": "hub.settings"}
    environment |= {"PYTHONPATH": str(REPOSITORY), "LC_ALL": "en_US.UTF-8", "HUB_TOKEN": "", "DATABASE_URL": ""}
    environment |= {"REDIS_URL": "", "POSTGRES_HOST": ""}
    environment |= {"HUB_MCP_TOOLSETS": "all"}  # test_costs has what is listed by default
    environment |= {"HUB_RATE_LIMIT_PER_MINUTE": "1000000"}  # as of the flows: the limit is not what they are about
    start_from_migrated(home)
    servers = (shared_postgres(home / "postgres"), shared_valkey(home / "valkey"))
    for server in servers:
        server.ensure()
    try:
        done = subprocess.run([sys.executable, "-c", SET_UP], env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        yield TestHub(home=home, tokens=json.loads(done.stdout), environment=environment)
    finally:
        for server in servers:
            server.release()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def operator(hub: TestHub) -> Iterator[Operator]:
    """A process that makes tokens and grants, and takes them back."""
    command = [sys.executable, "-c", OPERATOR]
    with subprocess.Popen(
        command, env=hub.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Operator(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="session")
def model_items(hub: TestHub) -> None:
    """Two shipped items that only a model can judge."""
    subprocess.run([sys.executable, "-c", NO_RULES], env=hub.environment, cwd=REPOSITORY, check=True)


@pytest.fixture(scope="session")
def site(hub: TestHub) -> Iterator[TestSite]:
    """The web server, as `manage.py up` starts it, with the fixture of the conformance suite beside the others."""
    site = start_site(hub, HUB_MCP_CONFORMANCE="1")
    yield site
    stop_site(site)


def start_site(hub: TestHub, *, port: int = 0, log: IO[str] | None = None, **environment: str) -> TestSite:
    """Start the web server; what it logs goes to ``log``, or to our own stderr."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "manage.py", "web", "--port", str(port)],
        env={**hub.environment, "HUB_PORT": str(port), **environment},
        cwd=REPOSITORY,
        stderr=log,
    )
    site = TestSite(url=f"http://127.0.0.1:{port}", hub=hub, process=process)
    try:
        _wait_until_ready(site)
    except AssertionError:
        process.kill()
        process.wait()
        raise
    return site


def _wait_until_ready(site: TestSite) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        assert site.process.poll() is None, "the web server ended"
        try:
            urllib.request.urlopen(site.url + "/healthz", timeout=5)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the web server does not answer")


def stop_site(site: TestSite) -> None:
    """Send SIGTERM and wait for the end; a server that does not stop is killed and reported."""
    site.process.send_signal(signal.SIGTERM)
    try:
        site.process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        site.process.kill()
        site.process.wait()
        raise


@asynccontextmanager
async def stdio_session(server: StdioServerParameters, *, mode: str = "auto", **options):
    with tempfile.TemporaryFile("w+") as log:
        async with Client(stdio_client(server, errlog=log), mode=mode, **options) as client:
            yield client
