from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile

from hub.core.errors import LimitExceeded
from hub.core.temporary import temp_dir
from hub.rest.uploads import received_file
from tests.hub.rest.conftest import Caller
from tests.hub.rest.test_problems import assert_problem

TEXT = "# 基本設計書\n\n性能要件は3.2節に示す。\n".encode()


def upload(caller: Caller, content: bytes):
    file = SimpleUploadedFile("設計書.md", content, content_type="text/markdown")
    return caller.client.post("/api/v1/files", {"file": file, "title": "基本設計書"}, headers=caller.headers)


def limit_uploads(settings, size_bytes: int) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_max_upload_bytes": size_bytes})


def test_an_upload_is_stored_privately_hashed_and_removed_afterwards(caller: Caller):
    answer = upload(caller, TEXT).json()

    assert answer == {
        "sha256": hashlib.sha256(TEXT).hexdigest(),
        "size": len(TEXT),
        "title": "基本設計書",
        "mode": "600",
    }
    assert list(temp_dir().iterdir()) == []
    assert temp_dir().stat().st_mode & 0o777 == 0o700


def test_a_file_that_django_spooled_to_disk_is_hashed_the_same():
    temp_dir()
    content = os.urandom(300_000)
    with TemporaryUploadedFile("大.bin", "application/octet-stream", len(content), None) as file:
        file.write(content)
        file.flush()
        with received_file(file) as received:
            stored = received.path.read_bytes()

    assert stored == content
    assert received.sha256 == hashlib.sha256(content).hexdigest()
    assert received.filename == "大.bin"


def test_a_file_above_the_limit_is_refused_and_names_the_setting(caller: Caller, settings):
    limit_uploads(settings, 1024)
    problem = assert_problem(upload(caller, b"x" * 1025), 413, "upload_too_large")

    assert "HUB_MAX_UPLOAD_BYTES" in problem["detail"]
    assert upload(caller, b"x" * 1024).status_code == 200


def test_a_raw_body_is_stored_the_same_way(caller: Caller, settings):
    def put(content: bytes):
        return caller.client.put("/api/v1/raw", content, content_type="text/turtle", headers=caller.headers)

    limit_uploads(settings, 1024)

    assert put(TEXT).json() == {"sha256": hashlib.sha256(TEXT).hexdigest(), "text": TEXT.decode()}
    assert_problem(put(b"x" * 1025), 413, "upload_too_large")
    assert list(temp_dir().iterdir()) == []


def test_nothing_is_left_behind_when_the_block_fails():
    with pytest.raises(RuntimeError), received_file(SimpleUploadedFile("a.txt", TEXT)) as received:
        raise RuntimeError

    assert not received.path.exists()


def test_the_block_may_move_the_file_away(tmp_path: Path):
    with received_file(SimpleUploadedFile("a.txt", TEXT)) as received:
        received.path.rename(tmp_path / "kept")

    assert (tmp_path / "kept").read_bytes() == TEXT


def test_a_file_whose_size_is_unknown_is_cut_off_at_the_limit(settings):
    limit_uploads(settings, 1024)
    file = SimpleUploadedFile("a.txt", b"x" * 5000)
    file.size = None

    with pytest.raises(LimitExceeded), received_file(file):
        pass

    assert list(temp_dir().iterdir()) == []
