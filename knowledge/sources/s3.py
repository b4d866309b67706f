"""The objects below a prefix of an S3 bucket as a source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError
from django.utils.translation import gettext_lazy as _

from hub.core.errors import HubError
from knowledge.sources.base import (
    COPY_BLOCK,
    FetchedFile,
    FileUnreadable,
    Heartbeat,
    Listing,
    SourceFile,
    SourceUnavailable,
    private_folder,
)
from knowledge.types.file_names import is_hidden

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

OF_ONE_OBJECT = frozenset({"404", "NoSuchKey", "403", "AccessDenied", "InvalidObjectState"})


class S3Reader:
    """Reads ``s3://bucket/prefix``; ``prefix`` is empty or ends with ``/``. A file's stamp is its ETag and size."""

    def __init__(self, client: S3Client, bucket: str, prefix: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix

    @property
    def root(self) -> str:
        return f"s3://{self._bucket}/{self._prefix}"

    def identity(self) -> str:
        """The server that is asked: a bucket of the same name on another one is another bucket."""
        return str(self._client.meta.endpoint_url)

    def list_files(self, heartbeat: Heartbeat) -> Listing:
        files = []
        try:
            for page in self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix
            ):
                heartbeat()
                for item in page.get("Contents", []):
                    name = item["Key"].removeprefix(self._prefix)
                    if name and not name.endswith("/") and not is_hidden(tuple(name.split("/"))):
                        files.append(
                            SourceFile(
                                path=name, size_bytes=item["Size"], stamp=_stamp(item.get("ETag", ""), item["Size"])
                            )
                        )
        except (BotoCoreError, ClientError) as error:
            raise self._unavailable(error) from error
        return Listing(files=tuple(sorted(files, key=lambda file: file.path)))

    @contextmanager
    def fetch(self, file: SourceFile, heartbeat: Heartbeat) -> Iterator[FetchedFile]:
        with private_folder() as private:
            copy = private / "object"
            yield FetchedFile(path=copy, stamp=self._download(file, copy, heartbeat))

    def _download(self, file: SourceFile, target: Path, heartbeat: Heartbeat) -> str:
        """Stream an object to ``target`` in this thread, for ``heartbeat`` may use the database; gives its stamp."""
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + file.path)
            with target.open("xb") as out:
                for block in answer["Body"].iter_chunks(COPY_BLOCK):
                    out.write(block)
                    heartbeat()
        except (BotoCoreError, ClientError) as error:
            raise self._failure(error) from error
        return _stamp(answer["ETag"], answer["ContentLength"])

    def _failure(self, error: BotoCoreError | ClientError) -> HubError:
        code = error.response["Error"].get("Code") if isinstance(error, ClientError) else None
        if code in OF_ONE_OBJECT:
            return FileUnreadable(_("It can't be read: {reason}."), reason=str(error))
        return self._unavailable(error)

    def _unavailable(self, error: BotoCoreError | ClientError) -> SourceUnavailable:
        return SourceUnavailable(
            _("The bucket {bucket} can't be read: {reason}. Check its name, S3_ENDPOINT_URL and the credentials."),
            bucket=self._bucket,
            reason=str(error),
        )


def _stamp(etag: str, size_bytes: int) -> str:
    return f"{etag.strip(chr(34))}:{size_bytes}"[:60]
