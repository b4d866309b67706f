"""Carry a parsed document, or the reason why there is none, from the child process to its parent as JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from knowledge.backends.parsers.errors import ParseError
from knowledge.types import Block, BlockKind, Notice, PageQuality, ParsedDocument


def dump_document(document: ParsedDocument) -> str:
    """Write a parsed document as JSON."""
    return json.dumps({"document": dataclasses.asdict(document)}, ensure_ascii=False)


def dump_error(error: ParseError) -> str:
    """Write a parse error as JSON."""
    return json.dumps({"error": {"code": error.code, "ja": error.ja, "en": error.en}}, ensure_ascii=False)


def load_outcome(text: str) -> ParsedDocument:
    """Read what the child wrote.

    :raises ParseError: the one that the child met.
    :raises ValueError: when the text is neither outcome.
    """
    outcome = json.loads(text)
    if "error" in outcome:
        error = outcome["error"]
        raise ParseError(error["code"], ja=error["ja"], en=error["en"])
    return _document(outcome["document"])


def _document(fields: dict[str, Any]) -> ParsedDocument:
    blocks = tuple(Block(**{**block, "kind": BlockKind(block["kind"])}) for block in fields["blocks"])
    return ParsedDocument(
        format=fields["format"],
        markdown=fields["markdown"],
        blocks=blocks,
        title=fields["title"],
        pages_count=fields["pages_count"],
        pages=tuple(PageQuality(**page) for page in fields["pages"]),
        notices=tuple(Notice(**notice) for notice in fields["notices"]),
        metadata=fields["metadata"],
    )
