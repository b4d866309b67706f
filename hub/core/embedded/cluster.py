"""The files of an embedded PostgreSQL, and the role that a hub uses it with.

The configuration lies beside the data folder, not in it: where the hub is run by root, the data folder belongs to
another user, and root had better not write into a folder where somebody else may plant a symbolic link.

The role is no superuser, and not the owner of the audit trail. The superuser, whom the hub's own system user may become
too, makes the role, the extension and the databases. All tables are the role's own but those of ``APPEND_ONLY``, where
it may add rows and read them, and neither change nor remove any. It does not own the schema either, whose owner could
drop such a table.
"""

from __future__ import annotations

import os
import pwd
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from hub.core.embedded.launch import EmbeddedServerError, RunAs, give_to, run_command

ROLE = "hub"
APPEND_ONLY = ("access_auditevent", "access_auditseal", "access_auditsealedlines")

# What warms the search index up after a start reads the server's own files, and nothing outside of its data folder.
_READ_FILES = "pg_read_binary_file(text, bigint, bigint, boolean)"
_FOREIGN_TABLES = """
SELECT c.oid::regclass::text, c.relkind FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
  AND c.relowner <> %(role)s::regrole AND NOT c.relname = ANY(%(append_only)s)
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'a', 'i'))
"""


def make_role(superuser: psycopg.Connection[tuple[object, ...]]) -> None:
    """Create the role unless it is there. For an autocommit connection to any database of the server."""
    if superuser.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone() is None:
        superuser.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(ROLE)))


def open_database(superuser: psycopg.Connection[tuple[object, ...]]) -> None:
    """Let the role work in the connection's database: the extension, the schema, and tables of before it existed."""
    role = sql.Identifier(ROLE)
    superuser.execute("CREATE EXTENSION IF NOT EXISTS vector")
    superuser.execute(sql.SQL("GRANT CREATE, USAGE ON SCHEMA public TO {}").format(role))
    superuser.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(sql.SQL(_READ_FILES), role))
    given = {"role": ROLE, "append_only": list(APPEND_ONLY)}
    for name, kind in superuser.execute(_FOREIGN_TABLES, given).fetchall():
        what = sql.SQL("SEQUENCE" if kind == "S" else "TABLE")
        superuser.execute(sql.SQL("ALTER {} {} OWNER TO {}").format(what, sql.SQL(str(name)), role))


def lend_append_only(superuser: psycopg.Connection[tuple[object, ...]]) -> None:
    """Give the role the append-only tables, for as long as migrations run that may change their columns."""
    for table in _existing(superuser):
        superuser.execute(sql.SQL("ALTER TABLE {} OWNER TO {}").format(sql.Identifier(table), sql.Identifier(ROLE)))


def close_append_only(superuser: psycopg.Connection[tuple[object, ...]]) -> None:
    """Leave the role no more than reading the append-only tables and adding to them."""
    role = sql.Identifier(ROLE)
    for table in _existing(superuser):
        name = sql.Identifier(table)
        superuser.execute(sql.SQL("ALTER TABLE {} OWNER TO CURRENT_USER").format(name))
        superuser.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(name, role))
        superuser.execute(sql.SQL("GRANT SELECT, INSERT ON {} TO {}").format(name, role))


def _existing(superuser: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    rows = superuser.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname = ANY(%s)",
        [list(APPEND_ONLY)],
    ).fetchall()
    return [str(name) for (name,) in rows]


SUPERUSER = "postgres"
PORT = 5432  # no TCP port: it only names the socket

_INIT_LIMIT_S = 300.0
_INIT_PREFIX = "data.init-"
# What building a vector index may take (HUB_INDEX_MEMORY_BYTES), and some more.
_ROOMY_SHARED_MEMORY_BYTES = 13 << 28

# The builtin collation is the same on every system. The C type of characters would make Japanese no letters.
_LOCALE = (
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--lc-collate=C",
    "--lc-messages=C",
    "--lc-ctype=" + ("UTF-8" if sys.platform == "darwin" else "C.UTF-8"),
)

# What a client sent must not end in a log: no statements, and no key values, which are in the detail of an error.
_LOGGING = {
    "log_destination": "stderr",
    "log_line_prefix": "%m [%p] ",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One PostgreSQL data folder, with its configuration files, below ``home``."""

    home: Path
    programs: Path
    socket_dir: Path

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.home / "data"

    @property
    def config(self) -> Path:
        """The main configuration file."""
        return self.home / "postgresql.conf"

    def create(self, run_as: RunAs | None) -> None:
        """Fill the data folder, without the network, unless it is there. It appears complete or not at all.

        :raises EmbeddedServerError: initdb failed; the message has what it said.
        """
        if (self.data / "PG_VERSION").exists():
            return
        for leftover in self.home.glob(f"{_INIT_PREFIX}*"):
            # An initdb whose starter was killed may still be writing: what it adds now goes with the next removal.
            shutil.rmtree(leftover, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(prefix=_INIT_PREFIX, dir=self.home))
        give_to(fresh, run_as)
        argv = [str(self.programs / "initdb"), f"--pgdata={fresh}", f"--username={SUPERUSER}", *_LOCALE]
        argv += ["--auth-local=peer", "--auth-host=reject", "--no-instructions"]
        done = run_command(argv, run_as=run_as, folder=self.home, limit_s=_INIT_LIMIT_S)
        if done.returncode != 0:
            shutil.rmtree(fresh)
            raise EmbeddedServerError(
                en=f"PostgreSQL's initdb failed in {self.home}:\n{done.stdout.strip()}",
                ja=f"{self.home} で PostgreSQL の initdb が失敗しました：\n{done.stdout.strip()}",
            )
        fresh.rename(self.data)

    def require_same_major(self, run_as: RunAs | None) -> None:
        """Compare the data folder's major version with the programs'.

        :raises EmbeddedServerError: they differ.
        """
        stored = (self.data / "PG_VERSION").read_text().strip()
        argv = [str(self.programs / "postgres"), "--version"]
        said = run_command(argv, run_as=run_as, folder=self.home, limit_s=_INIT_LIMIT_S).stdout
        version = said.rsplit(None, 1)[-1]  # postgres (PostgreSQL) 18.4
        if version.split(".")[0] == stored:
            return
        raise EmbeddedServerError(
            en=f"The data folder {self.data} was made by PostgreSQL {stored}, but the programs in {self.programs} are"
            f" PostgreSQL {version}. Set HUB_PG_BIN to programs of version {stored}, or move the data over with"
            " pg_dump, or pg_upgrade.",
            ja=f"データフォルダー {self.data} は PostgreSQL {stored} のもので、{self.programs} のプログラムは"
            f" PostgreSQL {version} です。HUB_PG_BIN にバージョン {stored} のプログラムを設定するか、"
            "pg_dump か pg_upgrade でデータを移行してください。",
        )

    def write_config(self, tuning: Mapping[str, str], run_as: RunAs | None) -> None:
        """Write the configuration anew, readable by the server.

        ``tuning`` can't override what keeps the server private and the data safe.

        :raises EmbeddedServerError: our own user has no name, which PostgreSQL needs to recognise us.
        """
        settings = {
            **tuning,
            **_LOGGING,
            "fsync": "on",
            "timezone": "UTC",
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": '"' + str(self.socket_dir).replace('"', '""') + '"',
            "unix_socket_permissions": "0700",
            "hba_file": str(self.home / "pg_hba.conf"),
            "ident_file": str(self.home / "pg_ident.conf"),
            "dynamic_shared_memory_type": "posix" if _has_roomy_shared_memory() else "mmap",
        }
        # The kernel tells the server who is at the other end of the socket: only the hub's own user is let in.
        _write(self.home / "pg_hba.conf", "local all all peer map=hub\n", run_as)
        own = _own_name()
        _write(self.home / "pg_ident.conf", f'hub "{own}" {SUPERUSER}\nhub "{own}" {ROLE}\n', run_as)
        _write(self.config, "".join(f"{name} = {_quoted(value)}\n" for name, value in settings.items()), run_as)

    def clear_stale_files(self) -> None:
        """Remove what a killed server left. Only for when none of its processes lives.

        PostgreSQL itself would take a zombie, or a stranger that got the same process number, for a live server.
        """
        socket = self.socket_dir / f".s.PGSQL.{PORT}"
        for path in (self.data / "postmaster.pid", socket, socket.with_name(f"{socket.name}.lock")):
            path.unlink(missing_ok=True)


def _write(path: Path, text: str, run_as: RunAs | None) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    if run_as is not None and run_as.capability is None:  # nothing else lets the server's own user read it
        os.chown(path, -1, run_as.gid)
        path.chmod(0o640)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError as error:
        raise EmbeddedServerError(
            en=f"The user id {os.geteuid()} has no name in the system's user list, which PostgreSQL needs. Add the"
            " user (/etc/passwd), or set DATABASE_URL.",
            ja=f"ユーザー ID {os.geteuid()} の名前が OS にありません。PostgreSQL に必要です。"
            "ユーザーを追加する（/etc/passwd）か、DATABASE_URL を設定してください。",
        ) from error


def _has_roomy_shared_memory() -> bool:
    """Tell whether /dev/shm holds parallel index builds: a container's default of 64 MB does not."""
    try:
        status = os.statvfs("/dev/shm")  # noqa: S108 - we only ask for its size
    except FileNotFoundError:
        return sys.platform != "linux"
    return status.f_bavail * status.f_frsize >= _ROOMY_SHARED_MEMORY_BYTES
