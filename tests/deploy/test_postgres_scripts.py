"""The scripts that make a replica in the compose file, run as processes: over TCP, with a password, twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from hub.core.embedded.binaries import postgres_programs
from hub.core.embedded.launch import RunAs, choose_user, give_to, run_command, start_daemon
from tests.flows.hub_process import free_port

SCRIPTS = Path(__file__).resolve().parents[2] / "deploy" / "postgres"
PATIENCE_S = 60
pytestmark = pytest.mark.long


@dataclass(frozen=True, kw_only=True)
class Servers:
    """A primary that listens on this machine, and the folder in which a replica can be made."""

    folder: Path
    run_as: RunAs | None
    port: int
    replica_port: int

    def command(self, argv: Sequence[str], **environment: str) -> list[str]:
        path = f"{postgres_programs()}:{os.environ['PATH']}"
        return ["/usr/bin/env", f"PATH={path}", *(f"{name}={value}" for name, value in environment.items()), *argv]

    def run(self, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = self.command(argv, **environment)
        return run_command(command, run_as=self.run_as, folder=self.folder, limit_s=PATIENCE_S)

    def ask(self, port: int, statement: str) -> str:
        argv = ("psql", "-XAtq", "-h", str(self.folder), "-p", str(port), "-U", "hub", "-d", "postgres")
        return self.run(*argv, "-c", statement).stdout.strip()

    def wait_for(self, port: int, statement: str, answer: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (said := self.ask(port, statement)) != answer:
            assert time.monotonic() < deadline, (said, (self.folder / "log").read_text())
            time.sleep(0.1)


@pytest.fixture
def servers() -> Iterator[Servers]:
    folder = Path(tempfile.mkdtemp(prefix="hub-scripts-"))
    run_as = choose_user(program=postgres_programs() / "postgres", home=folder, data=folder / "data")
    made = Servers(folder=folder, run_as=run_as, port=free_port(), replica_port=free_port())
    give_to(folder, run_as)
    folder.chmod(0o755)
    data = str(folder / "data")
    auth = ("--auth-local=trust", "--auth-host=scram-sha-256")
    assert made.run("initdb", "--pgdata", data, "--username=hub", *auth).returncode == 0
    options = f"-c listen_addresses=127.0.0.1 -p {made.port} -k {folder} -c fsync=off"
    started = made.run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-o", options, "-w", "start")
    assert started.returncode == 0, started.stdout
    try:
        yield made
    finally:
        for name in ("replica", "data"):
            made.run("pg_ctl", "-D", str(folder / name), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def allow(servers: Servers) -> None:
    data = servers.folder / "data"
    done = servers.run(
        *("bash", str(SCRIPTS / "allow-replication.sh")),
        PGHOST=str(servers.folder),
        PGPORT=str(servers.port),
        PGDATA=str(data),
        POSTGRES_USER="hub",
        POSTGRES_DB="postgres",
        REPLICATION_PASSWORD="p'a\\ss",
    )
    assert done.returncode == 0, done.stdout


def test_a_replica_is_made_follows_and_is_started_again(servers: Servers) -> None:
    allow(servers)
    allow(servers)
    access = (servers.folder / "data" / "pg_hba.conf").read_text()
    assert access.count("host replication replication all scram-sha-256\n") == 1
    own = ("-c", f"port={servers.replica_port}", "-c", "listen_addresses=")
    command = servers.command(
        ("bash", str(SCRIPTS / "replica.sh"), *own, "-c", f"unix_socket_directories={servers.folder}"),
        PGDATA=str(servers.folder / "replica"),
        PRIMARY_HOST="127.0.0.1",
        PRIMARY_PORT=str(servers.port),
        REPLICATION_PASSWORD="p'a\\ss",
    )
    for value in ("1", "2"):
        with (servers.folder / "log").open("ab") as log:
            start_daemon(command, run_as=servers.run_as, lock=servers.folder / f"lock{value}", log=log)
        servers.wait_for(servers.replica_port, "SELECT pg_is_in_recovery()", "t")
        servers.ask(servers.port, "CREATE TABLE IF NOT EXISTS kept (value int)")
        servers.ask(servers.port, f"INSERT INTO kept SELECT {value}")
        servers.wait_for(servers.replica_port, "SELECT max(value) FROM kept", value)
        assert servers.ask(servers.replica_port, "SHOW hot_standby_feedback") == "on"
        stopped = servers.run("pg_ctl", "-D", str(servers.folder / "replica"), "-m", "fast", "-w", "stop")
        assert stopped.returncode == 0, stopped.stdout
    slots = servers.ask(servers.port, "SELECT string_agg(slot_name, ',') FROM pg_replication_slots")
    assert slots == "replica_1"


def test_nobody_may_follow_without_a_password(servers: Servers) -> None:
    done = servers.run("bash", str(SCRIPTS / "allow-replication.sh"))
    assert done.returncode == 0
    assert "nobody may follow" in done.stdout
    assert servers.ask(servers.port, "SELECT count(*) FROM pg_roles WHERE rolname = 'replication'") == "0"
