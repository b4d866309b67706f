"""The queue is emptied and restarted, PostgreSQL is restarted, a worker is gone for good, a task comes twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from hub.core.embedded.valkey import EmbeddedValkey
from tests.flows.faults.work import assert_whole, upload_all, wait_until_ready, write_files
from tests.flows.hub_process import ROOT, HubProcess, processes_of

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]


def queue_of(hub: HubProcess) -> redis.Redis:
    return redis.Redis.from_url(EmbeddedValkey(hub.data_dir / "valkey").redis_url(0))


def server_of(hub: HubProcess, victim: str) -> int:
    (pid,) = processes_of(hub, victim)
    return pid


@contextmanager
def another_worker(hub: HubProcess) -> Iterator[subprocess.Popen[bytes]]:
    """A second worker, as another machine has one; killed with all of its processes at the end."""
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "hub.celery", "worker", "--concurrency", "2"]
    log = (hub.data_dir.parent / "another-worker.log").open("wb")
    worker = subprocess.Popen(
        [*command, "-n", "another@host"],
        cwd=ROOT,
        env=hub.environment(),
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    log.close()
    try:
        yield worker
    finally:
        kill_for_good(worker)


def kill_for_good(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(timeout=30)


def test_a_queue_that_was_emptied_and_restarted_loses_no_work(own_hub: HubProcess, tmp_path: Path) -> None:
    ids = upload_all(own_hub, write_files(tmp_path, 15))
    queue_of(own_hub).flushall()
    ids += upload_all(own_hub, write_files(tmp_path, 5, first=20))
    os.kill(server_of(own_hub, "valkey"), signal.SIGTERM)
    ids += upload_all(own_hub, write_files(tmp_path, 5, first=30))
    assert_whole(own_hub, ids)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
def test_postgresql_that_is_restarted_in_the_middle_loses_no_work(
    own_hub: HubProcess, tmp_path: Path, how: signal.Signals
) -> None:
    ids = upload_all(own_hub, write_files(tmp_path, 10))
    os.kill(server_of(own_hub, "postgres"), how)
    ids += upload_all(own_hub, write_files(tmp_path, 5, first=20))
    wait_until_ready(own_hub)
    assert_whole(own_hub, ids)


def test_the_work_of_a_worker_that_never_comes_back_is_taken_over(own_hub: HubProcess, tmp_path: Path) -> None:
    with another_worker(own_hub) as worker:
        ids = upload_all(own_hub, write_files(tmp_path, 20))
        time.sleep(3)  # let it take some
        kill_for_good(worker)
        assert_whole(own_hub, ids)


SEND_TWICE = """
from knowledge.models import DocumentVersion
from knowledge.tasks import advance_version
for pk in DocumentVersion.objects.values_list("pk", flat=True):
    advance_version.delay(version_id=pk)
    advance_version.delay(version_id=pk)
"""


def test_a_task_that_comes_to_two_workers_is_done_once(own_hub: HubProcess, tmp_path: Path) -> None:
    with another_worker(own_hub):
        ids = upload_all(own_hub, write_files(tmp_path, 12))
        own_hub.manage("shell", "-c", SEND_TWICE)
        assert_whole(own_hub, ids)
        own_hub.manage("shell", "-c", SEND_TWICE)  # also when they are ready
        time.sleep(3)
        assert_whole(own_hub, ids)
