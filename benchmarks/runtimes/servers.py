"""The data that all runtimes serve, and the processes of each runtime."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PEOPLE, OTHERS = 50, 5
BACKEND = "django.contrib.auth.backends.ModelBackend"
START_S, STOP_S = 120, 15
SERVE = ("-m", "benchmarks.runtimes.applications")


def _granian(factory: str, *options: str) -> tuple[str, ...]:
    always = ("--factory", "--no-ws", "--http", "1", "--loop", "asyncio", "--log-level", "error", "--port")
    return ("-m", "granian", f"benchmarks.runtimes.applications:{factory}", *options, *always)


WEB = ("manage.py", "web", "--port")
# The last word of a command comes before its port. The second command serves MCP where the first one can't.
RUNTIMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "request threads": (WEB,),
    "request threads, 2 processes": (WEB,),
    "Django's own": ((*SERVE, "django_threads"),),
    "a2wsgi": ((*SERVE, "a2wsgi"),),
    "granian, ASGI": (_granian("request_threads", "--interface", "asgi"),),
    "granian, a2wsgi": (_granian("a2wsgi", "--interface", "asgi"),),
    "granian, WSGI": (_granian("wsgi", "--interface", "wsgi", "--blocking-threads", "16"), WEB),
}
MORE: dict[str, dict[str, str]] = {"request threads, 2 processes": {"WEB_CONCURRENCY": "2"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """Tokens of readers, of four others (a person each), a session of one more, and a review that nobody works on."""

    tokens: list[str]
    others: list[str]
    session: str
    review: str

    @property
    def other(self) -> str:
        """The token of somebody who has no part in a burst."""
        return self.others[0]


def prepare(home: Path) -> Callers:
    """Make the hub of the benchmark in this process: its servers, the sample documents, and who calls."""
    os.environ |= {"HUB_DATA_DIR": str(home), "DATABASE_URL": "", "REDIS_URL": "", "POSTGRES_HOST": ""}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "hub.settings", "HUB_RATE_LIMIT_PER_MINUTE": "100000000"}
    os.environ["LOG_LEVEL"] = "WARNING"
    import django

    django.setup()
    from hub.core.valkey import ensure_queue
    from hub.site.first_start import load_sample, migrate

    ensure_queue()
    migrate()
    load_sample()
    _take_in()
    _log_statements()
    return _callers()


def _take_in() -> None:
    from knowledge.models import DocumentVersion
    from knowledge.models.documents import IN_WORK

    command = [sys.executable, "-m", "celery", "--quiet", "-A", "hub.celery", "worker", "--concurrency", "1"]
    worker = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        while DocumentVersion.objects.filter(status__in=IN_WORK).exists():
            time.sleep(0.5)
    finally:
        _end(worker)


def _log_statements() -> None:
    from django.conf import settings

    from hub.core.embedded import shared_postgres

    with shared_postgres(settings.HUB_DATA_DIR / "postgres").superuser("postgres") as connection:
        connection.execute("ALTER SYSTEM SET log_line_prefix = '%a|'")
        connection.execute("ALTER SYSTEM SET log_connections = on")
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def statements_logged() -> Iterator[None]:
    """Have PostgreSQL log each statement inside the block."""
    from django.conf import settings

    from hub.core.embedded import shared_postgres

    with shared_postgres(settings.HUB_DATA_DIR / "postgres").superuser("postgres") as connection:
        for value in ("all", "none"):
            connection.execute(f"ALTER SYSTEM SET log_statement = '{value}'".encode())
            connection.execute("SELECT pg_reload_conf()")
            time.sleep(0.3)
            if value == "all":
                yield


def _callers() -> Callers:
    from django.contrib.auth.models import User
    from django.test import Client
    from django.utils import timezone

    from hub.access.principals import ALL_SCOPES, local_operator
    from hub.access.services import create_token
    from knowledge.models import Collection, CollectionGrant, DocumentVersion
    from review.models import CheckListVersion, Review

    def token(name: str, **rights: bool) -> str:
        user, _made = User.objects.get_or_create(username=name, defaults=rights)
        if not user.is_superuser:
            for collection in Collection.objects.all():
                CollectionGrant.objects.get_or_create(collection=collection, user=user, role="reviewer")
        return create_token(principal=local_operator(), user=user, name="runtimes", scopes=ALL_SCOPES)[1]

    others = [token(f"runtimes-other-{number}", is_superuser=True, is_staff=True) for number in range(OTHERS)]
    browser = Client()
    browser.force_login(User.objects.get(username="runtimes-other-0"), backend=BACKEND)
    version = DocumentVersion.objects.select_related("document").first()
    review = Review.objects.create(
        version=version,
        document_id_text=version.document.public_id,
        version_number=version.number,
        checklist_version=CheckListVersion.objects.first(),
        sampling_until=timezone.now() + timedelta(days=1),
    )
    return Callers(
        tokens=[token(f"runtimes-{number}") for number in range(PEOPLE)],
        others=others[1:],
        session=browser.cookies["sessionid"].value,
        review=review.public_id,
    )


@dataclass(slots=True, kw_only=True)
class Server:
    """A started runtime."""

    name: str
    home: Path
    environment: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)
    start_s: float = 0.0

    @property
    def port(self) -> int:
        return self.ports[0]

    @property
    def mcp_port(self) -> int:
        return self.ports[-1]

    def start(self) -> None:
        """Start the processes and wait until each answers."""
        begun = time.monotonic()
        for command in RUNTIMES[self.name]:
            port = _free_port()
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "PGAPPNAME": self.name, "HUB_PORT": str(port)}
            environment |= {**MORE.get(self.name, {}), **self.environment}
            arguments = [sys.executable, *command, str(port)]
            self.processes.append(subprocess.Popen(arguments, cwd=ROOT, env=environment))
            self.ports.append(port)
        for port in self.ports:
            while not _answers(port):
                if time.monotonic() - begun > START_S or any(one.poll() is not None for one in self.processes):
                    raise RuntimeError(f"{self.name} does not start")
                time.sleep(0.05)
        self.start_s = time.monotonic() - begun

    def stop(self) -> None:
        for process in self.processes:
            _end(process)

    @property
    def _pids(self) -> list[int]:
        found = [process.pid for process in self.processes if process.poll() is None]
        for pid in found:
            listed = [task / "children" for task in Path(f"/proc/{pid}/task").iterdir()]
            found += [int(child) for one in listed if one.exists() for child in one.read_text().split()]
        return found

    def memory_mib(self) -> float:
        """Return the proportional share of memory of all processes."""
        rows = [row for pid in self._pids for row in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()]
        return sum(int(row.split()[1]) for row in rows if row.startswith("Pss:")) / 1024

    def threads(self) -> int:
        return sum(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in self._pids)

    def processor_s(self) -> float:
        """Return the processor time of all processes so far."""
        stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self._pids]
        return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")

    def logged(self) -> Counter[str]:
        """Count what PostgreSQL logged of this runtime: its connections and its statements."""
        rows = (self.home / "postgres" / "server.log").read_text(errors="replace").splitlines()
        own = [row.partition("|")[2] for row in rows if row.startswith(f"{self.name}|")]
        counted: Counter[str] = Counter()
        # application_name is known from the moment of authorization on
        counted["connections"] = sum(f"application_name={self.name}" in row for row in rows if "authorized" in row)
        counted["statements"] = sum(row.startswith(("LOG:  statement:", "LOG:  execute ")) for row in own)
        return counted


@contextmanager
def running(name: str, home: Path, **environment: Any) -> Iterator[Server]:
    """Run a runtime inside the block."""
    server = Server(name=name, home=home, environment={key: str(value) for key, value in environment.items()})
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
