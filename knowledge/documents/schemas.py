"""Shapes of documents, their structure and collections in answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from hub.access.principals import Classification
from hub.core.shapes import TextOrNone, filled
from knowledge.ingest.page_readings import seconds_left
from knowledge.models import Chunk, Collection, DeletionReceipt, Document, DocumentStatus, DocumentVersion, Figure
from knowledge.text.structure import figures_without_picture
from knowledge.types.documents import Block, BlockKind, Section


class OcrOut(BaseModel):
    """How far reading with OCR has come."""

    pages: int
    pages_read: int
    seconds_left: float | None = Field(description="about; null: not known, or not being read")
    is_cancelled: bool


class DocumentOut(BaseModel):
    """A document and how far the work on its latest version has come; null means not known (yet)."""

    document_id: str
    version: int | None = Field(description="number of the latest version, from 1")
    title: str
    path: str
    collection: str
    document_type: str
    classification: str = Field(description="c1, c2 or c3")
    status: str = Field(
        description="stored, parsing, reading (OCR), chunking, embedding, ready, needs_ocr, failed or retired"
    )
    status_code: str | None = Field(description="stable code of the reason")
    status_reason: str | None = Field(description="why the document stands where it stands")
    progress: int = Field(description="0 to 100")
    ocr: OcrOut | None = Field(description="pages and pictures that OCR reads; null: none")
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
    anonymised: dict[str, int] | None = Field(
        description="how much of each kind was replaced before it was stored; null: nothing was to be"
    )
    outcome: str = Field(description="created, new_version or unchanged")
    same_content_as: str | None = Field(description="another visible document with the same bytes")


class ArchiveFileOut(BaseModel):
    """What became of one file of an archive; of a refused one ``code`` and ``detail`` say why."""

    name: str = Field(description="the path inside the archive")
    outcome: Literal["created", "new_version", "unchanged", "refused"]
    document_id: str | None
    path: str | None
    same_content_as: str | None = Field(description="the id of another visible document with the same bytes")
    anonymised: dict[str, int] | None
    code: str | None
    detail: str | None


class ArchiveOut(BaseModel):
    kind: Literal["zip", "eml", "msg", ""] = Field(description="empty: the file is a document itself")
    left_out: int = Field(description="files that a system or a program hid beside the documents")
    files: list[ArchiveFileOut]


class VersionOut(BaseModel):
    version: int
    version_id: str
    is_current: bool = Field(description="what search sees")
    status: str
    status_reason: str | None
    filename: str
    format: TextOrNone
    sha256: str
    size_bytes: int
    anonymised: dict[str, int] | None = Field(description="how much of each kind was replaced; null: nothing was to be")
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
    ocr_confidence: float | None = Field(description="0 to 1, how sure OCR was of words it read; null: none were")


class CollectionOut(BaseModel):
    slug: str
    name: str
    description: str
    classification: str
    retention_days: int | None
    anonymised_kinds: list[str] = Field(description="personal data that is replaced at upload")
    anonymised_fields: list[str] = Field(description="names of fields whose values are replaced at upload")
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
        "ocr": _ocr_out(version) if version and version.ocr_pages is not None else None,
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


def _ocr_out(version: DocumentVersion) -> OcrOut:
    return OcrOut(
        pages=version.ocr_pages or 0,
        pages_read=version.ocr_pages_read or 0,
        seconds_left=seconds_left(version),
        is_cancelled=version.ocr_cancelled,
    )


COUNTS = ("pages_count", "chunks_count", "sections_count", "tables_count", "figures_count", "character_count")


def document_out(document: Document) -> DocumentOut:
    """Expects collection and latest_version__blob to be selected: no query then."""
    return DocumentOut(**_document_fields(document))


def upload_out(
    document: Document, *, outcome: str, same_content_as: str | None, anonymised: dict[str, int] | None
) -> UploadOut:
    said = {"outcome": outcome, "same_content_as": same_content_as, "anonymised": anonymised}
    return UploadOut(**_document_fields(document), **said)


def version_out(version: DocumentVersion, document: Document) -> VersionOut:
    return filled(
        VersionOut,
        version,
        version=version.number,
        version_id=version.public_id,
        is_current=version.pk == document.current_version_id,
        sha256=version.blob_id,
        size_bytes=version.blob.size_bytes,
    )


def chunk_out(chunk: Chunk) -> ChunkOut:
    """Expects version__document to be selected."""
    return filled(
        ChunkOut,
        chunk,
        chunk_id=chunk.public_id,
        document_id=chunk.version.document.public_id,
        version=chunk.version.number,
        chunk_index=chunk.index,
    )


def collection_out(collection: Collection) -> CollectionOut:
    return filled(CollectionOut, collection, classification=classification_name(collection.classification))


def receipt_out(receipt: DeletionReceipt) -> DeletionReceiptOut:
    return filled(
        DeletionReceiptOut,
        receipt,
        receipt_id=receipt.public_id,
        collection=receipt.collection_slug,
        deleted_by=receipt.principal,
    )


class SectionOut(BaseModel):
    id: str
    title: str
    number: str | None
    level: int
    path: list[str]
    start_page: int | None
    start_offset: int
    end_offset: int
    children: list[SectionOut] = []


class BlockOut(BaseModel):
    """A table or figure and where it stands."""

    kind: str
    start_offset: int
    end_offset: int
    page: int | None
    sheet: str | None
    cell: str | None


class FigureOut(BlockOut):
    """A figure; ``figure_id`` is null where the document has no picture of it, as of a drawing in a PDF."""

    figure_id: str | None = Field(description="for GET /documents/{id}/figures/{figure_id}")
    caption: str | None
    alt_text: str | None = Field(description="what its author wrote for those who can't see it")
    media_type: str | None
    description: str | None = Field(
        description="what the model named in description_model saw in it; not the document's words, and not searched"
    )
    description_model: str | None = Field(description="the model that wrote the description")


class StructureOut(BaseModel):
    document_id: str
    version: int
    sections: list[SectionOut]
    table_of_contents: list[str]
    figures: list[FigureOut]
    tables: list[BlockOut]


def structure_out(
    document: Document,
    version: DocumentVersion,
    sections: tuple[Section, ...],
    blocks: tuple[Block, ...],
    markdown: str,
) -> StructureOut:
    """Nest the sections, and list tables and figures in document order."""
    return StructureOut(
        document_id=document.public_id,
        version=version.number,
        sections=_section_tree(sections),
        table_of_contents=["　" * (section.level - 1) + section.title for section in sections],
        figures=_figures_out(version, blocks, markdown),
        tables=[_block_out(block) for block in blocks if block.kind is BlockKind.TABLE],
    )


def _section_tree(sections: tuple[Section, ...]) -> list[SectionOut]:
    nodes = {
        section.id: filled(
            SectionOut, section, start_page=section.page, start_offset=section.start, end_offset=section.end
        )
        for section in sections
    }
    roots: list[SectionOut] = []
    for section in sections:
        parent = nodes[section.parent_id].children if section.parent_id else roots
        parent.append(nodes[section.id])
    return roots


def _block_out(block: Block) -> BlockOut:
    return filled(BlockOut, block, start_offset=block.start, end_offset=block.end)


def _figures_out(version: DocumentVersion, blocks: tuple[Block, ...], markdown: str) -> list[FigureOut]:
    """List pictures, figures without one, and captions of neither, in document order."""
    stored = list(version.figures.all())
    shown = {row.start_offset for row in stored if row.start_offset is not None}
    by_start = {block.start: block for block in blocks}
    found = [_figure_out(by_start[row.start_offset], row) for row in stored if row.start_offset in by_start]
    for block in figures_without_picture(markdown, blocks, shown=shown):
        captioned = block.kind is BlockKind.CAPTION
        found.append(_figure_out(block, None, caption=markdown[block.start : block.end] if captioned else None))
    return sorted(found, key=lambda figure: figure.start_offset)


def _figure_out(block: Block, row: Figure | None, *, caption: str | None = None) -> FigureOut:
    return FigureOut(
        **_block_out(block).model_dump(exclude={"kind"}),
        kind=BlockKind.FIGURE,
        figure_id=row.public_id if row else None,
        caption=(row.caption or None) if row else caption,
        alt_text=(row.alt_text or None) if row else None,
        media_type=row.media_type if row else None,
        description=(row.description or None) if row else None,
        description_model=(row.description_model or None) if row else None,
    )
