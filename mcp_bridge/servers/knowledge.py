"""smartreviewer-knowledge: what curators keep, one module per subject, gathered here."""

from __future__ import annotations

from collections.abc import Callable

from mcp_bridge.server import HubServer, HubTool
from mcp_bridge.servers import knowledge_graph, knowledge_guidelines, knowledge_ontology

TOOLS: tuple[HubTool, ...] = (*knowledge_ontology.TOOLS, *knowledge_guidelines.TOOLS, *knowledge_graph.TOOLS)

# Each registers one subject's resources or prompts.
PARTS: tuple[Callable[[HubServer], None], ...] = (
    *knowledge_ontology.PARTS,
    *knowledge_guidelines.PARTS,
    *knowledge_graph.PARTS,
)
