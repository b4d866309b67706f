"""`manage.py up`: the whole hub in one command."""

from __future__ import annotations

import json
import os
import socket
import sys
import urllib.error
import urllib.request
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, connections

from hub.config import BASE_DIR
from hub.core.embedded import EmbeddedServerError, shared_postgres
from hub.core.valkey import ensure_queue
from hub.site.first_start import FirstAdmin, load_sample, make_first_admin, migrate
from hub.site.supervisor import Child, Supervisor


class Command(BaseCommand):
    help = (
        "Start the web server, a Celery worker and beat, with PostgreSQL and Valkey unless DATABASE_URL and "
        "REDIS_URL point elsewhere. Ctrl-C or SIGTERM stops everything. Example: manage.py up --port 8080"
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=settings.CONFIG.hub_port, help="default: HUB_PORT or 8000")
        parser.add_argument("--no-sample", action="store_true", help="do not load the sample documents")
        parser.add_argument("--workers", type=int, default=settings.CONFIG.hub_workers, help="worker processes")
        parser.add_argument(
            "--ready-file", type=Path, default=settings.CONFIG.hub_ready_file, help="see HUB_READY_FILE"
        )

    def handle(self, *, port: int, no_sample: bool, workers: int, ready_file: Path | None, **_options: object) -> None:
        host = settings.CONFIG.hub_host
        _check_port(host, port)
        for remark in settings.CONFIG.remarks():
            self.stderr.write(remark)
        if ready_file:
            ready_file.unlink(missing_ok=True)
        try:
            ensure_queue()
            migrate()
        except EmbeddedServerError as error:
            raise CommandError(str(error)) from error
        admin = make_first_admin()
        if not no_sample:
            load_sample()
        connections[DEFAULT_DB_ALIAS].close()
        os.environ["HUB_PORT"] = str(port)
        readiness = _Readiness(command=self, url=f"http://{host}:{port}", admin=admin, ready_file=ready_file)
        Supervisor(children=_children(host, port, workers), cwd=BASE_DIR, tend=readiness.tend).run()
        self.stdout.write("stopped")


def _check_port(host: str, port: int) -> None:
    """Raise CommandError when somebody listens there already."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"port {port} on {host} can't be used ({error.strerror}). "
                "Is another hub running there? Choose another with --port or HUB_PORT."
            ) from error


def _children(host: str, port: int, workers: int) -> list[Child]:
    python = sys.executable
    web = ["manage.py", "web", "--host", host, "--port", str(port)]
    level = ["--loglevel", settings.CONFIG.log_level]
    celery = ["-m", "celery", "--quiet", "-A", "hub.celery"]
    worker = [*celery, "worker", "--concurrency", str(workers)]
    lean = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    pid_file = ["--pidfile", ""]
    return [
        Child("web", [python, *web]),
        Child("worker", [python, *worker, *lean, *level]),
        Child("beat", [python, *celery, "beat", *pid_file, *level]),
    ]


@dataclass(slots=True, kw_only=True)
class _Readiness:
    """Keeps the embedded servers alive, and says once when the hub answers."""

    command: Command
    url: str
    admin: FirstAdmin | None
    ready_file: Path | None
    announced: bool = False

    def tend(self) -> None:
        try:
            ensure_queue()
            if settings.EMBEDDED_DATABASE:
                shared_postgres(settings.HUB_DATA_DIR / "postgres").ensure()
        except (EmbeddedServerError, psycopg.OperationalError) as error:  # such as a server without a free connection
            self.command.stderr.write(str(error))
        if not self.announced and self._answers():
            self.announced = True
            self._announce()

    def _answers(self) -> bool:
        # The address need not be among the names that the hub answers to.
        named = [host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*"]
        headers = {"Host": named[0]} if named else {}
        asked = urllib.request.Request(self.url + "/readyz", headers=headers)  # noqa: S310 (our own http URL)
        try:
            with urllib.request.urlopen(asked, timeout=3) as response:  # noqa: S310 (the same)
                return bool(response.status == 200)
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            return False

    def _announce(self) -> None:
        facts: dict[str, str | None] = {"url": self.url, "admin_user": None, "admin_password": None, "token": None}
        lines = [
            "",
            f"  Home   {self.url}/",
            f"  Admin  {self.url}/admin/",
            f"  REST   {self.url}/api/v1/docs",
            f"  MCP    {self.url}/mcp/hub/",
        ]
        if self.admin:
            facts |= {
                "admin_user": self.admin.username,
                "admin_password": self.admin.password,
                "token": self.admin.token,
            }
            lines += [
                "",
                "  Shown only this once:",
                f"  user      {self.admin.username}",
                f"  password  {self.admin.password}",
                f"  token     {self.admin.token}",
            ]
        self.command.stdout.write("\n".join([*lines, "", "  Ctrl-C stops the hub.", ""]))
        self.command.stdout.flush()
        if self.ready_file:
            _write_privately(self.ready_file, json.dumps(facts))


def _write_privately(path: Path, text: str) -> None:
    """Write a file for its owner only; it is there as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".part")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
