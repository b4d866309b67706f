"""The MCP servers by the names that stand in URLs and commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mcp_bridge.calls import Door
from mcp_bridge.server import HubServer, HubTool
from mcp_bridge.servers import bedrock, core, instructions, knowledge, rag
from mcp_bridge.servers.completions import add_completions
from mcp_bridge.servers.prompts import add_core_prompts, add_rag_prompts
from mcp_bridge.servers.resources import add_core_resources, add_rag_resources, is_readable


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """What makes one server; ``name`` is the serverInfo's."""

    name: str
    title: str
    instructions: str
    tools: Sequence[HubTool]
    parts: Sequence[Callable[[HubServer], None]]


_CORE = Blueprint(
    name="smartreviewer-core",
    title="SmartReviewer Core (文書レビュー)",
    instructions=instructions.CORE,
    tools=core.TOOLS,
    parts=(add_core_resources, add_core_prompts),
)
_RAG = Blueprint(
    name="smartreviewer-rag",
    title="SmartReviewer RAG (文書検索)",
    instructions=instructions.RAG,
    tools=rag.TOOLS,
    parts=(add_rag_resources, add_rag_prompts),
)
_KNOWLEDGE = Blueprint(
    name="smartreviewer-knowledge",
    title="SmartReviewer Knowledge (知識)",
    instructions=instructions.KNOWLEDGE,
    tools=knowledge.TOOLS,
    parts=knowledge.PARTS,
)
_BEDROCK = Blueprint(
    name="mcp-bedrock-kb",
    title="Amazon Bedrock Knowledge Base (ナレッジベース検索)",
    instructions=instructions.BEDROCK,
    tools=bedrock.TOOLS,
    parts=(),
)
_HUB = Blueprint(
    name="hub",
    title="Knowledge hub (文書レビューと検索)",
    instructions=instructions.HUB,
    tools=(*_CORE.tools, *_RAG.tools, *_KNOWLEDGE.tools, *_BEDROCK.tools),
    parts=(*_CORE.parts, *_RAG.parts, *_KNOWLEDGE.parts),
)

SERVERS = {"core": _CORE, "rag": _RAG, "knowledge": _KNOWLEDGE, "bedrock-kb": _BEDROCK, "hub": _HUB}


def build_server(path_name: str, door: Door) -> HubServer:
    """Make the server ``path_name`` (a key of SERVERS) for one door: one transport of one process."""
    blueprint = SERVERS[path_name]
    server = HubServer(
        path_name=path_name,
        name=blueprint.name,
        title=blueprint.title,
        instructions=blueprint.instructions,
        tools=blueprint.tools,
        door=door,
        is_readable=is_readable,
    )
    for add in blueprint.parts:
        add(server)
    add_completions(server)
    return server
