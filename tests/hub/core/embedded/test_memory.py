"""What the embedded PostgreSQL takes for itself, by the memory of the machine."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from hub.core.embedded import EmbeddedPostgres, postgres
from hub.core.embedded.postgres import tuning_for

GIB = 1024**3


@pytest.mark.parametrize(
    ("memory_bytes", "buffers", "cached"),
    [
        (GIB // 4, "131072kB", "131072kB"),
        (8 * GIB, "2097152kB", "4194304kB"),
        (64 * GIB, "4194304kB", "33554432kB"),
    ],
)
def test_it_keeps_a_quarter_of_the_memory_within_bounds(memory_bytes: int, buffers: str, cached: str) -> None:
    tuning = tuning_for(memory_bytes)
    assert (tuning["shared_buffers"], tuning["effective_cache_size"]) == (buffers, cached)


def test_the_setting_overrules_what_fits_the_machine(home: Path, settings) -> None:
    settings.EMBEDDED_BUFFERS_BYTES = 48 * 1024**2
    server = EmbeddedPostgres(home)
    server.ensure()
    with psycopg.connect(server.dsn("hub")) as connection:
        assert connection.execute("SHOW shared_buffers").fetchone() == ("48MB",)
    server.release()


def test_a_containers_limit_counts_where_it_is_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, none = tmp_path / "memory.max", tmp_path / "memory.limit_in_bytes"
    limit.write_text("268435456\n")
    none.write_text("max\n")
    physical = postgres.machine_memory_bytes()
    monkeypatch.setattr(postgres, "_LIMITS", (none, tmp_path / "absent"))
    assert postgres.machine_memory_bytes() >= physical > 268435456
    monkeypatch.setattr(postgres, "_LIMITS", (none, limit))
    assert postgres.machine_memory_bytes() == 268435456
