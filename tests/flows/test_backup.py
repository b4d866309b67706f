"""Backups of a running hub, and hubs restored from them: everything is there, and nothing that is damaged is taken."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hub.backups.folder import find_backup
from hub.core.hashes import sha256_of_file
from tests.flows.hub_process import ROOT, HubProcess, start_hub

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

QUESTIONS = ("申請の受付", "台帳に記入する", "パスワードの変更", "障害時の連絡先")


def write_manual(folder: Path, number: int) -> Path:
    path = folder / f"運用手順書{number}.md"
    text = f"# 運用手順書 {number}\n\n## 申請の受付\n\n第{number}係は申請を受け付け、台帳に記入する。\n\n"
    path.write_text(f"{text}## 障害時の連絡先\n\n障害時は内線{number:04}に連絡する。\n", encoding="utf-8")
    return path


def answers(hub: HubProcess) -> list[list[object]]:
    """What people see: passages with scores and places, and the reviews' findings."""
    found: list[list[object]] = []
    for question in QUESTIONS:
        results = hub.call("POST", "/search", json={"query": question}).json()["results"]
        found.append([(one["chunk_id"], one["content"], one["score"], one["start_offset"]) for one in results])
    for review in hub.call("GET", "/reviews").json()["items"]:
        facts = hub.call("GET", f"/reviews/{review['review_id']}").json()
        found.append([facts["review_id"], facts["verdict"], *facts["findings"]])
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("backup")


@pytest.fixture(scope="module")
def hub(place):
    running = start_hub(place / "data")
    try:
        manual = running.upload(write_manual(place, 1))["document_id"]
        running.wait_until_finished(manual)
        review = running.call(
            "POST",
            "/reviews",
            json={"document_id": manual, "checklist": "basic-design", "options": {"wait_seconds": 50}},
        )
        assert review.status_code in {200, 202}, review.text
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def plain_backup(hub, place):
    """A backup that was made while documents came in, and the answers of the hub before them."""
    stop = threading.Event()

    def upload_on() -> None:
        number = 100
        while not stop.is_set():
            number += 1
            hub.upload(write_manual(place, number))

    before = answers(hub)
    uploads = threading.Thread(target=upload_on)
    uploads.start()
    try:
        made = hub.manage("backup", str(place / "plain"), "--json")
    finally:
        stop.set()
        uploads.join()
    listed = hub.call("GET", "/documents", params={"limit": 100}).json()["items"]
    hub.wait_until_finished(*(one["document_id"] for one in listed))
    return json.loads(made.stdout), before


def assert_well(hub: HubProcess) -> None:
    said = hub.manage("doctor", check=False)
    assert said.returncode == 0, said.stdout


def another(hub: HubProcess, data_dir: Path) -> HubProcess:
    """A hub of another machine, which does not run."""
    return HubProcess(data_dir=data_dir, port=hub.port, process=hub.process, token=hub.token)


def bring_key(hub: HubProcess, other: HubProcess) -> None:
    other.data_dir.mkdir(mode=0o700, exist_ok=True)
    shutil.copy(hub.data_dir / "secret_key", other.data_dir / "secret_key")


def test_a_backup_of_a_busy_hub_is_restored_with_every_answer(hub, place, plain_backup):
    facts, before = plain_backup
    assert facts["files"] >= 4
    assert facts["missing"] == facts["damaged"] == []
    assert facts["keys_to_keep_apart"] == [str(hub.data_dir / "secret_key")]
    key = (hub.data_dir / "secret_key").read_bytes()
    written = [path for path in (place / "plain").rglob("*") if path.is_file()]
    assert not [path for path in written if key in path.read_bytes()]
    assert not [path for path in (place / "plain").rglob("*") if path.stat().st_mode & 0o077]

    other = another(hub, place / "other")
    refused = other.manage("restore", facts["backup"], check=False)
    assert refused.returncode == 1, refused.stderr
    assert "SECRET_KEY" in refused.stderr, refused.stderr
    assert not (other.data_dir / "blobs").exists()

    bring_key(hub, other)
    restored = json.loads(other.manage("restore", facts["backup"], "--json").stdout)
    assert restored["equal"], restored
    assert restored["searches_equal"] == restored["searches"] == 10, restored
    assert_well(other)
    running = start_hub(other.data_dir)
    try:
        running.token = hub.token  # of the first hub
        assert running.password == ""
        now = answers(running)
    finally:
        running.stop()
    # What came in during the backup changes the scores of searches; ten of the same moment were equal above.
    assert len(before) == len(QUESTIONS) + 1
    assert now[len(QUESTIONS) :] == before[len(QUESTIONS) :]

    again = other.manage("restore", facts["backup"], check=False)
    assert again.returncode == 1, again.stderr
    assert "--yes" in again.stderr, again.stderr
    replaced = json.loads(other.manage("restore", facts["backup"], "--yes", "--json").stdout)
    assert replaced["equal"]
    assert replaced["files_written"] == 0
    assert "audit lines" in other.manage("doctor").stdout


def test_the_hub_that_runs_is_not_overwritten(hub, plain_backup):
    refused = hub.manage("restore", plain_backup[0]["backup"], "--yes", check=False)
    assert refused.returncode == 1, refused.stderr
    assert "web" in refused.stderr, refused.stderr


def test_the_second_backup_copies_no_file_again_and_old_ones_go(hub, place, plain_backup):
    first = find_backup(place / "plain")
    known = first.copies()
    made = json.loads(hub.manage("backup", str(place / "plain"), "--keep", "1", "--json").stdout)
    assert made["copied"] == made["files"] - len(known)
    assert made["removed_backups"] == 1
    assert not first.path.exists()
    assert find_backup(place / "plain").name != first.name


def test_a_flipped_byte_is_found_and_not_restored(hub, place, plain_backup):
    folder = place / "flipped"
    shutil.copytree(place / "plain", folder)
    backup = find_backup(folder)
    for path in (backup.copy_path(backup.copies()[0]), backup.path / "database.dump"):
        whole = path.read_bytes()
        path.write_bytes(whole[:-7] + bytes([whole[-7] ^ 1]) + whole[-6:])
        checked = hub.manage("backup", str(folder), "--check", check=False)
        assert checked.returncode == 1, checked.stderr
        assert path.name in checked.stderr, checked.stderr
        other = another(hub, place / f"flipped-{path.name[:4]}")
        bring_key(hub, other)
        refused = other.manage("restore", str(folder), check=False)
        assert refused.returncode == 1, refused.stderr
        assert path.name in refused.stderr, refused.stderr
        path.write_bytes(whole)
    # The next backup replaces a damaged copy, since it reads what it relies on.
    path = backup.copy_path(backup.copies()[0])
    path.write_bytes(b"x")
    assert json.loads(hub.manage("backup", str(folder), "--json").stdout)["replaced"] == 1
    assert hub.manage("backup", str(folder), "--check").returncode == 0


def test_an_encrypted_backup_with_its_keys_is_restored_by_one_command(hub, place, plain_backup):
    words = place / "passphrase"
    words.write_text("正しい馬の電池の留め金は四つある", encoding="utf-8")
    folder = place / "encrypted"
    refused = hub.manage("backup", str(place / "plain"), "--encrypt-to", str(words), check=False)
    assert refused.returncode == 1, refused.stderr
    assert "age1" in refused.stderr, refused.stderr
    made = json.loads(hub.manage("backup", str(folder), "--encrypt-to", str(words), "--with-keys", "--json").stdout)
    assert made["keys_to_keep_apart"] == []
    everything = b"".join(path.read_bytes() + path.name.encode() for path in folder.rglob("*") if path.is_file())
    plain = find_backup(place / "plain")
    assert "台帳".encode() not in everything
    assert not [copy for copy in plain.copies() if copy.partition("/")[2][:64].encode() in everything]

    other = another(hub, place / "unsealed")
    assert other.manage("restore", str(folder), check=False).returncode == 1
    restored = json.loads(other.manage("restore", str(folder), "--identity", str(words), "--json").stdout)
    assert restored["equal"], restored
    assert_well(other)
    assert (other.data_dir / "secret_key").read_text() == (hub.data_dir / "secret_key").read_text()
    running = start_hub(other.data_dir)
    try:
        running.token = hub.token
        assert answers(running) == answers(hub)  # nothing comes in any more: passages, scores, places, findings
    finally:
        running.stop()


def test_a_backup_of_a_newer_version_is_refused(hub, place, plain_backup):
    folder = place / "newer"
    shutil.copytree(place / "plain", folder)
    backup = find_backup(folder)
    manifest = json.loads((backup.path / "manifest.json").read_text())
    manifest["migrations"].append(["knowledge", "9999_of_a_later_year"])
    manifest["hub_version"] = "99.0"
    (backup.path / "manifest.json").write_text(json.dumps(manifest))
    about = backup.about()
    about["files"]["manifest.json"]["sha256"] = sha256_of_file(backup.path / "manifest.json")
    (backup.path / "about.json").write_text(json.dumps(about))
    other = another(hub, place / "older")
    bring_key(hub, other)
    refused = other.manage("restore", str(folder), check=False)
    assert refused.returncode == 1
    assert "9999_of_a_later_year" in refused.stderr
    assert "99.0" in refused.stderr


def test_killed_backups_and_restores_go_on(hub, place, plain_backup):
    """SIGKILL at twelve moments of each; what is complete is whole, and the next run ends as the first would have."""
    folder = place / "killed"
    complete = 0
    for step in range(12):
        running = subprocess.Popen(
            [sys.executable, "manage.py", "backup", str(folder)], cwd=ROOT, env=hub.environment()
        )
        time.sleep(0.5 + step * 0.4)
        running.kill()
        running.wait()
        names = [path for path in (folder / "backups").glob("*") if path.suffix != ".part"]
        complete = len(names)
    assert complete < 12
    assert hub.manage("backup", str(folder), "--verify").returncode == 0
    assert not list((folder / "backups").glob("*.part"))
    other = another(hub, place / "killed-restore")
    bring_key(hub, other)
    for step in range(12):
        running = subprocess.Popen(
            [sys.executable, "manage.py", "restore", str(folder)], cwd=ROOT, env=other.environment()
        )
        time.sleep(0.5 + step * 0.5)
        running.kill()
        running.wait()
    last = other.manage("restore", str(folder), "--yes", "--json")
    assert json.loads(last.stdout)["equal"]
    assert_well(other)
