"""A whole hub, as a user starts it: `manage.py up` in a folder of its own, on a free port."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from hub.core.embedded.valkey import EmbeddedValkey

ROOT = Path(__file__).resolve().parents[2]
# An overloaded machine takes minutes for what an idle one does in seconds.
START_TIMEOUT_S = 300
FINISHED = {"ready", "needs_ocr", "failed"}
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "USER", "SSL_CERT_FILE")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class HubProcess:
    """A running hub and its first administrator."""

    data_dir: Path
    port: int
    process: subprocess.Popen[bytes]
    url: str = ""
    password: str = ""
    token: str = ""
    settings: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return {
            **kept,
            "HUB_DATA_DIR": str(self.data_dir),
            "HUB_PORT": str(self.port),
            "LOG_LEVEL": "WARNING",
            "HUB_LEASE_S": "10",
            "HUB_SOURCE_ROOTS": "/",
            # Tests poll without pause and read everything back: the limit is not what they are about.
            "HUB_RATE_LIMIT_PER_MINUTE": "1000000",
            **self.settings,
        }

    def manage(
        self, *arguments: str, check: bool = True, timeout_s: float = 240, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` beside the running hub."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment() | more.pop("env", {}),
            capture_output=True,
            text=True,
            check=check,
            timeout=timeout_s,
            **more,
        )

    def call(self, method: str, path: str, *, token: str | None = None, **more: Any) -> requests.Response:
        """Call the REST API with the first administrator's token, or another one ("" for none)."""
        bearer = self.token if token is None else token
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        headers |= more.pop("headers", {})
        return requests.request(method, f"{self.url}/api/v1{path}", headers=headers, timeout=60, **more)

    def upload(self, path: Path, /, **fields: str) -> dict[str, Any]:
        with path.open("rb") as file:
            response = self.call("POST", "/documents", files={"file": (path.name, file)}, data=fields)
        assert response.status_code in {200, 201, 202}, response.text
        return response.json()

    def wait_until_finished(self, *document_ids: str, stalled_after_s: float = 120) -> list[dict[str, Any]]:
        """Poll until every document is ready, needs_ocr or failed; gives them in the order asked.

        How long that takes is the machine's affair: it fails when no document has moved on for ``stalled_after_s``.
        """
        seen: dict[str, dict[str, Any]] = {}
        pending = list(document_ids)
        deadline = time.monotonic() + stalled_after_s
        while True:
            began = time.monotonic()
            now = {name: self.call("GET", f"/documents/{name}").json() for name in pending}
            if any(_stage(now[name]) != _stage(seen.get(name, {})) for name in pending):
                deadline = time.monotonic() + stalled_after_s
            seen |= now
            pending = [name for name in pending if now[name]["status"] not in FINISHED]
            if not pending:
                return [seen[name] for name in document_ids]
            assert time.monotonic() < deadline, [seen[name] for name in pending]
            time.sleep(max(0.3, 4 * (time.monotonic() - began)))  # asking about a thousand keeps the hub from them

    def stop(self) -> float:
        """Stop it as Ctrl-C does; gives the seconds that it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        return time.monotonic() - began


def _stage(document: dict[str, Any]) -> tuple[object, object]:
    return document.get("status"), document.get("progress")


def processes_of(hub: HubProcess, victim: str) -> list[int]:
    """The processes of a hub's worker, web, valkey or postgres; none while the supervisor is just starting it again."""
    listing = subprocess.run(["ps", "-ewwo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listing.splitlines()[1:]]
    ours = {
        "worker": lambda parent, words: parent == hub.process.pid and "hub.celery worker" in words,
        "web": lambda parent, words: parent == hub.process.pid and "manage.py web" in words,
        "valkey": lambda _, words: EmbeddedValkey(hub.data_dir / "valkey").marker in words,
        "postgres": lambda _, words: str(hub.data_dir) in words and "/postgres -D" in words,
    }[victim]
    return [int(pid) for pid, parent, words in rows if ours(int(parent), words)]


def _wait_until_ready(hub: HubProcess, ready_file: Path, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not ready_file.exists():
        said = log.read_text(errors="replace")
        assert hub.process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.1)


def start_hub(
    data_dir: Path, *arguments: str, port: int | None = None, under: Sequence[str] = (), **settings: str
) -> HubProcess:
    """Start a hub and wait until it says that it is ready; ``under`` is a command that runs it, such as a tracer."""
    hub = HubProcess(data_dir=data_dir, port=port or free_port(), process=None, settings=settings)
    ready_file = data_dir.parent / f"ready-{hub.port}.json"
    ready_file.unlink(missing_ok=True)
    log = (data_dir.parent / f"up-{hub.port}.log").open("wb")
    command = [
        *under,
        sys.executable,
        "manage.py",
        "up",
        "--port",
        str(hub.port),
        "--ready-file",
        str(ready_file),
        *arguments,
    ]
    hub.process = subprocess.Popen(command, cwd=ROOT, env=hub.environment(), stdout=log, stderr=subprocess.STDOUT)
    log.close()
    try:
        _wait_until_ready(hub, ready_file, Path(log.name))
    except AssertionError:
        hub.process.terminate()  # nothing happens when it has ended
        raise
    facts = json.loads(ready_file.read_text())
    hub.url, hub.password, hub.token = facts["url"], facts["admin_password"] or "", facts["token"] or ""
    return hub
