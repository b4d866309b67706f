"""docker-compose.yml says nothing that is not there: commands, modules, environment variables."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from hub.config import Configuration

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE_OUR_SETTINGS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}  # botocore reads these itself
REQUEST_THREADS = Configuration.model_fields["hub_request_threads"].default
# docs/operations.md, "Many at one time", for each process
OF_WEB, OF_WORKER, OF_BEAT, OF_PEOPLE_AND_BACKUPS = REQUEST_THREADS + 56, 5, 5, 20
OURS = ("migrate", "web", "web-2", "web-3", "worker", "worker-files", "worker-ocr", "beat")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_the_file_is_what_the_specification_of_compose_asks_for():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    checked = subprocess.run([*command, str(ROOT / "docker-compose.yml")], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_every_environment_variable_of_our_services_is_a_setting(compose):
    known = {name.upper() for name in Configuration.model_fields} | OUTSIDE_OUR_SETTINGS
    for name in OURS:
        assert set(compose["services"][name]["environment"]) <= known


@pytest.mark.parametrize("service", OURS)
def test_every_command_of_our_services_exists(compose, service):
    words = shlex.split(compose["services"][service]["command"])
    assert words[0] == "python"
    if words[1] == "manage.py":
        assert words[2] in get_commands()
    else:
        assert words[1] == "-m"
        assert importlib.util.find_spec(words[2]) is not None
        target = next(word for word in words[3:] if word.startswith("hub."))
        assert importlib.util.find_spec(target.partition(":")[0]) is not None


def test_every_service_that_is_waited_for_is_there_and_can_be_waited_for(compose):
    for service in compose["services"].values():
        needs = service.get("depends_on", {})
        for name, how in needs.items() if isinstance(needs, dict) else ((name, {}) for name in needs):
            assert name in compose["services"]
            if how.get("condition") == "service_healthy":
                assert "healthcheck" in compose["services"][name]


def test_every_named_volume_is_declared(compose):
    mounted = [volume for service in compose["services"].values() for volume in service.get("volumes", [])]
    used = {volume.partition(":")[0] for volume in mounted if not volume.startswith("./")}
    assert used == set(compose["volumes"])


def test_no_secret_has_a_default(compose):
    text = (ROOT / "docker-compose.yml").read_text()
    for secret in ("SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "MINIO_PASSWORD"):
        assert f"${{{secret}:-" not in text


def wanted_connections(name: str, command: str) -> int:
    """The connections that a service of ours may hold at one moment."""
    if name.startswith("web"):
        return OF_WEB
    if name.startswith("worker"):
        return OF_WORKER * (1 + int(re.search(r"--concurrency (\d+)", command).group(1)))
    return OF_BEAT if name == "beat" else 0


def test_the_connections_of_all_services_together_are_not_more_than_postgresql_takes(compose):
    services = compose["services"]
    wanted = sum(wanted_connections(name, services[name]["command"]) for name in OURS)
    assert wanted > 3 * OF_WEB
    limits = [
        int(re.search(r"max_connections=(\d+)", services[name]["command"]).group(1))
        for name in ("postgres", "postgres-replica")
    ]
    assert min(limits) >= wanted + OF_PEOPLE_AND_BACKUPS
    assert limits[1] >= limits[0]  # or the standby does not start
    pooled = int(services["pgbouncer"]["environment"]["DEFAULT_POOL_SIZE"])
    assert wanted <= pooled <= limits[0] - OF_PEOPLE_AND_BACKUPS
