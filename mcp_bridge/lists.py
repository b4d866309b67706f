"""The lists of tools, prompts and resources, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    Resource,
    ResourceTemplate,
    Tool,
)

from hub.access.principals import Principal
from hub.rest.pagination import KeysetPage, cursor_scope, decode_cursor, encode_cursor
from mcp_bridge.events import Kind

T = TypeVar("T")
PAGE_SIZE = 50

# Gives a page of what is stored: the cursor of the page before, or None for the first one.
Stored = Callable[[str | None], Awaitable[KeysetPage[Resource]]]
# Gives something that differs when what is stored for a caller has become another list.
StoredState = Callable[[Principal], Awaitable[object]]
# Is called when a client has asked for a list.
OnListed = Callable[[ServerRequestContext[Any, Any], Kind], Awaitable[None]]


class Lister(Protocol):
    """What a server has to list: everything of a kind, in an order that does not change between two pages."""

    async def list_tools(self) -> list[Tool]: ...
    async def list_prompts(self) -> list[Prompt]: ...
    async def list_resources(self) -> list[Resource]: ...
    async def list_resource_templates(self) -> list[ResourceTemplate]: ...


class PagedLists:
    """Answers the four list methods with pages of PAGE_SIZE. ``stored`` resources follow the fixed ones."""

    def __init__(self, source: Lister, *, on_listed: OnListed) -> None:
        self._source = source
        self._on_listed = on_listed
        self.stored: Stored | None = None
        self.stored_state: StoredState | None = None

    async def state_of_resources(self, principal: Principal) -> object:
        """Something that differs when the caller's list of resources has changed."""
        return None if self.stored_state is None else await self.stored_state(principal)

    def serve(self, server: Server[Any]) -> None:
        """Take the place of the handlers that give everything at once."""
        for method, handler in (
            ("tools/list", self._tools),
            ("prompts/list", self._prompts),
            ("resources/list", self._resources),
            ("resources/templates/list", self._templates),
        ):
            server.add_request_handler(method, PaginatedRequestParams, handler)

    # Each raises InvalidInput for a cursor of another list.
    async def _tools(self, ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams) -> ListToolsResult:
        page = paged(await self._source.list_tools(), cursor=params.cursor, name="tools")
        await self._on_listed(ctx, Kind.TOOLS)
        return ListToolsResult(tools=page.items, next_cursor=page.next_cursor)

    async def _prompts(self, ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams) -> ListPromptsResult:
        page = paged(await self._source.list_prompts(), cursor=params.cursor, name="prompts")
        await self._on_listed(ctx, Kind.PROMPTS)
        return ListPromptsResult(prompts=page.items, next_cursor=page.next_cursor)

    async def _templates(
        self, _ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams
    ) -> ListResourceTemplatesResult:
        page = paged(await self._source.list_resource_templates(), cursor=params.cursor, name="templates")
        return ListResourceTemplatesResult(resource_templates=page.items, next_cursor=page.next_cursor)

    async def _resources(
        self, ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams
    ) -> ListResourcesResult:
        """On the first page the fixed ones, and on each page what is stored."""
        await self._on_listed(ctx, Kind.RESOURCES)
        if self.stored is None:
            fixed = paged(await self._source.list_resources(), cursor=params.cursor, name="resources")
            return ListResourcesResult(resources=fixed.items, next_cursor=fixed.next_cursor)
        before = [] if params.cursor else await self._source.list_resources()
        page = await self.stored(params.cursor)
        return ListResourcesResult(resources=[*before, *page.items], next_cursor=page.next_cursor)


def paged(items: Sequence[T], *, cursor: str | None, name: str) -> KeysetPage[T]:
    """Take the page of a list in memory that starts behind ``cursor``. Raises InvalidInput for a foreign cursor."""
    scope = cursor_scope(f"mcp.{name}")
    start = int(decode_cursor(cursor, scope=scope)["start"]) if cursor else 0
    end = start + PAGE_SIZE
    following = encode_cursor({"start": end}, scope=scope) if len(items) > end else None
    return KeysetPage(items=list(items[start:end]), next_cursor=following)
