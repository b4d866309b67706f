"""Tools of mcp-bedrock-kb as the hub serves it, with tokens and scopes."""

from __future__ import annotations

from mcp.types import CallToolResult

from hub.access.principals import Scope
from hub.core.errors import HubError, InvalidInput
from knowledge.remote.bedrock_kb import DEFAULT_RESULTS
from knowledge.search import ask_knowledge_base
from mcp_bridge.bedrock_kb import schemas
from mcp_bridge.bedrock_kb.schemas import invalid_argument
from mcp_bridge.caller import current_caller
from mcp_bridge.errors import in_words, tool_error
from mcp_bridge.server import HubTool, hub_tool


def kb_answer(
    query: schemas.Query, max_results: schemas.MaxResults = DEFAULT_RESULTS, generate: schemas.Generate = None
) -> schemas.KbAnswerOut:
    answer = ask_knowledge_base(
        principal=current_caller().principal, query=query, max_results=max_results, generate=generate
    )
    return schemas.kb_answer_out(answer)


kb_answer.__doc__ = schemas.DESCRIPTION


def _refused(error: HubError, language: str | None) -> CallToolResult:
    """A bad argument has an error_type as what Bedrock refuses has, here as on the light server."""
    if isinstance(error, InvalidInput):
        return invalid_argument(in_words(error, language))
    return tool_error(error, language=language)


TOOLS: tuple[HubTool, ...] = (
    hub_tool(kb_answer, title=schemas.TITLE, scope=Scope.SEARCH, picture="answer", open_world=True, refused=_refused),
)
