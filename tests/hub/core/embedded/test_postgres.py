"""The embedded PostgreSQL, over real servers."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from hub.core.embedded import EmbeddedPostgres, EmbeddedServerError, shared_postgres
from tests.hub.core.embedded.conftest import UserProcess, lives

TITLES = ["地方自治体の情報システム調達ガイドライン", "要件定義書　第２版", "設計レビュー記録"]


def main_pid(home: Path) -> int:
    return int((home / "data" / "postmaster.pid").read_text().split()[0])


def store_titles(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.dsn("hub")) as connection:
        connection.execute("DROP TABLE IF EXISTS document")
        connection.execute("CREATE TABLE document (title text)")
        connection.cursor().executemany("INSERT INTO document VALUES (%s)", [(title,) for title in TITLES])


def stored_titles(server: EmbeddedPostgres) -> list[str]:
    with psycopg.connect(server.dsn("hub")) as connection:
        return [row[0] for row in connection.execute("SELECT title FROM document ORDER BY ctid")]


def test_constructing_it_creates_and_starts_nothing(home: Path) -> None:
    server = EmbeddedPostgres(home)
    assert not server.is_ready()
    assert not server.is_held
    assert not home.exists()


def test_a_restart_keeps_the_data_of_a_fresh_server(home: Path) -> None:
    server = EmbeddedPostgres(home)
    server.ensure()
    store_titles(server)
    server.release()
    assert not server.is_ready()
    server.ensure()
    assert stored_titles(server) == TITLES
    server.release()


def test_the_vector_extension_is_there_and_japanese_letters_fold(postgres: EmbeddedPostgres) -> None:
    postgres.ensure()
    with psycopg.connect(postgres.dsn("hub")) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        row = connection.execute("SELECT '[3,4]'::vector <-> '[0,0]'::vector, lower('ＡＢＣ設計')").fetchone()
    assert row == (5.0, "ａｂｃ設計")


def test_it_is_private_durable_and_tuned(postgres: EmbeddedPostgres) -> None:
    server = EmbeddedPostgres(postgres.home, tuning={"work_mem": "3MB", "fsync": "off", "listen_addresses": "*"})
    server.ensure("検査 \"a'b")
    with psycopg.connect(server.dsn("検査 \"a'b")) as connection:
        names = ("work_mem", "fsync", "listen_addresses", "unix_socket_permissions")
        values = [connection.execute(f"SHOW {name}").fetchone() for name in names]
        database = connection.execute("SELECT current_database()").fetchone()
    server.release()
    assert values == [("3MB",), ("on",), ("",), ("0700",)]
    assert database == ("検査 \"a'b",)
    assert postgres.home.stat().st_mode & 0o077 == 0


def test_a_client_that_is_not_the_hubs_user_is_refused(postgres: EmbeddedPostgres, needs_root: None) -> None:
    postgres.ensure()
    script = "import psycopg, sys\ntry: psycopg.connect(sys.argv[1])\nexcept psycopg.OperationalError as e: print(e)"
    # The server's own user, with the right to traverse root's folders: the kernel lets it reach the socket.
    become = ["setpriv", "--reuid=nobody", "--regid=65534", "--clear-groups", "--inh-caps=+dac_override"]
    command = [*become, "--ambient-caps=+dac_override", sys.executable, "-c", script, postgres.dsn("hub")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Peer authentication failed" in said


def test_log_has_no_statement_and_no_value_of_a_failed_one(postgres: EmbeddedPostgres) -> None:
    postgres.ensure()
    with psycopg.connect(postgres.dsn("hub"), autocommit=True) as connection:
        connection.execute("CREATE TEMP TABLE secret (id text UNIQUE)")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO secret VALUES ('秘密の本文'), ('秘密の本文')")
    log = (postgres.home / "server.log").read_text()
    assert "duplicate key" in log
    assert "秘密の本文" not in log


def test_racing_processes_and_threads_share_one_server(home: Path, start_user: Callable[..., UserProcess]) -> None:
    users = [start_user("postgres") for _ in range(5)]
    server = EmbeddedPostgres(home)
    threads = [threading.Thread(target=server.ensure) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pid = main_pid(home)
    assert {user.server_pid() for user in users} == {pid}
    server.release()
    for user in users[:-1]:
        user.leave()
    assert lives(pid)
    users[-1].leave()
    assert not lives(pid)


def test_the_last_one_out_stops_it_although_the_starter_was_killed(
    home: Path, start_user: Callable[..., UserProcess]
) -> None:
    starter = start_user("postgres")
    pid = starter.server_pid()
    other = start_user("postgres")
    assert other.server_pid() == pid
    starter.kill()
    assert EmbeddedPostgres(home).is_ready()
    other.leave()
    assert not lives(pid)


def test_a_server_whose_only_user_was_killed_is_taken_over(
    postgres: EmbeddedPostgres, start_user: Callable[..., UserProcess]
) -> None:
    user = start_user("postgres", home=postgres.home)
    pid = user.server_pid()
    user.kill()
    postgres.ensure()
    assert main_pid(postgres.home) == pid
    postgres.release()
    assert not lives(pid)


def test_a_server_whose_socket_folder_was_removed_is_started_again_at_once(
    postgres: EmbeddedPostgres, caplog: pytest.LogCaptureFixture
) -> None:
    postgres.ensure()
    store_titles(postgres)
    before = main_pid(postgres.home)
    shutil.rmtree(postgres.socket_dir)
    postgres.ensure()
    assert not lives(before)
    assert stored_titles(postgres) == TITLES
    (said,) = caplog.messages
    assert str(postgres.socket_dir / postgres.socket_name) in said
    postgres.ensure()
    assert len(caplog.messages) == 1


def test_committed_rows_survive_the_kill_of_the_server(postgres: EmbeddedPostgres) -> None:
    postgres.ensure()
    store_titles(postgres)
    with psycopg.connect(postgres.dsn("hub")) as open_transaction:
        open_transaction.execute("INSERT INTO document VALUES ('書きかけ')")
        os.kill(main_pid(postgres.home), signal.SIGKILL)
        postgres.ensure()
        with pytest.raises(psycopg.OperationalError):
            open_transaction.execute("SELECT 1")
        open_transaction.close()
    assert stored_titles(postgres) == TITLES


def test_a_backend_that_outlives_a_killed_server_does_not_block_the_next(postgres: EmbeddedPostgres) -> None:
    postgres.ensure()
    with psycopg.connect(postgres.dsn("hub"), autocommit=True) as connection:
        backend = connection.info.backend_pid
        busy = threading.Thread(target=run_until_cut_off, args=(connection,))
        busy.start()
        wait_until_active(postgres, backend)
        os.kill(main_pid(postgres.home), signal.SIGKILL)
        postgres.ensure()
        busy.join()
    assert not lives(backend)
    assert postgres.is_ready()


def run_until_cut_off(connection: psycopg.Connection) -> None:
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT count(*) FROM generate_series(1, 1000000000) a, generate_series(1, 1000) b")


def wait_until_active(server: EmbeddedPostgres, backend: int) -> None:
    with psycopg.connect(server.dsn("hub"), autocommit=True) as watcher:
        while watcher.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", [backend]).fetchone() != ("active",):
            pass


@pytest.mark.parametrize("pid", [os.getpid(), 2**22 - 1], ids=["a stranger's", "nobody's"])
def test_files_that_a_killed_server_left_are_no_obstacle(postgres: EmbeddedPostgres, pid: int) -> None:
    postgres.ensure()
    left = (postgres.home / "data" / "postmaster.pid").read_text().split("\n", 1)[1]
    postgres.release()
    # The number of the dead server's process may be in use again, as it is after each start of a container.
    (postgres.home / "data" / "postmaster.pid").write_text(f"{pid}\n{left}")
    (postgres.home / "run" / ".s.PGSQL.5432.lock").write_text(f"{pid}\n{left}")
    (postgres.home / "run" / ".s.PGSQL.5432").touch()
    postgres.ensure()
    assert postgres.is_ready()


def test_an_init_that_was_cut_short_is_begun_anew(home: Path) -> None:
    half_done = home / "data.init-killed"
    half_done.mkdir(parents=True)
    (half_done / "PG_VERSION").write_text("18\n")
    server = EmbeddedPostgres(home)
    server.ensure()
    assert not half_done.exists()
    assert server.is_ready()
    server.release()


def test_the_terminal_does_not_reach_the_server(postgres: EmbeddedPostgres) -> None:
    postgres.ensure()
    pid = main_pid(postgres.home)
    assert os.getsid(pid) == os.getpgid(pid) == pid


def test_a_long_log_is_put_aside_at_the_start(postgres: EmbeddedPostgres) -> None:
    (postgres.home / "server.log").write_bytes(b"x" * 10_000_001)
    postgres.ensure()
    assert (postgres.home / "server.log").stat().st_size < 10_000
    assert (postgres.home / "server.log.1").stat().st_size == 10_000_001


def test_a_start_that_fails_shows_the_end_of_the_log_and_holds_nothing(postgres: EmbeddedPostgres) -> None:
    server = EmbeddedPostgres(postgres.home, tuning={"shared_buffers": "たくさん"})
    with pytest.raises(EmbeddedServerError, match=r"(?s)did not start.*server\.log.*shared_buffers") as failed:
        server.ensure()
    assert "起動しませんでした" in failed.value.text.ja
    assert not server.is_held


def test_data_of_another_major_version_is_refused_by_name(postgres: EmbeddedPostgres) -> None:
    postgres.ensure()
    postgres.release()
    version = postgres.home / "data" / "PG_VERSION"
    version.write_text("16\n")
    try:
        with pytest.raises(EmbeddedServerError, match=r"made by PostgreSQL 16, but .* are PostgreSQL 18"):
            postgres.ensure()
    finally:
        version.write_text("18\n")


def test_shared_objects_are_one_per_home(home: Path) -> None:
    assert shared_postgres(home) is shared_postgres(home.parent / "." / "home")
    assert shared_postgres(home) is not shared_postgres(home.parent)
