"""Shapes of documents, their structure and collections in answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.access.principals import Classification
from knowledge.models import Chunk, Collection, DeletionReceipt, Document, DocumentStatus, DocumentVersion


class DocumentOut(BaseModel):
    """A document and how far the work on its latest version has come; null means not known (yet)."""

    document_id: str
    version: int | None = Field(description="number of the latest version, from 1")
    title: str
    path: str
    collection: str
    document_type: str
    classification: str = Field(description="c1, c2 or c3")
    status: str = Field(description="stored, parsing, chunking, embedding, ready, needs_ocr, failed or retired")
    status_code: str | None = Field(description="stable code of the reason")
    status_reason: str | None = Field(description="why the document stands where it stands")
    progress: int = Field(description="0 to 100")
    attempts: int = Field(description="how often the stage under way was tried; 0 when it is done")
    format: str | None
    pages_count: int | None
    chunks_count: int | None
    sections_count: int | None
    tables_count: int | None
    figures_count: int | None
    character_count: int | None
    sha256: str | None
    size_bytes: int | None
    metadata: dict[str, Any]
    notices: list[dict[str, Any]]
    legal_hold: str | None = Field(description="why the document can't be deleted; null: it can")
    created_at: datetime
    updated_at: datetime


class UploadOut(DocumentOut):
    outcome: str = Field(description="created, new_version or unchanged")
    same_content_as: str | None = Field(description="another visible document with the same bytes")


class VersionOut(BaseModel):
    version: int
    version_id: str
    is_current: bool = Field(description="what search sees")
    status: str
    status_reason: str | None
    filename: str
    format: str | None
    sha256: str
    size_bytes: int
    created_at: datetime


class ChunkOut(BaseModel):
    chunk_id: str
    document_id: str
    version: int
    chunk_index: int
    content: str
    context_prefix: str
    section_path: list[str]
    page: int | None
    cell: str | None
    start_offset: int
    end_offset: int
    token_count: int
    has_table: bool
    has_figure: bool
    language: str | None


class CollectionOut(BaseModel):
    slug: str
    name: str
    description: str
    classification: str
    retention_days: int | None
    created_at: datetime


class DeletionReceiptOut(BaseModel):
    receipt_id: str
    document_id: str
    collection: str
    counts: dict[str, int]
    deleted_by: str
    deleted_at: datetime


class CountOut(BaseModel):
    documents: int
    chunks: int


def classification_name(value: int) -> str:
    return Classification(value).short


def _document_fields(document: Document) -> dict[str, Any]:
    version = document.latest_version
    retired = document.retired_at is not None
    return {
        "document_id": document.public_id,
        "version": version.number if version else None,
        "title": document.title,
        "path": document.path,
        "collection": document.collection.slug,
        "document_type": document.document_type_id,
        "classification": classification_name(document.classification),
        "status": DocumentStatus.RETIRED.value if retired else (version.status if version else "stored"),
        "status_code": (version.status_code or None) if version else None,
        "status_reason": version.status_reason if version else None,
        "progress": version.progress if version else 0,
        "attempts": version.attempts if version else 0,
        "format": (version.format or None) if version else None,
        **{name: getattr(version, name, None) for name in COUNTS},
        "sha256": version.blob_id if version else None,
        "size_bytes": version.blob.size_bytes if version else None,
        "metadata": document.metadata,
        "notices": version.notices if version else [],
        "legal_hold": document.legal_hold or None,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


COUNTS = ("pages_count", "chunks_count", "sections_count", "tables_count", "figures_count", "character_count")


def document_out(document: Document) -> DocumentOut:
    """Expects collection and latest_version__blob to be selected: no query then."""
    return DocumentOut(**_document_fields(document))


def upload_out(document: Document, *, outcome: str, same_content_as: str | None) -> UploadOut:
    return UploadOut(**_document_fields(document), outcome=outcome, same_content_as=same_content_as)


def version_out(version: DocumentVersion, document: Document) -> VersionOut:
    return VersionOut(
        version=version.number,
        version_id=version.public_id,
        is_current=version.pk == document.current_version_id,
        status=version.status,
        status_reason=version.status_reason,
        filename=version.filename,
        format=version.format or None,
        sha256=version.blob_id,
        size_bytes=version.blob.size_bytes,
        created_at=version.created_at,
    )


def chunk_out(chunk: Chunk) -> ChunkOut:
    """Expects version__document to be selected."""
    return ChunkOut(
        chunk_id=chunk.public_id,
        document_id=chunk.version.document.public_id,
        version=chunk.version.number,
        chunk_index=chunk.index,
        content=chunk.content,
        context_prefix=chunk.context_prefix,
        section_path=chunk.section_path,
        page=chunk.page,
        cell=chunk.cell,
        start_offset=chunk.start_offset,
        end_offset=chunk.end_offset,
        token_count=chunk.token_count,
        has_table=chunk.has_table,
        has_figure=chunk.has_figure,
        language=chunk.language,
    )


def collection_out(collection: Collection) -> CollectionOut:
    return CollectionOut(
        slug=collection.slug,
        name=collection.name,
        description=collection.description,
        classification=classification_name(collection.classification),
        retention_days=collection.retention_days,
        created_at=collection.created_at,
    )


def receipt_out(receipt: DeletionReceipt) -> DeletionReceiptOut:
    return DeletionReceiptOut(
        receipt_id=receipt.public_id,
        document_id=receipt.document_id,
        collection=receipt.collection_slug,
        counts=receipt.counts,
        deleted_by=receipt.principal,
        deleted_at=receipt.deleted_at,
    )
