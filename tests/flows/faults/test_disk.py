"""A disk that is full under PostgreSQL, the queue and the documents at once."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.flows.faults.work import (
    alert_channel,
    assert_whole,
    try_upload,
    upload_all,
    wait_for_alert,
    wait_until_ready,
    write_files,
)
from tests.flows.hub_process import start_hub

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
SIZE = "700m"
CHECKLIST = "basic-design"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own of 700 MB for a hub's data; only root can make one."""
    folder = tmp_path / "hub" / "data"
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0755", "tmpfs", str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no disk of its own can be made here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Take all of a disk's room; gives the file that has it."""
    path = disk / "ballast"
    with path.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        _write_on(file)
    return path


def _write_on(file: IO[bytes]) -> None:
    while True:
        file.write(bytes(65_536))


def test_a_full_disk_is_said_and_everything_goes_on_when_there_is_room(small_disk: Path, tmp_path: Path) -> None:
    with alert_channel() as (channel, received):
        hub = start_hub(small_disk, "--no-sample", ALERT_URLS=channel)
        try:
            before = upload_all(hub, write_files(tmp_path, 6))
            hub.wait_until_finished(*before)
            in_work = upload_all(hub, write_files(tmp_path, 6, first=10))
            ballast = fill(small_disk)
            refused = [try_upload(hub, path) for path in write_files(tmp_path, 4, first=20)]
            # A small text may still fit where something was freed meanwhile; what is refused says that it may pass.
            assert {status for status, _said in refused} <= {0, 202, 503}, refused
            taken = [str(said["document_id"]) for status, said in refused if status == 202]
            assert len(taken) < len(refused)
            wait_for_alert(received, "failure", str(hub.data_dir))
            review = hub.call("POST", "/reviews", json={"document_id": before[0], "checklist": CHECKLIST})
            assert review.status_code in {202, 503}, review.text
            ballast.unlink()
            wait_until_ready(hub)
            wait_for_alert(received, "success", str(hub.data_dir))
            after = upload_all(hub, write_files(tmp_path, 4, first=20))
            assert_whole(hub, [*before, *in_work, *after])
            assert set(taken) <= set(after)
            done = hub.manage("review", before[0], "--checklist", CHECKLIST, check=False)
            assert done.returncode in {0, 1}, done.stdout + done.stderr  # found something or nothing: it ran
        finally:
            hub.stop()


def test_a_hub_on_a_full_disk_stops_in_order(small_disk: Path, tmp_path: Path) -> None:
    hub = start_hub(small_disk, "--no-sample")
    hub.wait_until_finished(*upload_all(hub, write_files(tmp_path, 2)))
    ballast = fill(small_disk)
    hub.stop()  # within a minute, or it raises
    assert hub.process.returncode == 0
    ballast.unlink()
    again = start_hub(small_disk, "--no-sample")
    try:
        again.token = hub.token
        assert len(again.call("GET", "/documents").json()["items"]) == 2
    finally:
        again.stop()
