"""Which tools the hub server lists: a model reads the list before anything else, and chooses better from few.

The other servers list all of their tools. A tool that is not listed may be called all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.config import MCP_TOOLSETS as NAMES
from hub.core.errors import InvalidInput

WITH_TOOLSETS = "hub"
ALL = "all"
TOOLSETS: dict[str, frozenset[str]] = {
    "default": frozenset(
        {
            "search",
            "answer",
            "list_documents",
            "upload_document",
            "review_document",
            "get_review",
            "create_report",
            "get_check_items",
            "check_text",
        }
    ),
    "review": frozenset({"cancel_review"}),
    "retrieval": frozenset({"vector_search", "hybrid_retrieve", "get_document_count", "kb_answer"}),
    "knowledge": frozenset(
        {
            "graph_search",
            "query_knowledge_graph",
            "check_ontology_coverage",
            "check_ontology",
            "reason_ontology",
            "get_guideline_mapping",
        }
    ),
    "operation": frozenset({"embed_document", "run_evaluation"}),
}


def read_toolsets(given: str) -> tuple[str, ...]:
    """Read names with commas between them. Raises InvalidInput that names the known ones."""
    names = tuple(name for part in given.split(",") if (name := part.strip()))
    if unknown := [name for name in names if name not in NAMES]:
        raise InvalidInput(
            _("There is no toolset {names}. Known: {known}."),
            field="toolsets",
            code="unknown_toolset",
            names=", ".join(unknown)[:200],
            known=", ".join(NAMES),
        )
    return names


def names_in(toolsets: Iterable[str], tools: Iterable[str]) -> Set[str]:
    """Those of ``tools`` that are in the toolsets; kb_answer only where BEDROCK_KB_ID names a knowledge base."""
    chosen = set(toolsets)
    wanted = set(tools) if ALL in chosen else set().union(*(TOOLSETS[name] for name in chosen)) & set(tools)
    return wanted if settings.CONFIG.bedrock_kb_id else wanted - {"kb_answer"}
