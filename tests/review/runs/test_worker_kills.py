"""The processes of a real Celery worker are killed during a review; the result is that of an undisturbed one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from hub.access.principals import local_operator
from hub.celery import app
from review.models import Review
from review.runs import execution
from review.runs.reviews import start_review
from review.tasks import sweep_reviews
from tests.review.conftest import DESIGN, review_text
from tests.review.report.reports import reports_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue"), pytest.mark.timeout(240)]

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 60
HOLD = 20_261
"""Names the advisory lock that workers are held at."""

# A worker that is about to store a result after `at` of them waits for the test's lock, so that it dies in the middle.
TRIGGER = """
CREATE TABLE hold_results (at integer);
INSERT INTO hold_results VALUES (-1);
CREATE FUNCTION hold_result() RETURNS trigger AS $$
BEGIN
  IF (SELECT count(*) FROM review_checkresult WHERE review_id = NEW.review_id) = (SELECT at FROM hold_results) THEN
    PERFORM pg_advisory_xact_lock(20261);
  END IF;
  RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER hold_result BEFORE INSERT ON review_checkresult FOR EACH ROW EXECUTE FUNCTION hold_result();
"""
NO_TRIGGER = "DROP TRIGGER hold_result ON review_checkresult; DROP FUNCTION hold_result; DROP TABLE hold_results;"
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"


@pytest.fixture
def holding(transactional_db: None) -> Iterator[None]:
    ask(TRIGGER)
    yield
    ask("SELECT pg_advisory_unlock_all()")
    ask(NO_TRIGGER)


@pytest.fixture
def start_worker(transactional_db: None) -> Iterator[Callable[[int], subprocess.Popen[bytes]]]:
    """Start a worker with some processes on the test's own database and queue."""
    app.control.purge()
    started: list[subprocess.Popen[bytes]] = []

    def start(processes: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "celery", "--quiet", "-A", "hub.celery", "worker", "--without-gossip"]
        command += ["--without-mingle", "--concurrency", str(processes), "--loglevel", "WARNING"]
        started.append(subprocess.Popen(command, cwd=ROOT, env=worker_environment(), start_new_session=True))
        return started[-1]

    yield start
    for worker in started:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def worker_environment() -> dict[str, str]:
    row = connection.settings_dict
    url = f"postgresql://{row['USER']}@/{row['NAME']}?host={row['HOST']}&port={row['PORT']}"
    return os.environ | {"DATABASE_URL": url, "HUB_DATA_DIR": str(settings.HUB_DATA_DIR)}


def ask(statement: str, *values: int) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchone()[0] if cursor.description else None


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def hold_at(results: int) -> None:
    """Stop whoever stores a result after that many; -1 stops nobody."""
    ask("UPDATE hold_results SET at = %s", results)


def kill_processes_of(worker: subprocess.Popen[bytes]) -> None:
    """SIGKILL the processes that do the work, as the kernel does when memory runs out; Celery starts new ones."""
    listing = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(worker.pid)], capture_output=True, text=True, check=True
    )
    for pid in listing.stdout.split():
        os.kill(int(pid), signal.SIGKILL)


def let_the_lease_run_out(review: Review) -> None:
    """Put its end into the past, and do what beat does every five seconds."""
    Review.objects.filter(pk=review.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    assert sweep_reviews() == 1


@pytest.mark.parametrize(
    ("processes", "kill_at"),
    [
        (2, (5,)),
        pytest.param(1, (3, 8, 14), marks=pytest.mark.long),
        pytest.param(2, (3, 8, 14), marks=pytest.mark.long),
        pytest.param(4, (3, 8, 14), marks=pytest.mark.long),
    ],
)
def test_workers_killed_in_the_middle_change_nothing_in_the_result(tmp_path, holding, start_worker, processes, kill_at):
    """``kill_at``: the numbers of stored results at which the workers are killed."""
    undisturbed = review_text(tmp_path, DESIGN)
    worker = start_worker(processes)
    ask("SELECT pg_advisory_lock(%s)", HOLD)
    hold_at(kill_at[0])
    review = start_review(principal=local_operator(), document_id=undisturbed.document_id_text)
    for results, following in pairwise([*kill_at, -1]):
        wait_until(lambda: ask(WAITING) == processes, "not every process is judging")
        assert review.results.count() == results
        kill_processes_of(worker)
        hold_at(following)
        ask("SELECT pg_advisory_unlock(%s)", HOLD)
        wait_until(lambda: ask(WAITING) == 0, "the database has not noticed the death of its clients")
        ask("SELECT pg_advisory_lock(%s)", HOLD)
        let_the_lease_run_out(review)
    wait_until(lambda: Review.objects.get(pk=review.pk).status == "completed", "the review is not finished")
    assert execution.take_stuck() == []
    assert reports_of(review) == reports_of(undisturbed)
