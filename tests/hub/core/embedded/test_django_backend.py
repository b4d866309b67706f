"""Django over the embedded PostgreSQL, in processes of their own: each has its settings from the start."""

import subprocess
import sys
from pathlib import Path

from hub.core.embedded import EmbeddedPostgres, postgres_settings
from tests.hub.core.embedded.conftest import REPOSITORY

SETUP = """
import os, pathlib, signal, sys
import django
from django.conf import settings
from django.db import OperationalError, connection
from hub.core.embedded import postgres_settings

home = pathlib.Path(sys.argv[1])
settings.configure(DATABASES={"default": postgres_settings(home)}, USE_TZ=True)
django.setup()

def ask(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0] if cursor.description else None

def main_pid():
    return int((home / "data" / "postmaster.pid").read_text().split()[0])
"""


def run_django(home: Path, script: str) -> list[str]:
    command = [sys.executable, "-W", "error", "-c", SETUP + script, str(home)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr  # what goes wrong at exit is said there alone
    return done.stdout.split()


def test_settings_start_nothing_and_say_all_that_django_needs(home: Path) -> None:
    settings = postgres_settings(home)
    assert settings["NAME"] == "hub"
    assert settings["HOST"] == str(EmbeddedPostgres(home).socket_dir)
    assert settings["CONN_HEALTH_CHECKS"]
    assert run_django(home, "print(home.exists(), connection.vendor)") == ["False", "postgresql"]


def test_the_first_connection_starts_the_server_and_exit_stops_it(postgres: EmbeddedPostgres) -> None:
    assert run_django(postgres.home, "print(ask('SELECT current_database()'))") == ["hub"]
    assert not postgres.is_ready()


def test_a_connection_after_the_kill_of_the_server_starts_it_again(postgres: EmbeddedPostgres) -> None:
    script = """
ask("DROP TABLE IF EXISTS note")
ask("CREATE TABLE note AS SELECT '審査済み' AS body")
before = main_pid()
os.kill(before, signal.SIGKILL)
connection.close()  # its backend may live, and answer, for a moment longer than the server
print(ask("SELECT body FROM note"), main_pid() != before)
"""
    assert run_django(postgres.home, script) == ["審査済み", "True"]


def test_a_test_database_is_made_and_dropped_through_the_maintenance_one(home: Path) -> None:
    script = """
from django.db import connections
from hub.core.embedded import shared_postgres
server = shared_postgres(home)
server.ensure("postgres")
with server.superuser("postgres") as superuser:
    superuser.execute("ALTER ROLE hub CREATEDB")
connection.creation.create_test_db(verbosity=0, serialize=False)
print(ask("SELECT current_database()"))
connection.creation.destroy_test_db("hub", verbosity=0)
with connection._nodb_cursor() as cursor:
    cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE '%hub'")
    print(cursor.fetchall())
connections.close_all()
"""
    assert run_django(home, script) == ["test_hub", "[]"]


def test_what_keeps_the_server_from_starting_is_a_database_error(home: Path) -> None:
    script = """
os.environ["HUB_PG_BIN"] = "/nowhere"
try:
    ask("SELECT 1")
except OperationalError as error:
    print("HUB_PG_BIN" in str(error))
"""
    assert run_django(home, script) == ["True"]
