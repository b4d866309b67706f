"""Tools and resources of smartreviewer-knowledge on guidelines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, Field

from hub.access.principals import Scope
from knowledge.guidelines import editions
from knowledge.guidelines.schemas import article_out
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.server import HubServer, HubTool, hub_tool
from mcp_bridge.servers.resources import add_resource
from review import mappings
from review.mappings import MappingOut


class MappingResult(BaseModel):
    mappings: list[MappingOut]


def get_guideline_mapping(
    guideline_article: Annotated[
        str, Field(max_length=60, description="code of an article (条項), for instance PG-1.3; empty: all")
    ] = "",
    check_item_id: Annotated[
        str, Field(max_length=20, description="code of a check item (チェック項目), for instance BD-B01; empty: all")
    ] = "",
    include_rationale: Annotated[bool, Field(description="also say why the check item rests on the article")] = True,
) -> MappingResult:
    """See which check items (チェック項目) rest on which guideline articles (ガイドライン条項), and why.

    Use it to explain a check by its guideline (チェックの根拠となる条項・規程), or to find what is checked of an
    article (条項から見たチェック項目). relation is direct (the item checks what the article says), indirect (it serves
    it) or derived (it was concluded from it). suspect is true when the article changed and no curator has looked at
    the check item since. Read an article's text from the resource smartreviewer-knowledge://guidelines/{id}.
    """
    principal = current_caller().principal
    found = mappings.list_mappings(
        principal, article=guideline_article, check_item=check_item_id, with_rationale=include_rationale
    )
    return MappingResult(mappings=found)


def read_guideline(id: str) -> dict[str, Any]:
    """A guideline article (ガイドライン条項): text, required elements, source, check items that rest on it."""
    article = editions.get_article(current_caller().principal, id)
    related = editions.check_items_of([article.code]).get(article.code, [])
    return article_out(article, related_check_items=related).model_dump(mode="json")


def add_guideline_resources(server: HubServer) -> None:
    """Register the articles."""
    add_resource(
        server, uris.GUIDELINES + "{id}", read_guideline, title="Guideline article (ガイドライン条項)", picture="list"
    )


TOOLS: tuple[HubTool, ...] = (
    hub_tool(
        get_guideline_mapping,
        title="Guideline mapping (ガイドライン対応)",
        scope=Scope.READ,
        picture="check",
    ),
)

PARTS: tuple[Callable[[HubServer], None], ...] = (add_guideline_resources,)
