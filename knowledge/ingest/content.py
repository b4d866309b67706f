"""Storing what a parser returned, and reading it back as value objects."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from knowledge.models import DocumentVersion, VersionContent
from knowledge.text.structure import build_sections
from knowledge.types.documents import Block, BlockKind, ParsedDocument, Section


def content_of(version: DocumentVersion, parsed: ParsedDocument) -> VersionContent:
    """Make the Markdown and structure of a version; nothing is stored yet."""
    sections = build_sections(parsed.markdown, parsed.blocks)
    return VersionContent(
        version=version,
        title=(parsed.title or "")[:500],
        markdown=parsed.markdown,
        blocks=[_compact(block) for block in parsed.blocks],
        sections=[_compact(section) for section in sections],
        pages=[asdict(page) for page in parsed.pages],
        metadata=dict(parsed.metadata),
    )


def store_content(content: VersionContent) -> None:
    """Write the Markdown and structure of a version, replacing what an earlier try wrote."""
    VersionContent.objects.bulk_create(
        [content],
        update_conflicts=True,
        unique_fields=["version"],
        update_fields=["title", "markdown", "blocks", "sections", "pages", "metadata"],
    )


def blocks_of(content: VersionContent) -> tuple[Block, ...]:
    """The stored blocks, in document order."""
    return tuple(Block(**{**row, "kind": BlockKind(row["kind"])}) for row in content.blocks)


def sections_of(content: VersionContent) -> tuple[Section, ...]:
    """The stored sections, in document order."""
    return tuple(Section(**{"number": None, **row, "path": tuple(row["path"])}) for row in content.sections)


def _compact(part: Block | Section) -> dict[str, Any]:
    # Not `asdict`: it copies what is in the fields too, and a large table has thousands of blocks.
    return {field.name: value for field in fields(part) if (value := getattr(part, field.name)) is not None}
