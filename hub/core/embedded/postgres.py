"""A private PostgreSQL with pgvector for a hub that was given no DATABASE_URL."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import quote

import psycopg
from django.conf import settings
from psycopg import sql
from psycopg.conninfo import make_conninfo

from hub.core.embedded.binaries import postgres_programs
from hub.core.embedded.cluster import PORT, ROLE, SUPERUSER, Cluster, make_role, open_database
from hub.core.embedded.launch import RunAs, choose_user
from hub.core.embedded.server import EmbeddedServer

# Version 2 and version 1 of control groups; "max", or a number beyond any machine's memory, means no limit.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def machine_memory_bytes() -> int:
    """Give the machine's memory, or the container's limit where that is less."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *_container_limits()])


def _container_limits() -> list[int]:
    said = [path.read_text(encoding="ascii").strip() for path in _LIMITS if path.is_file()]
    return [int(limit) for limit in said if limit.isdigit()]


MAINTENANCE_DATABASE = "postgres"

# Modest on purpose: the hub's own processes, and a model perhaps, share the machine. What depends on its memory is
# added by `tuning_for`.
TUNING: Mapping[str, str] = MappingProxyType(
    {
        "maintenance_work_mem": "256MB",
        "work_mem": "16MB",
        "max_connections": "150",
        "max_parallel_maintenance_workers": "2",
        "max_wal_size": "1GB",
        "checkpoint_timeout": "15min",
        "random_page_cost": "1.1",
        "jit": "off",
    }
)

# A quarter of the memory, as PostgreSQL's manual suggests, and no more than a million passages gain from. Pages are
# taken as they are needed, so a small hub never takes that much.
_BUFFERS_SHARE = 4
_LEAST_BUFFERS_BYTES = 128 * 1024**2
_MOST_BUFFERS_BYTES = 4 * 1024**3
_PING_LIMIT_S = 3
_CONNECT_LIMIT_S = 30


def tuning_for(memory_bytes: int, *, buffers_bytes: int | None = None) -> Mapping[str, str]:
    """Give the settings for a machine of so much memory; ``buffers_bytes`` overrules what PostgreSQL keeps itself.

    The planner is told that half of the memory caches files.
    """
    fitting = min(max(memory_bytes // _BUFFERS_SHARE, _LEAST_BUFFERS_BYTES), _MOST_BUFFERS_BYTES)
    return {
        **TUNING,
        "shared_buffers": _kilobytes(buffers_bytes or fitting),
        "effective_cache_size": _kilobytes(max(memory_bytes // 2, buffers_bytes or 0)),
    }


def _kilobytes(size: int) -> str:
    return f"{size // 1024}kB"


class EmbeddedPostgres(EmbeddedServer):
    """A PostgreSQL below ``home`` that listens on a Unix socket only, for the user that runs the hub only."""

    title = "PostgreSQL"
    socket_name = f".s.PGSQL.{PORT}"
    process_names = ("postgres",)
    # Fast, then immediate shutdown; after the latter the next start replays the log. Source: PostgreSQL manual,
    # "Shutting Down the Server".
    stop_signals: ClassVar[Sequence[tuple[signal.Signals, float]]] = ((signal.SIGINT, 6.0), (signal.SIGQUIT, 3.0))

    def __init__(self, home: Path, *, tuning: Mapping[str, str] | None = None) -> None:
        super().__init__(home)
        self.port = PORT
        self._tuning = tuning
        self._opened: set[str] = set()

    def ensure(self, database: str = "hub") -> None:
        """Make sure that the server runs, counts this process as a user, and has the database. Idempotent.

        Safe from any number of threads and processes. Starts again a server that was killed.

        :raises EmbeddedServerError: it can't be started; the message says what to do.
        :raises psycopg.OperationalError: it runs but takes no connection.
        """
        with self._exclusive():
            self._ensure_running()
            self._ensure_database(database)

    def is_ready(self) -> bool:
        """Tell whether the server takes connections now."""
        conninfo = make_conninfo(self.dsn(MAINTENANCE_DATABASE), connect_timeout=_PING_LIMIT_S)
        return psycopg.pq.PGconn.ping(conninfo.encode()) == psycopg.pq.Ping.OK

    @contextmanager
    def superuser(self, database: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
        """Connect to a database of the running server as its superuser, for the length of the block; autocommit."""
        conninfo = self.dsn(database)
        with psycopg.connect(conninfo, autocommit=True, connect_timeout=_CONNECT_LIMIT_S) as connection:
            yield connection

    def dsn(self, database: str) -> str:
        """Return the URL of a database, as libpq reads it, for the superuser."""
        socket_dir = quote(str(self.socket_dir), safe="")
        return f"postgresql://{SUPERUSER}@/{quote(database, safe='')}?host={socket_dir}&port={self.port}"

    def _prepare(self) -> RunAs | None:
        cluster = self._cluster()
        run_as = choose_user(program=cluster.programs / "postgres", home=self.home, data=cluster.data)
        buffers = getattr(settings, "EMBEDDED_BUFFERS_BYTES", None)  # unset: by the machine's memory
        cluster.write_config(self._tuning or tuning_for(machine_memory_bytes(), buffers_bytes=buffers), run_as)
        cluster.create(run_as)
        cluster.require_same_major(run_as)
        cluster.clear_stale_files()
        return run_as

    def _command(self) -> Sequence[str]:
        cluster = self._cluster()
        program = str(cluster.programs / "postgres")
        named = f"cluster_name={self.marker}"
        return [program, "-D", str(cluster.data), "-c", f"config_file={cluster.config}", "-c", named]

    def _cluster(self) -> Cluster:
        return Cluster(home=self.home, programs=postgres_programs(), socket_dir=self.socket_dir)

    def _ensure_database(self, database: str) -> None:
        with self.superuser(MAINTENANCE_DATABASE) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone()
            if known is None:
                # template0, since nobody can be connected to it, which would make the statement fail.
                connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(database)))
            make_role(connection)
        if database not in self._opened and database != MAINTENANCE_DATABASE:
            with self.superuser(database) as connection:
                open_database(connection)
            self._opened.add(database)


_shared: dict[str, EmbeddedPostgres] = {}


def shared_postgres(home: Path) -> EmbeddedPostgres:
    """Return this process's one object for the server below ``home``; starts nothing."""
    key = str(home.resolve())
    # setdefault is atomic: of two threads that come first together, both get the same object.
    return _shared.get(key) or _shared.setdefault(key, EmbeddedPostgres(home))


def postgres_settings(home: Path) -> dict[str, Any]:
    """Return Django's ``DATABASES["default"]`` for the embedded PostgreSQL below ``home``.

    The server is started by the first connection, by the backend that ENGINE names; it reads EMBEDDED_HOME.
    """
    server = EmbeddedPostgres(home)
    return {
        "ENGINE": "hub.core.embedded.django_backend",
        "NAME": "hub",
        "USER": ROLE,
        "HOST": str(server.socket_dir),
        "PORT": str(server.port),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "EMBEDDED_HOME": str(server.home),
        "OPTIONS": {},
    }
