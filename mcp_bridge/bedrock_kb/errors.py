"""A failed question as an MCP tool error."""

from __future__ import annotations

import json

from mcp.types import CallToolResult, TextContent

from knowledge.remote.bedrock_kb import ErrorType, KnowledgeBaseError


def failed_question(error: KnowledgeBaseError) -> CallToolResult:
    """Say it in words and as facts: {error, error_type, message, original}.

    The facts stand in the text, and in ``_meta``: structured content would have to follow the tool's output schema.
    """
    facts = error.as_dict()
    text = json.dumps(facts, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta={"hub/error": facts})


def invalid_argument(message: str) -> CallToolResult:
    """Say which argument can't be used."""
    return failed_question(KnowledgeBaseError(ErrorType.VALIDATION, message))
