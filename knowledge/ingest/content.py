"""Storing what a parser returned, and reading it back as value objects."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from knowledge.models import DocumentVersion, VersionContent
from knowledge.structure import build_sections
from knowledge.types import Block, BlockKind, ParsedDocument, Section


def store_content(version: DocumentVersion, parsed: ParsedDocument) -> VersionContent:
    """Write the Markdown and structure of a version, replacing what an earlier try wrote."""
    sections = build_sections(parsed.markdown, parsed.blocks)
    content, _created = VersionContent.objects.update_or_create(
        version=version,
        defaults={
            "title": (parsed.title or "")[:500],
            "markdown": parsed.markdown,
            "blocks": [_compact(asdict(block)) for block in parsed.blocks],
            "sections": [_compact(asdict(section)) for section in sections],
            "pages": [asdict(page) for page in parsed.pages],
            "metadata": dict(parsed.metadata),
        },
    )
    return content


def blocks_of(content: VersionContent) -> tuple[Block, ...]:
    """The stored blocks, in document order."""
    return tuple(Block(**{**row, "kind": BlockKind(row["kind"])}) for row in content.blocks)


def sections_of(content: VersionContent) -> tuple[Section, ...]:
    """The stored sections, in document order."""
    return tuple(Section(**{"number": None, **row, "path": tuple(row["path"])}) for row in content.sections)


def _compact(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}
