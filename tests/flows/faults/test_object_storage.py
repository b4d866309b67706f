"""Documents in S3 that answers late, or not at all: what needs it says so and is done later, the rest goes on."""

from __future__ import annotations

import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.contracts.test_storage import s3_client
from tests.flows.faults.network import wire_to
from tests.flows.faults.work import assert_whole, try_upload, upload_all, wait_until_ready, write_files
from tests.flows.hub_process import start_hub

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
LATE_S = 4.0


def test_a_bucket_that_is_slow_or_away_holds_no_search_up_and_loses_nothing(s3_endpoint: str, tmp_path: Path) -> None:
    s3_client(s3_endpoint).create_bucket(Bucket="faults")
    with wire_to(urlsplit(s3_endpoint).port or 0) as wire:
        hub = start_hub(
            tmp_path / "data",
            "--no-sample",
            S3_ENDPOINT_URL=f"http://127.0.0.1:{wire.port}",
            S3_BUCKET="faults",
            AWS_ACCESS_KEY_ID="test",
            AWS_SECRET_ACCESS_KEY="test",
            AWS_DEFAULT_REGION="us-east-1",
        )
        try:
            before = upload_all(hub, write_files(tmp_path, 4))
            hub.wait_until_finished(*before)

            wire.delay_s = LATE_S
            outcome: list[tuple[int, dict[str, object]]] = []
            (slow,) = write_files(tmp_path, 1, first=10)
            sending = threading.Thread(target=lambda: outcome.append(try_upload(hub, slow)))
            sending.start()
            searches = 0
            while sending.is_alive():
                found = hub.call("POST", "/search", json={"query": "申請書を受け付ける担当者"})
                assert found.status_code == 200, found.text
                assert found.json()["results"]
                searches += sending.is_alive()
            # Each of them was answered while the bucket had not yet answered once.
            assert searches >= 3
            sending.join()

            wire.delay_s, wire.is_shut = 0.0, True
            (refused,) = write_files(tmp_path, 1, first=20)
            status, said = try_upload(hub, refused)
            assert status == 503, said
            assert said["code"] == "storage_unavailable", said
            found = hub.call("POST", "/search", json={"query": "申請書を受け付ける担当者"})
            assert found.json()["results"]

            wire.is_shut = False
            wait_until_ready(hub)
            assert_whole(hub, [*before, *upload_all(hub, [slow, refused])])
        finally:
            hub.stop()
