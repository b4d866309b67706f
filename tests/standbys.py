"""Hot standbys of an embedded PostgreSQL, from the same binaries: made, held back, promoted, killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, connections

from hub.core import replicas
from hub.core.database_urls import REPLICA
from hub.core.embedded.binaries import postgres_programs
from hub.core.embedded.cluster import ROLE, SUPERUSER
from hub.core.embedded.launch import make_home
from hub.core.embedded.postgres import MAINTENANCE_DATABASE, TUNING, EmbeddedPostgres
from hub.core.embedded.server import marked_pids

PATIENCE_S = 60
REPLICATION = "local replication all trust\n"


class Standby(EmbeddedPostgres):
    """A hot standby of another server on this machine."""

    def run_sql(self, statement: str) -> object:
        """Run one statement as the superuser; gives the first value of its first row, None without one."""
        with self.superuser(MAINTENANCE_DATABASE) as there:
            row = there.execute(statement).fetchone() if statement.startswith("SELECT") else there.execute(statement)
            return row[0] if isinstance(row, tuple) else None

    def hold_back(self) -> None:
        """Receive the log and replay none of it until `go_on`."""
        self.run_sql("SELECT pg_wal_replay_pause()")
        self.wait_for("SELECT pg_get_wal_replay_pause_state() = 'paused'")

    def go_on(self, primary: EmbeddedPostgres) -> None:
        """Replay again, and wait until everything is replayed that the primary has written."""
        self.run_sql("SELECT pg_wal_replay_resume()")
        self.catch_up(primary)

    def catch_up(self, primary: EmbeddedPostgres) -> None:
        with primary.superuser(MAINTENANCE_DATABASE) as there:
            row = there.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
        assert row is not None
        self.wait_for(f"SELECT pg_last_wal_replay_lsn() >= '{row[0]}'")

    def wait_for(self, condition: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not self.run_sql(condition):
            assert time.monotonic() < deadline, condition
            time.sleep(0.02)

    def promote(self) -> None:
        assert self.run_sql("SELECT pg_promote(true, 60)")


def kill(server: EmbeddedPostgres) -> None:
    """Kill a server with all of its processes, as when its machine is gone."""
    deadline = time.monotonic() + PATIENCE_S
    while pids := marked_pids(server.marker, server.process_names):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        assert time.monotonic() < deadline
        time.sleep(0.02)


def let_replicate(primary: EmbeddedPostgres) -> None:
    """Let standbys on this machine follow a running server, until it is started again."""
    access = primary.home / "pg_hba.conf"
    if REPLICATION not in access.read_text():
        with access.open("a") as file:
            file.write(REPLICATION)
        with primary.superuser(MAINTENANCE_DATABASE) as there:
            there.execute("SELECT pg_reload_conf()")


@contextmanager
def standby_of(primary: EmbeddedPostgres, name: str, **settings: str) -> Iterator[Standby]:
    """Make a hot standby that has caught up; it is gone after the block."""
    home = Path(tempfile.mkdtemp(prefix=f"hub-{name}-"))
    let_replicate(primary)
    follow = f"host={primary.socket_dir} port={primary.port} user={SUPERUSER} application_name={name}"
    tuning = {**TUNING, "shared_buffers": "64MB", "hot_standby_feedback": "on", "primary_conninfo": follow, **settings}
    standby = Standby(home, tuning=tuning)
    make_home(standby.home)
    data = standby.home / "data"
    subprocess.run(
        [
            *(str(postgres_programs() / "pg_basebackup"), "-D", str(data), "-h", str(primary.socket_dir)),
            *("-p", str(primary.port), "-U", SUPERUSER, "-X", "stream", "-c", "fast", "--no-sync", "--no-manifest"),
        ],
        check=True,
        capture_output=True,
    )
    (data / "standby.signal").touch()
    owner = (primary.home / "data").stat()
    for path in (data, *data.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
    try:
        standby.ensure(MAINTENANCE_DATABASE)
        standby.catch_up(primary)
        yield standby
    finally:
        kill(standby)
        standby.release()
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def read_at(servers: Sequence[Standby], primary: EmbeddedPostgres) -> Iterator[list[str]]:
    """Let this process read at standbys; gives their aliases. They have caught up."""
    aliases = [f"{REPLICA}{number}" for number, _server in enumerate(servers, 1)]
    for alias, server in zip(aliases, servers, strict=True):
        server.catch_up(primary)
        place: dict[str, Any] = {"HOST": str(server.socket_dir), "PORT": str(server.port), "USER": ROLE}
        place |= {"ENGINE": "hub.core.postgresql_backend", "NAME": connection.settings_dict["NAME"]}
        place["TEST"] = {"MIRROR": "default"}  # tests empty the primary alone
        made = connections.configure_settings({"default": {**settings.DATABASES["default"]}, alias: place})
        connections.settings[alias] = made[alias]
    replicas._known.clear()
    try:
        yield aliases
    finally:
        for alias in aliases:
            connections[alias].close()
            del connections[alias], connections.settings[alias]
