"""Uploads: streamed to private temporary files, hashed on the way, never held in memory as a whole."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from hub.core.errors import LimitExceeded
from hub.core.temporary import temp_dir

CHUNK_BYTES = 64 * 1024
_PREFIX = "received-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedFile:
    """An upload on disk. ``filename`` is what the sender called it, without folders; ``sha256`` is in hex."""

    path: Path
    filename: str
    content_type: str
    size_bytes: int
    sha256: str


class PrivateUploadHandler(TemporaryFileUploadHandler):
    """Django's handler of large files, with the files in this process's private folder."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (Django's)
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file = _PrivateUpload(self.file_name, self.content_type, self.charset, self.content_type_extra)


class _PrivateUpload(TemporaryUploadedFile):
    def __init__(
        self, name: str | None, content_type: str | None, charset: str | None, extra: dict[str, bytes] | None
    ) -> None:
        file = tempfile.NamedTemporaryFile(suffix=".upload", dir=temp_dir())  # noqa: SIM115 (closed with the request)
        UploadedFile.__init__(self, file, name, content_type, 0, charset, extra)


def too_large(limit: int) -> LimitExceeded:
    """Make the refusal of a file or request larger than ``limit`` bytes."""
    return LimitExceeded(
        _("The upload is larger than {limit} bytes. Send a smaller file, or ask the operator about {setting}."),
        code="upload_too_large",
        limit=limit,
        setting="HUB_MAX_UPLOAD_BYTES",
    )


@contextmanager
def received_file(file: UploadedFile[bytes]) -> Iterator[ReceivedFile]:
    """Have a multipart file on disk inside the block, which may move it away; afterwards it is gone.

    :raises LimitExceeded: it is larger than HUB_MAX_UPLOAD_BYTES.
    """
    if (file.size or 0) > settings.CONFIG.hub_max_upload_bytes:
        raise too_large(settings.CONFIG.hub_max_upload_bytes)
    with _stored(file.chunks(CHUNK_BYTES), filename=file.name or "", content_type=file.content_type or "") as received:
        yield received


@contextmanager
def received_body(request: HttpRequest, *, filename: str) -> Iterator[ReceivedFile]:
    """Have a raw request body (PUT of a file) on disk inside the block. Errors as in :func:`received_file`."""
    chunks = iter(lambda: request.read(CHUNK_BYTES), b"")
    with _stored(chunks, filename=filename, content_type=request.content_type or "") as received:
        yield received


@contextmanager
def _stored(chunks: Iterable[bytes], *, filename: str, content_type: str) -> Iterator[ReceivedFile]:
    handle, name = tempfile.mkstemp(dir=temp_dir(), prefix=_PREFIX)
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as target:
            size_bytes, sha256 = _copy(chunks, target)
        yield ReceivedFile(
            path=path, filename=filename, content_type=content_type, size_bytes=size_bytes, sha256=sha256
        )
    finally:
        path.unlink(missing_ok=True)


def _copy(chunks: Iterable[bytes], target: BinaryIO) -> tuple[int, str]:
    digest, size_bytes, limit = hashlib.sha256(), 0, settings.CONFIG.hub_max_upload_bytes
    for chunk in chunks:
        size_bytes += len(chunk)
        if size_bytes > limit:
            raise too_large(limit)
        digest.update(chunk)
        target.write(chunk)
    return size_bytes, digest.hexdigest()
