"""kill -9 of `manage.py encryption rotate` at work: the next one goes on, and every file is readable all the while."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hub.core.encryption.key_text import new_key
from hub.core.encryption.sealed_files import MAGIC
from tests.flows.hub_process import ROOT, HubProcess, start_hub

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


def stored(hub: HubProcess) -> list[Path]:
    return [path for path in (hub.data_dir / "blobs").glob("??/??/*") if path.is_file()]


def is_sealed(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except FileNotFoundError:  # a rotation is at work
        return False


def sealed_count(hub: HubProcess) -> int:
    return sum(is_sealed(path) for path in stored(hub))


def kill_when_sealed(hub: HubProcess, count: int) -> int:
    """Start a rotation, and SIGKILL it once so many files are encrypted; gives its exit code."""
    rotation = subprocess.Popen([sys.executable, "manage.py", "encryption", "rotate"], cwd=ROOT, env=hub.environment())
    while rotation.poll() is None and sealed_count(hub) < count:
        time.sleep(0.001)
    rotation.kill()
    return rotation.wait()


def upload_texts(hub: HubProcess, folder: Path, count: int) -> dict[str, str]:
    texts = {}
    for number in range(count):
        path = folder / f"手順書{number}.md"
        text = f"# 手順書 {number}\n\n" + f"第{number}係は申請を受け付け、台帳に記入する。\n\n" * 400
        path.write_text(text, encoding="utf-8")
        texts[hub.upload(path)["document_id"]] = text
    hub.wait_until_finished(*texts)
    return texts


def unreadable(hub: HubProcess, texts: dict[str, str]) -> list[str]:
    """The documents whose file is not given as it was uploaded."""
    got = {name: hub.call("GET", f"/documents/{name}/file") for name in texts}
    return [name for name, text in texts.items() if got[name].content != text.encode()]


@pytest.mark.parametrize(
    ("documents", "kills"),
    [
        pytest.param(12, (1, 7), id="two-kills"),
        pytest.param(60, tuple(range(1, 60, 4)), id="many-kills"),
    ],
)
def test_a_killed_rotation_goes_on_and_every_file_stays_readable(tmp_path, documents, kills):
    data_dir = tmp_path / "data"
    plain = start_hub(data_dir, "--no-sample")
    try:
        texts = upload_texts(plain, tmp_path, documents)
        assert sealed_count(plain) == 0
    finally:
        plain.stop()
    hub = start_hub(data_dir, "--no-sample", ENCRYPTION_KEY=new_key())
    hub.token = plain.token
    try:
        ended = []
        for count in kills:
            ended.append(kill_when_sealed(hub, count))
            assert unreadable(hub, texts) == []
        assert ended.count(-9) == len(kills)  # each was killed before it had finished
        assert sealed_count(hub) < len(stored(hub))  # and left work behind
        assert hub.manage("encryption", "rotate").returncode == 0
        assert all(is_sealed(path) for path in stored(hub))
        assert unreadable(hub, texts) == []
        status = hub.manage("encryption", "status").stdout
        assert "\n0\tplain" in status, status
    finally:
        hub.stop()
