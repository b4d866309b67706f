"""Blobs as objects in an S3 bucket, or in MinIO and others that speak the protocol."""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError
from django.utils.translation import gettext_lazy as _

from hub.core.temporary import temp_dir
from knowledge.storage.errors import BlobMissing, StorageUnavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = logging.getLogger(__name__)

PREFIX = "blobs/"
OWNER = "owner"  # beside the blobs, not among them
SPOOL_BYTES = 16 * 1024 * 1024


class S3BlobStore:
    """Keeps blobs as ``blobs/<sha256>`` in ``bucket``."""

    overwrites = False

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, sha256: str, source: Path) -> None:
        with self._translating():
            self._client.upload_file(str(source), self._bucket, PREFIX + sha256)

    def write(self, name: str, data: IO[bytes]) -> None:
        with self._translating():
            self._client.upload_fileobj(data, self._bucket, PREFIX + name)

    def open(self, sha256: str) -> IO[bytes]:
        spool: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES, dir=str(temp_dir()))  # noqa: SIM115 (the caller closes it)
        try:
            with self._translating(sha256):
                self._client.download_fileobj(self._bucket, PREFIX + sha256, spool)
        except BaseException:
            spool.close()
            raise
        spool.seek(0)
        return spool

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="hub-blob-", dir=temp_dir()) as folder:
            path = Path(folder) / sha256
            with self._translating(sha256):
                self._client.download_file(self._bucket, PREFIX + sha256, str(path))
            yield path

    def delete(self, sha256: str) -> None:
        with self._translating():
            self._client.delete_object(Bucket=self._bucket, Key=PREFIX + sha256)

    def iter_names(self) -> Iterator[str]:
        with self._translating():
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=PREFIX)
            for page in pages:
                for item in page.get("Contents", []):
                    yield item["Key"].removeprefix(PREFIX)

    def read_owner(self) -> str:
        try:
            with self._translating(OWNER):
                answer = self._client.get_object(Bucket=self._bucket, Key=OWNER)
                return answer["Body"].read().decode()
        except BlobMissing:
            return ""

    def write_owner(self, name: str) -> None:
        with self._translating():
            self._client.put_object(Bucket=self._bucket, Key=OWNER, Body=name.encode(), ContentType="text/plain")

    def check(self) -> None:
        with self._translating():
            self._client.head_bucket(Bucket=self._bucket)

    @contextlib.contextmanager
    def _translating(self, sha256: str | None = None) -> Iterator[None]:
        try:
            yield
        except (BotoCoreError, ClientError) as error:
            code = error.response["Error"].get("Code") if isinstance(error, ClientError) else None
            if sha256 and code in {"404", "NoSuchKey"}:
                raise BlobMissing(
                    _("The stored file {sha256} is missing. Run `manage.py doctor`."), sha256=sha256
                ) from error
            # /readyz is open to everybody: its answer names no servers and buckets.
            logger.warning("the bucket %s does not answer: %s", self._bucket, error)
            raise StorageUnavailable(
                _("The bucket does not answer. Check S3_ENDPOINT_URL, S3_BUCKET and credentials; the log says why.")
            ) from error
