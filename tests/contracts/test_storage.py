"""Blob stores: one suite over local disk and S3 (moto speaks the real protocol over HTTP)."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

from hub.core.encryption.key_text import new_key
from knowledge.ports import BlobStore
from knowledge.storage.errors import BlobMissing, StorageUnavailable
from knowledge.storage.local import LocalBlobStore
from knowledge.storage.s3 import S3BlobStore
from knowledge.storage.sealed import SealedBlobStore

CONTENT = "保存するファイル".encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(params=["local", "s3", "encrypted local", "encrypted s3"])
def store(request, tmp_path, settings) -> BlobStore:
    kind = request.param.removeprefix("encrypted ")
    if kind == request.param:
        return bare_store(kind, request, tmp_path)
    request.getfixturevalue("db")
    settings.CONFIG = settings.CONFIG.model_copy(update={"encryption_key": new_key()})
    return SealedBlobStore(bare_store(kind, request, tmp_path))


def bare_store(kind, request, tmp_path) -> BlobStore:
    if kind == "local":
        return LocalBlobStore(tmp_path / "blobs")
    client = s3_client(request.getfixturevalue("s3_endpoint"))
    bucket = "hub-" + hashlib.sha256(str(tmp_path).encode()).hexdigest()[:12]
    client.create_bucket(Bucket=bucket)
    return S3BlobStore(client, bucket)


def s3_client(endpoint: str):
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(CONTENT)
    return path


def test_what_was_put_can_be_read_back(store, source):
    store.put(SHA256, source)
    with store.open(SHA256) as file:
        assert file.read() == CONTENT
    with store.local_path(SHA256) as path:
        assert path.read_bytes() == CONTENT


def test_the_owner_is_no_blob_and_is_what_was_written_last(store, source):
    assert store.read_owner() == ""
    store.write_owner("7123.1")
    store.write_owner("7123.2")
    assert store.read_owner() == "7123.2"
    assert list(store.iter_names()) == []


def test_putting_twice_keeps_one(store, source):
    store.put(SHA256, source)
    store.put(SHA256, source)
    assert list(store.iter_names()) == [SHA256]


def test_deleting_is_final_and_deleting_again_is_no_error(store, source):
    store.put(SHA256, source)
    store.delete(SHA256)
    store.delete(SHA256)
    assert list(store.iter_names()) == []
    with pytest.raises(BlobMissing, match=SHA256), store.local_path(SHA256):
        pass


def test_opening_what_is_not_there_names_it(store):
    with pytest.raises(BlobMissing, match=SHA256):
        store.open(SHA256)


def test_a_store_that_works_passes_its_check(store):
    store.check()


def test_a_bucket_that_is_not_there_fails_the_check_and_is_named_in_the_log_alone(s3_endpoint, caplog):
    with pytest.raises(StorageUnavailable) as told:
        S3BlobStore(s3_client(s3_endpoint), "no-such-bucket").check()
    assert "no-such-bucket" in caplog.text
    assert "no-such-bucket" not in str(told.value)


def test_an_endpoint_that_does_not_answer_is_unavailable_and_not_told_to_callers(source, caplog):
    client = boto3.client(
        "s3",
        endpoint_url="http://127.0.0.1:9",
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(connect_timeout=1, retries={"max_attempts": 0}),
    )
    with pytest.raises(StorageUnavailable) as told:
        S3BlobStore(client, "hub").check()
    assert "127.0.0.1:9" in caplog.text
    assert "127.0.0.1" not in str(told.value)


def test_a_full_or_closed_disk_says_where(tmp_path, source):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    with pytest.raises(StorageUnavailable, match="file"):
        LocalBlobStore(in_the_way).put(SHA256, source)


def test_local_files_are_for_their_owner_only_and_no_draft_stays(tmp_path, source):
    root = tmp_path / "blobs"
    LocalBlobStore(root).put(SHA256, source)
    files = [path for path in root.rglob("*") if path.is_file()]
    assert [path.name for path in files] == [SHA256]
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(files[0].parent.stat().st_mode) == 0o700
