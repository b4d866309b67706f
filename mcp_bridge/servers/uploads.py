"""Behind upload_document: from the content in a message to a stored document."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import InvalidInput, LimitExceeded
from hub.core.temporary import temp_dir
from knowledge.collections import read_classification
from knowledge.documents.anonymising import read_anonymising
from knowledge.documents.archives import refuse_archive
from knowledge.documents.documents import get_document
from knowledge.documents.schemas import upload_out
from knowledge.documents.uploads import Upload, UploadOutcome, create_document, hash_file
from knowledge.documents.workers import worker_is_alive
from knowledge.models import DocumentStatus
from knowledge.types.anonymising import KINDS
from knowledge.types.chunks import ChunkOptions, ChunkStrategy
from mcp_bridge import uris
from mcp_bridge.events import have_queue
from mcp_bridge.servers.schemas import ChunkingOptionsIn, DocumentCounts, UploadResult

TEXT_SUFFIXES = frozenset({"", ".md", ".markdown", ".txt", ".text", ".csv", ".tsv", ".html", ".htm"})
PROCESSING: dict[str, Literal["completed", "failed"]] = {
    "ready": "completed",
    "needs_ocr": "completed",
    "retired": "completed",
    "failed": "failed",
}


def store(
    principal: Principal,
    *,
    content: str,
    encoding: str,
    filename: str,
    metadata: dict[str, Any],
    anonymise: Sequence[str] = (),
    chunking: ChunkingOptionsIn | None,
    **said: Any,  # noqa: ANN401 - fields of Upload as they are
) -> UploadOutcome:
    """Store the content and start the work on it. Raises InvalidInput, LimitExceeded and what create_document does."""
    data = _bytes_of(content, encoding, filename)
    have_queue()
    with _on_disk(data) as file:
        refuse_archive(file, filename)
        sha256, size_bytes = hash_file(file)
        upload = Upload(
            file=file,
            filename=filename,
            sha256=sha256,
            size_bytes=size_bytes,
            metadata=metadata,
            # to keep what the caller says there and not heed it would leave a secret open
            classification=read_classification(
                str(metadata.get("classification") or ""), field="metadata.classification"
            ),
            chunk_options=_chunk_options(chunking),
            anonymise=read_anonymising(
                [name for name in anonymise if name in KINDS], [name for name in anonymise if name not in KINDS]
            ),
            **said,
        )
        return create_document(principal=principal, upload=upload)


def _bytes_of(content: str, encoding: str, filename: str) -> bytes:
    limit = settings.CONFIG.hub_mcp_max_bytes
    if len(content) > limit:
        raise LimitExceeded(
            _(
                "content is larger than {limit} bytes (HUB_MCP_MAX_BYTES). Upload the file through the REST API of "
                "{url} instead: POST /documents."
            ),
            limit=limit,
            url=settings.CONFIG.public_url,
        )
    is_text = PurePosixPath(filename).suffix.lower() in TEXT_SUFFIXES
    if encoding == "text" or (encoding == "auto" and is_text):
        return content.encode("utf-8", "replace")  # half a character has no UTF-8 form
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except ValueError as error:
        raise InvalidInput(
            _("content is not base64 ({reason}). Give the bytes of {filename} in base64, or content_encoding text."),
            code="invalid_base64",
            reason=str(error),
            filename=filename,
        ) from error


@contextmanager
def _on_disk(content: bytes) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile(dir=temp_dir(), prefix="mcp-") as file:
        file.write(content)
        file.flush()
        yield Path(file.name)


def _chunk_options(asked: ChunkingOptionsIn | None) -> ChunkOptions | None:
    if asked is None:
        return None
    strategy = ChunkStrategy(asked.chunking_strategy)
    overlap = asked.chunk_overlap
    if overlap is None:
        overlap = min(ChunkOptions().overlap, asked.chunk_size // 4)
    return ChunkOptions(strategy=strategy, size=asked.chunk_size, overlap=overlap)


def time_to_wait(*, is_local: bool, wait_seconds: float) -> float | None:
    """Seconds to wait for a document; None (until it is finished) where this process must do the work itself."""
    return None if is_local and not worker_is_alive() else wait_seconds


def progress(principal: Principal, document_id: str) -> tuple[int, str]:
    """Percent and state of a document's latest version."""
    version = get_document(principal, document_id, scope=Scope.UPLOAD).latest_version
    return (version.progress, version.status) if version else (0, DocumentStatus.STORED)


def show(principal: Principal, outcome: UploadOutcome) -> UploadResult:
    """What stands in the database now, in the shape that callers get."""
    document = get_document(principal, outcome.document.public_id, scope=Scope.UPLOAD)
    facts = upload_out(
        document, outcome=outcome.outcome, same_content_as=outcome.same_content_as, anonymised=outcome.anonymised
    )
    return UploadResult(
        **dict(facts),
        processing_status=PROCESSING.get(facts.status, "processing"),
        structure=DocumentCounts(**{name: getattr(facts, name) for name in DocumentCounts.model_fields}),
        resource_uri=uris.DOCUMENTS + facts.document_id,
    )
