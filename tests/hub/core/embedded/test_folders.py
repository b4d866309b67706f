"""Short paths for sockets, and folders that nobody else may have touched."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from redis import Redis

from hub.core.embedded import EmbeddedPostgres, EmbeddedServerError, EmbeddedValkey
from hub.core.embedded.launch import socket_folder


@pytest.fixture
def long_home(tmp_path: Path) -> Path:
    return tmp_path / ("設計審査" * 10) / "home"


def test_a_short_home_has_its_socket_inside() -> None:
    assert socket_folder(Path("/srv/hub"), "s.sock") == Path("/srv/hub/run")


def test_the_short_folder_is_the_same_each_time_and_another_for_another_home(long_home: Path) -> None:
    folder = socket_folder(long_home, ".s.PGSQL.5432")
    assert len(os.fsencode(folder / ".s.PGSQL.5432")) < 100
    assert folder == socket_folder(long_home, ".s.PGSQL.5432")
    assert folder != socket_folder(long_home / "other", ".s.PGSQL.5432")


def test_a_comma_which_postgresqls_clients_split_at_is_avoided() -> None:
    assert "," not in str(socket_folder(Path("/srv/a,b"), ".s.PGSQL.5432"))


def test_servers_with_a_long_home_work_and_tidy_up(long_home: Path) -> None:
    postgres, valkey = EmbeddedPostgres(long_home / "postgres"), EmbeddedValkey(long_home / "valkey")
    postgres.ensure()
    valkey.ensure()
    with psycopg.connect(postgres.dsn("hub")) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with Redis.from_url(valkey.redis_url(0)) as client:
        assert client.ping()
    for server in (postgres, valkey):
        assert server.socket_dir.parent.parent == Path(tempfile.gettempdir())
        assert server.socket_dir.parent.stat().st_mode & 0o077 == 0
        server.release()
        assert not server.socket_dir.parent.exists()


@pytest.fixture
def squatted(long_home: Path, tmp_path: Path) -> Iterator[EmbeddedValkey]:
    server = EmbeddedValkey(long_home)
    server.socket_dir.parent.symlink_to(tmp_path)
    yield server
    server.socket_dir.parent.unlink()


def test_a_short_folder_that_somebody_else_made_is_refused_by_name(squatted: EmbeddedValkey) -> None:
    with pytest.raises(EmbeddedServerError, match=rf"folder {squatted.socket_dir.parent} can't be used"):
        squatted.ensure()


def test_a_home_that_is_a_file_is_refused_by_name(home: Path) -> None:
    home.write_text("")
    with pytest.raises(EmbeddedServerError, match=rf"folder {home} can't be used"):
        EmbeddedValkey(home).ensure()
