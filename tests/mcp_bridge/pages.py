"""Long results read page by page, as a client does."""

from __future__ import annotations

from typing import Any

from mcp import Client

REVIEWS = ("review_document", "get_review", "cancel_review")


async def read_whole(client: Client, tool: str, arguments: dict[str, Any], *, budget: int = 20_000) -> dict[str, Any]:
    """Call a tool and read on until there is no more; gives its result in one piece."""
    page = await _page(client, tool, arguments, budget)
    whole = page
    while "left_out" in page:
        if tool in REVIEWS:
            tool, arguments = "get_review", {"review_id": page["review_id"], "detail": arguments["detail"]}
        page = await _page(client, tool, {**arguments, "cursor": page["next_cursor"]}, budget)
        whole = _joined(whole, page)
    return {name: value for name, value in whole.items() if name != "left_out"}


async def _page(client: Client, tool: str, arguments: dict[str, Any], budget: int) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    (text,) = (item.text for item in result.content if item.type == "text")
    assert len(text) <= budget
    assert result.structured_content is not None
    return result.structured_content


def _joined(before: Any, after: Any) -> Any:
    if isinstance(before, list):
        return before + after
    if isinstance(before, dict):
        names = [*before, *(name for name in after if name not in before)]
        return {
            name: _joined(before.get(name, after.get(name)), after[name])
            if name in before and name in after
            else before.get(name, after.get(name))
            for name in names
            if name != "next_cursor"
        }
    return after
