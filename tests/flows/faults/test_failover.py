"""The primary is killed for good under uploads and a review, and a standby takes its place.

PostgreSQL waits for the standby before it acknowledges (synchronous_standby_names), as docs/replicas.md says, so
nothing that the hub acknowledged is lost; nothing is there twice either, and alerts say when it began and was over.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.core.embedded.cluster import ROLE
from hub.core.embedded.postgres import MAINTENANCE_DATABASE, EmbeddedPostgres
from tests.flows.faults.work import (
    STALLED_S,
    alert_channel,
    assert_whole,
    upload_all,
    upload_until_taken,
    wait_for_alert,
    wait_until_over,
    wait_until_ready,
    write_files,
)
from tests.flows.hub_process import HubProcess, start_hub
from tests.standbys import Standby, kill, standby_of

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
CHECKLIST = "basic-design"


@pytest.fixture
def pair() -> Iterator[tuple[EmbeddedPostgres, Standby]]:
    """A primary that acknowledges nothing before its standby has it on disk."""
    home = Path(tempfile.mkdtemp(prefix="hub-primary-"))
    primary = EmbeddedPostgres(home)
    primary.ensure("hub")
    try:
        with standby_of(primary, "second") as standby:
            with primary.superuser(MAINTENANCE_DATABASE) as there:
                there.execute("ALTER SYSTEM SET synchronous_standby_names = 'second'")
                there.execute("SELECT pg_reload_conf()")
            yield primary, standby
    finally:
        kill(primary)
        primary.release()
        shutil.rmtree(home, ignore_errors=True)


def review_of(hub: HubProcess, review_id: str) -> dict[str, object]:
    """Wait until a review has ended."""
    deadline = time.monotonic() + STALLED_S
    while True:
        review = hub.call("GET", f"/reviews/{review_id}").json()
        if review["status"] not in {"queued", "running"}:
            return dict(review)
        assert time.monotonic() < deadline, review
        time.sleep(0.5)


def test_a_killed_primary_is_followed_by_its_standby_under_uploads_and_a_review(
    pair: tuple[EmbeddedPostgres, Standby], tmp_path: Path
) -> None:
    primary, standby = pair
    url = f"postgresql://{ROLE}@/hub?host={primary.socket_dir},{standby.socket_dir}&port={primary.port}"
    with alert_channel() as (channel, received):
        hub = start_hub(tmp_path / "data", "--no-sample", DATABASE_URL=url, ALERT_URLS=channel)
        try:
            before = upload_all(hub, write_files(tmp_path, 4))
            hub.wait_until_finished(*before)
            in_work = upload_all(hub, write_files(tmp_path, 6, first=10))
            asked = hub.call("POST", "/reviews", json={"document_id": before[0], "checklist": CHECKLIST})
            assert asked.status_code == 202, asked.text
            taken: list[str] = []
            files = write_files(tmp_path, 10, first=20)
            client = threading.Thread(target=lambda: [taken.append(upload_until_taken(hub, path)) for path in files])
            client.start()
            while not taken:
                time.sleep(0.05)
            kill(primary)
            wait_for_alert(received, "failure", "PostgreSQL")
            standby.promote()
            client.join(STALLED_S)
            assert len(taken) == len(files)
            wait_until_ready(hub)
            assert_whole(hub, [*before, *in_work, *taken])
            listed = hub.call("GET", "/documents?limit=100").json()["items"]
            assert {one["document_id"] for one in listed} == {*before, *in_work, *taken}
            assert len(listed) == 20
            review = review_of(hub, asked.json()["review_id"])
            assert review["status"] == "completed", review
            for action in ("seal", "verify"):  # by the role of DATABASE_URL, which owns the trail and is no superuser
                hub.manage("audit", action, "--token", hub.token)
            wait_until_over(received, "PostgreSQL")
        finally:
            hub.stop()
