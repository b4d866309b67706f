"""The units of systemd start what there is, under few rights."""

from __future__ import annotations

import configparser
import importlib.util
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from django.core.management import get_commands

UNITS = Path(__file__).resolve().parents[2] / "deploy" / "systemd"
SERVICES = sorted(UNITS.glob("*.service"))


def read(path: Path) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(path.read_text())
    return unit


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.name)
def test_a_service_starts_a_command_that_there_is(path):
    service = read(path)["Service"]
    commands = [value for name, value in service.items() if name.startswith("Exec")]
    assert commands
    for command in commands:
        words = shlex.split(command)[1:]
        if words[0] == "manage.py":
            assert words[1] in get_commands()
        else:
            assert words[:2] == ["-m", "celery"]
            assert importlib.util.find_spec(words[words.index("-A") + 1]) is not None
    assert service["User"] == "hub"
    assert service["NoNewPrivileges"] == "yes"
    assert service["ProtectSystem"] == "strict"


def test_each_timer_has_its_service():
    timers = sorted(path.stem for path in UNITS.glob("*.timer"))
    assert timers == ["hub-alive@", "hub-backup"]
    assert all(UNITS / f"{name}.service" in SERVICES for name in timers)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_reads_every_line():
    said = subprocess.run(
        ["systemd-analyze", "verify", *map(str, SERVICES)], capture_output=True, text=True, check=False
    )
    assert "Unknown key" not in said.stderr, said.stderr
