"""A bundle of the committed code is installed and started where there is no network at all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.hub_process import ROOT, free_port

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
# In a network of its own, which has nothing but its own loopback.
NO_NETWORK = ("unshare", "--net", "sh", "-ec")
LOOPBACK = f'{sys.executable} -c "{{}}"'.format(
    "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh14x', b'lo', 0x49))"
)
ASK = """
import json, sys, time, urllib.request
from pathlib import Path
ready = Path(sys.argv[1])
deadline = time.monotonic() + 600
while not ready.exists():
    assert time.monotonic() < deadline
    time.sleep(0.5)
facts = json.loads(ready.read_text())
headers = {"Authorization": f"Bearer {facts['token']}", "Content-Type": "application/json"}
def ask(path, body=None):
    asked = urllib.request.Request(facts["url"] + "/api/v1" + path, body, headers)
    return json.load(urllib.request.urlopen(asked, timeout=60))
while {"ready"} != {one["status"] for one in ask("/documents")["items"]}:  # the sample is read
    assert time.monotonic() < deadline
    time.sleep(0.5)
found = ask("/search", json.dumps({"query": "1人何冊まで予約を登録できますか"}).encode())["results"]
print(json.dumps(found[0]))
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bundle") / "hub-bundle"
    made = subprocess.run(
        [sys.executable, "-m", "tools.air_gapped", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    assert "not in it: images" in made.stdout
    return folder


def install(bundle: Path, target: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(target.parent), "PYTHON": sys.executable}
    command = [*NO_NETWORK, f"{LOOPBACK}; exec sh {bundle}/install.sh {target}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.skipif(
    shutil.which("unshare") is None or os.geteuid() != 0, reason="a network namespace needs unshare and root"
)
def test_a_hub_is_installed_and_answers_without_a_network(bundle, tmp_path):
    target = tmp_path / "srv"
    done = install(bundle, target)
    assert done.returncode == 0, done.stderr
    assert install(bundle, target).returncode == 1  # what is there is not written over
    ready, port = tmp_path / "ready.json", free_port()
    started = (
        f"{LOOPBACK}; cd {target}; .venv/bin/python manage.py up --port {port} --ready-file {ready} & hub=$!;"
        f' .venv/bin/python -c "$ASK" {ready}; kill $hub; wait $hub || true'
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ASK": ASK, "HUB_DATA_DIR": str(tmp_path / "var")}
    asked = subprocess.run(
        [*NO_NETWORK, started], env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert asked.returncode == 0, asked.stderr
    found = json.loads(next(line for line in asked.stdout.splitlines() if line.startswith("{")))
    assert "1人10冊まで" in found["content"]


def test_a_bundle_that_was_changed_on_its_way_is_not_installed(bundle, tmp_path):
    wheel = next((bundle / "wheels").glob("celery-*"))
    kept = wheel.read_bytes()
    wheel.write_bytes(kept + b"\0")
    try:
        done = subprocess.run(
            ["sh", str(bundle / "install.sh"), str(tmp_path / "srv")],
            env={"PATH": os.environ["PATH"], "PYTHON": sys.executable},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        wheel.write_bytes(kept)
    assert done.returncode != 0
    assert "celery" in done.stdout + done.stderr
    assert not (tmp_path / "srv").exists()
