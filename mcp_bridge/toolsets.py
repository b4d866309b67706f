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
            "get_section",
            "list_collections",
            "list_documents",
            "list_reviews",
            "upload_document",
            "review_document",
            "create_report",
            "check_text",
        }
    ),
    "review": frozenset({"get_review", "cancel_review", "get_check_items"}),
    "retrieval": frozenset({"vector_search", "hybrid_retrieve", "kb_answer"}),
    "knowledge": frozenset(
        {
            "graph_search",
            "query_knowledge_graph",
            "check_ontology_coverage",
            "reason_ontology",
            "get_guideline_mapping",
        }
    ),
    "operation": frozenset({"embed_document", "run_evaluation"}),
}
# What other servers of the hub list: check_ontology_coverage and list_collections do the same.
SECOND_NAMES = frozenset({"check_ontology", "get_document_count"})


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
    """Those of ``tools``, which the caller may use, that are in the toolsets, but no second name of one that is listed.

    kb_answer is listed where BEDROCK_KB_ID names a knowledge base; get_review also for who may read reviews and not
    start them, since review_document, which shows them too, is not listed then.
    """
    tools = set(tools)
    chosen = set(toolsets)
    named = set(tools) if ALL in chosen else set[str]().union(*(TOOLSETS[name] for name in chosen))
    if "review_document" in named - tools:
        named |= {"get_review"}
    return (named & tools) - SECOND_NAMES - (frozenset() if settings.CONFIG.bedrock_kb_id else {"kb_answer"})
