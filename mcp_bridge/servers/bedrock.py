"""Tools of mcp-bedrock-kb as the hub serves it, with tokens and scopes."""

from __future__ import annotations

from hub.access.principals import Scope
from knowledge.remote.bedrock_kb import DEFAULT_RESULTS
from knowledge.services.remote import ask_knowledge_base
from mcp_bridge.bedrock_kb import schemas
from mcp_bridge.caller import current_caller
from mcp_bridge.server import HubTool, hub_tool


def kb_answer(
    query: schemas.Query, max_results: schemas.MaxResults = DEFAULT_RESULTS, generate: schemas.Generate = None
) -> schemas.KbAnswerOut:
    answer = ask_knowledge_base(
        principal=current_caller().principal, query=query, max_results=max_results, generate=generate
    )
    return schemas.kb_answer_out(answer)


kb_answer.__doc__ = schemas.DESCRIPTION

TOOLS: tuple[HubTool, ...] = (
    hub_tool(kb_answer, title=schemas.TITLE, scope=Scope.SEARCH, picture="answer", open_world=True),
)
