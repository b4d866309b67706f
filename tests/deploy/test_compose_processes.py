"""The commands and health checks of the compose file's own services, as processes in production beside real servers."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from django.conf import settings as django_settings

from hub.core.embedded import shared_postgres
from hub.core.embedded.binaries import valkey_program
from hub.core.embedded.postgres import MAINTENANCE_DATABASE
from tests.contracts.test_storage import s3_client
from tests.flows.hub_process import ROOT, free_port

pytestmark = [pytest.mark.long, pytest.mark.django_db, pytest.mark.timeout(900)]
PASSWORD = "長い合言葉は忘れにくいものがよい"
ENV = {
    "SECRET_KEY": "9Zk3vQx7Lm2Rt8Wp4Ns6Yd1Hb5Jc0Gf-Ua_Ei!oVzTqKrXwMlBn",
    "POSTGRES_PASSWORD": "x",
    "MINIO_PASSWORD": "minio",
    "REDIS_PASSWORD": "5f0c1e7d",
}
WITHIN_S = 180


@pytest.fixture
def servers(s3_endpoint: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    """A database whose role owns it and is no superuser, a Valkey that listens on TCP, and a bucket; as settings."""
    server = shared_postgres(django_settings.HUB_DATA_DIR / "postgres")
    with server.superuser(MAINTENANCE_DATABASE) as superuser:
        superuser.execute("CREATE DATABASE composed OWNER hub TEMPLATE template0 ENCODING 'UTF8'")
    with server.superuser("composed") as superuser:
        superuser.execute("CREATE EXTENSION vector")
    s3_client(s3_endpoint).create_bucket(Bucket="hub")
    port = free_port()
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    options = shlex.split(filled(services["redis"]["command"]))[1:]
    valkey = subprocess.Popen(
        [str(valkey_program()), *options, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    redis_url = filled(services["web"]["environment"]["REDIS_URL"]).replace("redis:6379", f"127.0.0.1:{port}")
    place = f"host={quote(str(server.socket_dir), safe='')}&port={server.port}"
    try:
        yield {
            "DATABASE_URL": f"postgresql://hub@/composed?{place}",
            "REDIS_URL": redis_url,
            "S3_ENDPOINT_URL": s3_endpoint,
        }
    finally:
        valkey.terminate()
        valkey.wait()
        with server.superuser(MAINTENANCE_DATABASE) as superuser:
            superuser.execute("DROP DATABASE composed WITH (FORCE)")


def filled(text: str) -> str:
    """Put values in as compose does: ${NAME:-default} and ${NAME:?message}."""
    return re.sub(r"\$\{(\w+):([-?])([^}]*)\}", lambda one: ENV.get(one[1], one[3] if one[2] == "-" else ""), text)


def environment_of(service: dict[str, Any], servers: dict[str, str], data_dir: Path) -> dict[str, str]:
    own = {name: filled(str(value)) for name, value in service["environment"].items()}
    own = {name: value for name, value in own.items() if not name.startswith("POSTGRES_")}
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, **own, **servers, "HUB_DATA_DIR": str(data_dir), "AWS_DEFAULT_REGION": "us-east-1"}


def words_of(command: str | list[str], port: int) -> list[str]:
    """A command with this Python, on a port of its own and on this machine alone."""
    words = shlex.split(command) if isinstance(command, str) else command[1:]
    changed = [word.replace("8000", str(port)).replace("0.0.0.0", "127.0.0.1") for word in words]
    assert changed[0] == "python"
    return [sys.executable, *changed[1:]]


def test_they_start_find_each_other_and_take_a_document_in(servers: dict[str, str], tmp_path: Path) -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    port, documents = free_port(), tmp_path / "documents"
    documents.mkdir()
    shutil.copy(ROOT / "tests" / "data" / "minutes.txt", documents)
    environments = {
        name: environment_of(services[name], servers, tmp_path / name) for name in ("web", "worker", "beat")
    }

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        environment = environments["web"] | more
        return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    migrated = run(*words_of(services["migrate"]["command"], port))
    assert migrated.returncode == 0, migrated.stderr
    running = {}
    try:
        for name, environment in environments.items():
            with (tmp_path / f"{name}.log").open("wb") as log:
                words = words_of(services[name]["command"], port)
                running[name] = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=log, stderr=log)
        for name, environment in environments.items():
            check = words_of(services[name]["healthcheck"]["test"], port)
            deadline = time.monotonic() + WITHIN_S
            while (
                asked := subprocess.run(check, cwd=ROOT, env=environment, capture_output=True, text=True)
            ).returncode:
                assert running[name].poll() is None, (tmp_path / f"{name}.log").read_text()
                assert time.monotonic() < deadline, (asked.stderr, (tmp_path / f"{name}.log").read_text())
        manage = (sys.executable, "manage.py")
        person = ("createsuperuser", "--noinput", "--username", "admin", "--email", "a@example.org")
        assert run(*manage, *person, DJANGO_SUPERUSER_PASSWORD=PASSWORD).returncode == 0
        made = run(*manage, "token", "create", "--user", "admin", "--scopes", "read,search,upload")
        token = made.stdout.split()[0]
        assert token.startswith("hub_"), made.stderr
        indexed = run(*manage, "index", "-d", str(documents), HUB_TOKEN=token)
        assert indexed.returncode == 0, indexed.stdout + indexed.stderr
        body = json.dumps({"query": "会議"}).encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        asked_for = urllib.request.Request(f"http://localhost:{port}/api/v1/search", body, headers)
        with urllib.request.urlopen(asked_for, timeout=60) as answer:
            assert json.load(answer)["results"]
        lines = [line for name in running for line in (tmp_path / f"{name}.log").read_text().splitlines()]
        assert lines
        assert [line for line in lines if not line.startswith("{")] == []  # LOG_FORMAT=json, from every library
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait(timeout=60)
