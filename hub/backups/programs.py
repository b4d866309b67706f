"""PostgreSQL's own programs: pg_dump, and pg_restore with psql, over the connection that the hub uses."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext_lazy as _
from psycopg.conninfo import make_conninfo

from hub.backups.errors import BackupFailed
from hub.core.embedded.binaries import postgres_programs
from hub.core.embedded.cluster import SUPERUSER

KEPT_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
ERROR_CHARS = 2000


def _program(name: str) -> str:
    """:raises EmbeddedServerError: no programs are installed. :raises BackupFailed: this one is not among them."""
    path = postgres_programs() / name
    if not path.is_file():
        raise BackupFailed(
            _("{program} is not in {folder}; set HUB_PG_BIN to the programs of a PostgreSQL as new as the server."),
            program=name,
            folder=str(path.parent),
        )
    return str(path)


def _where(role: str | None = None) -> tuple[str, dict[str, str]]:
    """Give libpq's description of the hub's database without the password, and an environment that has it."""
    params = dict(connection.get_connection_params()) | ({"user": role} if role else {})
    password = str(params.pop("password", "") or "")
    names = ("dbname", "user", "host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "options")
    conninfo = make_conninfo("", **{name: str(params[name]) for name in names if params.get(name)})
    environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    return conninfo, environment | {"PGPASSWORD": password, "PGCLIENTENCODING": "UTF8", "LC_ALL": "C"}


@contextmanager
def dumped(snapshot: str, schema: str, *, compress: bool = True) -> Iterator[IO[bytes]]:
    """Give the dump of a schema, as the snapshot sees it, to be read to its end inside the block.

    Rights and owners are those of the database that it is restored into; extensions are its own, too.

    :raises BackupFailed: pg_dump failed; the message has what it said.
    """
    # The hub's own role reads every table, but not the counters of the audit trail, which the superuser owns.
    conninfo, environment = _where(SUPERUSER if settings.EMBEDDED_DATABASE else None)
    command = [_program("pg_dump"), "--format=custom", "--no-owner", "--no-acl", "--exclude-extension=*"]
    command += [] if compress else ["--compress=none"]
    command += [f"--snapshot={snapshot}", f"--schema={_exactly(schema)}", "--no-password", f"--dbname={conninfo}"]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=said)
        assert process.stdout is not None  # noqa: S101 (it is a pipe)
        try:
            yield process.stdout
            process.stdout.close()
            if process.wait() != 0:
                raise _failed("pg_dump", said)
        finally:
            process.kill()
            process.wait()


def replace_schema(dump: IO[bytes], schema: str, before: Sequence[str]) -> None:
    """Run ``before`` and then a dump, which is a file, of a schema that is there: all in one transaction, or nothing.

    :raises BackupFailed: one of the programs failed; the message has what it said.
    """
    conninfo, environment = _where()
    read = [_program("pg_restore"), "--no-owner", "--no-acl", f"--schema={schema}", "--file=-"]
    write = [_program("psql"), "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
    write += ["--no-password", f"--dbname={conninfo}", "--output=/dev/null"]
    with tempfile.TemporaryFile() as said, tempfile.NamedTemporaryFile("w", suffix=".sql") as first:
        first.write("".join(f"{statement};\n" for statement in before))
        first.flush()
        reader = subprocess.Popen(read, env=environment, stdin=dump, stdout=subprocess.PIPE, stderr=said)
        command = [*write, f"--file={first.name}", "--file=-"]
        with _half_a_script_fails(reader) as script:
            done = subprocess.run(command, env=environment, stdin=script, stderr=said, check=False)
        if done.returncode != 0 or reader.returncode != 0:
            raise _failed("pg_restore", said)


@contextmanager
def _half_a_script_fails(reader: subprocess.Popen[bytes]) -> Iterator[IO[bytes]]:
    """Give the script of pg_restore, on disk in whole: psql would commit one that broke off."""
    with tempfile.TemporaryFile() as script:
        assert reader.stdout is not None  # noqa: S101 (it is a pipe)
        while block := reader.stdout.read(1 << 20):
            script.write(block)
        reader.stdout.close()
        if reader.wait() != 0:
            script.truncate(0)
            script.write(b"DO $$ BEGIN RAISE 'pg_restore failed'; END $$;\n")
        script.seek(0)
        yield script


def _exactly(name: str) -> str:
    """Quote a name so that it is no pattern."""
    return '"' + name.replace('"', '""') + '"'


def _failed(program: str, said: IO[bytes]) -> BackupFailed:
    said.seek(0)
    text = said.read().decode(errors="replace").strip()[-ERROR_CHARS:]
    return BackupFailed(_("{program} failed: {reason}"), program=program, reason=text or "-")
