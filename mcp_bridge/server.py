"""An MCP server of the hub: the SDK's, with scopes, the hub's errors and subscriptions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language
from mcp import MCPError
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import NotificationOptions
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import (
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    ToolAnnotations,
    UnsubscribeRequestParams,
)
from mcp.types import Tool as ListedTool
from pydantic import AnyHttpUrl, AnyUrl

from hub.access.principals import HubRight, Principal, Scope
from hub.core.errors import HubError
from hub.core.measures import UNKNOWN
from hub.core.tracing import span
from hub.rest.pagination import decode_cursor
from knowledge.collections import scopes_held
from knowledge.remote.bedrock_kb import KnowledgeBaseError
from mcp_bridge.bedrock_kb.schemas import failed_question
from mcp_bridge.caller import current_caller
from mcp_bridge.calls import Door, around_calls
from mcp_bridge.counting import count_call
from mcp_bridge.errors import (
    check_arguments,
    check_names,
    internal_error,
    protocol_error,
    to_hub_error,
    tool_error,
    unknown,
)
from mcp_bridge.events import Follower, Gate, Kind
from mcp_bridge.icons import icon
from mcp_bridge.lists import PagedLists
from mcp_bridge.pages import Place, place_of
from mcp_bridge.principal import HubTokenVerifier
from mcp_bridge.resource_pages import CURSOR_IN_ADDRESS, page_of_contents
from mcp_bridge.results import PagedCall, as_text, page_of_result
from mcp_bridge.schema_compaction import outlined, shortened, slim_input, slim_output
from mcp_bridge.subscriptions import GatedListen, HandshakeSubscriptions
from mcp_bridge.threads import in_stoppable_thread, in_thread
from mcp_bridge.toolsets import WITH_TOOLSETS, names_in

VERSION = "0.1.0"


# Makes the result of a refused call in a language.
Refused = Callable[[HubError, str | None], CallToolResult]
# From a call's arguments, and its result or nothing, to the call that reads on.
ReadOn = Callable[[Mapping[str, Any], Mapping[str, Any]], PagedCall]
CURSOR = {"type": "string", "maxLength": 4000, "description": "next_cursor"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HubTool:
    """A tool and the scope without which a caller neither sees it nor may call it.

    It is not listed to who lacks the ``right`` of the hub that it needs, or has none of the scopes ``held`` in any
    collection.
    ``names``: arguments that are listed under another name than the function's own, as its own by theirs.
    ``refused`` says what a call comes to that the hub refuses, where that differs from other tools. ``in_brief``
    chooses what a result says, unless the call asks for another ``detail`` than brief; ``in_text`` writes that shorter.
    ``read_on`` says which call gives the rest of a long result, from the call's arguments and, once there is one, the
    result. ``has_own_cursor``: the tool takes a cursor itself.
    """

    tool: Tool
    scope: Scope
    read_on: ReadOn
    has_own_cursor: bool
    refused: Refused | None = None
    in_brief: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    in_text: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    right: HubRight | None = None
    held: frozenset[Scope] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)

    def listed_as(self, **names: str) -> HubTool:
        """The same tool with arguments under other names, given as the new ones by the function's own.

        Calls may use either.
        """
        schema = self.tool.parameters
        properties = {names.get(name, name): one for name, one in schema["properties"].items()}
        required = [names.get(name, name) for name in schema.get("required", ())]
        tool = self.tool.model_copy(
            update={"parameters": {**schema, "properties": properties, **({"required": required} if required else {})}}
        )
        return replace(self, tool=tool, names={new: own for own, new in names.items()})


def hub_tool(
    function: Callable[..., Any],
    *,
    title: str,
    scope: Scope,
    picture: str,
    read_only: bool = True,
    destructive: bool = False,
    idempotent: bool = True,
    open_world: bool = False,
    arguments_like: Mapping[str, str] | None = None,
    refused: Refused | None = None,
    in_brief: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None,
    in_text: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None,
    read_on: ReadOn | None = None,
    result_like: str = "",
    right: HubRight | None = None,
    held: Iterable[Scope] = (),
) -> HubTool:
    """Make a tool of a typed function; its docstring is what a model reads. Blocking functions run in a thread.

    ``arguments_like`` names arguments that another tool of the same server describes, with its name. Tools that only
    read take a cursor, with which the same call reads on in a long result; ``read_on``: another call does.
    """
    is_async = inspect.iscoroutinefunction(function)
    tool = Tool.from_function(
        function if is_async else threaded(function),
        title=title,
        description=inspect.getdoc(function),
        icons=[icon(picture)],
        annotations=ToolAnnotations(
            read_only_hint=read_only,
            destructive_hint=destructive,
            idempotent_hint=idempotent,
            open_world_hint=open_world,
        ),
    )
    has_own_cursor = "cursor" in tool.parameters["properties"]
    if read_only and not has_own_cursor:
        tool.parameters["properties"]["cursor"] = CURSOR
    # HubServer.call_tool refuses what is not there
    tool.parameters = {
        **shortened(slim_input(tool.parameters), arguments_like or {}),
        "additionalProperties": False,
    }
    if tool.fn_metadata.output_schema is not None:
        like = {"type": "object", "description": f"as {result_like} gives it"}
        tool.fn_metadata.output_schema = like if result_like else outlined(slim_output(tool.fn_metadata.output_schema))
    return HubTool(
        tool=tool,
        scope=scope,
        read_on=read_on or partial(_same_call, tool.name, can_repeat=read_only),
        has_own_cursor=has_own_cursor,
        refused=refused,
        in_brief=in_brief,
        in_text=in_text,
        right=right,
        held=frozenset(held),
    )


def _same_call(name: str, given: Mapping[str, Any], _result: Mapping[str, Any], *, can_repeat: bool) -> PagedCall:
    arguments = {key: value for key, value in given.items() if key != "cursor"}
    return PagedCall(tool=name if can_repeat else None, name=name, arguments=arguments)


def threaded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an async function of a blocking one: the same signature, run in a thread, ended with its caller."""

    @functools.wraps(function)
    async def call(*args: object, **kwargs: object) -> Any:  # noqa: ANN401 - whatever the tool gives
        return await in_stoppable_thread(function, *args, **kwargs)

    return call


class HubServer(MCPServer[Any]):
    """One server object for one door; it serves both protocol eras.

    ``path_name`` is the server's name in URLs and commands. ``is_readable`` tells whether the running call's caller
    may read a resource: who may not can't subscribe to it either.
    """

    def __init__(
        self,
        *,
        path_name: str,
        name: str,
        title: str,
        instructions: str,
        tools: Sequence[HubTool],
        door: Door,
        is_readable: Gate,
    ) -> None:
        super().__init__(
            name=name,
            title=title,
            instructions=instructions,
            website_url=settings.CONFIG.public_url,
            version=VERSION,
            tools=[item.tool for item in tools],
            log_level="WARNING",
            request_state_security=RequestStateSecurity(keys=[request_state_key()]),
            subscriptions=door.events.bus,
            middleware=[around_calls(door, path_name)],
            token_verifier=None if door.is_local else HubTokenVerifier(door.tokens),
            auth=None if door.is_local else _auth_settings(path_name),
        )
        self.path_name = path_name
        self._hub_tools = {item.tool.name: item for item in tools}
        self._is_readable = is_readable
        self._follow = door.follow or (lambda: door.principal)
        self.streams = GatedListen(door.events, is_readable, self._new_follower)
        handshake = HandshakeSubscriptions(door.events, self._refuse_hidden, self._new_follower)
        self._serve_subscriptions(handshake)
        self.lists = PagedLists(self, on_listed=handshake.has_listed)
        self.lists.serve(self._lowlevel_server)

    def _serve_subscriptions(self, handshake: HandshakeSubscriptions) -> None:
        # MCPServer has no public way to these three methods.
        serve = self._lowlevel_server.add_request_handler
        serve("subscriptions/listen", SubscriptionsListenRequestParams, self.streams)
        serve("resources/subscribe", SubscribeRequestParams, handshake.subscribe)
        serve("resources/unsubscribe", UnsubscribeRequestParams, handshake.unsubscribe)
        # Nor to what the server announces in the handshake eras.
        announced = NotificationOptions(tools_changed=True, resources_changed=True, prompts_changed=True)
        options = partial(self._lowlevel_server.create_initialization_options, announced)
        self._lowlevel_server.create_initialization_options = options  # type: ignore[method-assign]

    def _new_follower(self) -> Follower:
        return Follower(source=self._follow(), offer=self._offer, gate=self._is_readable)

    async def _offer(self, kind: Kind, principal: Principal) -> object:
        if kind is Kind.RESOURCES:
            return await self.lists.state_of_resources(principal)
        if kind is Kind.PROMPTS:
            return None
        return await self._usable(principal)

    async def _usable(self, principal: Principal) -> frozenset[str]:
        """The tools that the caller's scopes and rights allow; at most one query for each scope in a collection."""
        allowed = [
            item
            for item in self._hub_tools.values()
            if principal.allows(item.scope) and (item.right is None or principal.may(item.right))
        ]
        scopes = frozenset[Scope]().union(*(item.held for item in allowed))
        held = await in_thread(scopes_held, principal, scopes) if scopes and not principal.is_superuser else scopes
        return frozenset(item.tool.name for item in allowed if not item.held or item.held & held)

    async def _refuse_hidden(self, uri: str) -> None:
        if not await self._is_readable(uri):
            raise await self._unknown_resource(uri)

    async def list_tools(self) -> list[ListedTool]:
        """The tools that the caller may use, of the toolsets that the caller asks for; see mcp_bridge.toolsets.

        One that is not listed may be called all the same.
        """
        caller = current_caller()
        listed: Collection[str] = await self._usable(caller.principal)
        if self.path_name == WITH_TOOLSETS:
            listed = names_in(caller.toolsets, listed)
        return [tool for tool in await super().list_tools() if tool.name in listed]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; what a model can repair comes back as a tool error.

        :raises MCPError: there is no such tool, or it failed for a reason inside the hub.
        """
        label, outcome = name if name in self._hub_tools else UNKNOWN, "error"
        with span(f"tool {label}") as traced:
            try:
                result = await self._call(name, arguments, context)
                outcome = "refused" if isinstance(result, CallToolResult) and result.is_error else "ok"
                return result
            finally:
                count_call(label, outcome)
                traced.note({"hub.outcome": outcome})

    async def _call(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None
    ) -> CallToolResult | InputRequiredResult:
        language = current_caller().language
        item = self._hub_tools.get(name)
        if item is None:
            raise unknown("tool", name, self._callable_names())
        try:
            current_caller().principal.require(item.scope)
            given = check_arguments(item.tool, arguments, item.names)
            call = item.read_on(given, {})
            place = place_of(given.get("cursor"), name=call.name, arguments=call.arguments)
            passed = {key: value for key, value in given.items() if key != "cursor"}
            if place.inner:
                passed["cursor"] = place.inner if item.has_own_cursor else decode_cursor(place.inner, scope="")
            return self._page(item, given, place, await super().call_tool(name, passed, context))
        except HubError as error:
            return item.refused(error, language) if item.refused else self._refusal(error, arguments)
        except ToolError as error:
            cause = error.__cause__ or error
            if isinstance(cause, KnowledgeBaseError):
                return failed_question(cause)
            expected = to_hub_error(cause)
            if expected is None:
                raise internal_error(cause, language=language) from error
            if expected.retryable:
                raise protocol_error(expected, language=language, tool=name) from error
            return self._refusal(expected, arguments)

    def _refusal(self, error: HubError, arguments: dict[str, Any]) -> CallToolResult:
        known = self._callable_names()
        return tool_error(error, language=current_caller().language, arguments=arguments, may_call=known.__contains__)

    def _callable_names(self) -> list[str]:
        principal = current_caller().principal
        return [name for name, item in self._hub_tools.items() if principal.allows(item.scope)]

    def _page(
        self, item: HubTool, given: dict[str, Any], place: Place, result: CallToolResult | InputRequiredResult
    ) -> CallToolResult | InputRequiredResult:
        """Take the page of a result that the call asks for, and write its text: see mcp_bridge.results."""
        if not isinstance(result, CallToolResult) or result.is_error or not result.structured_content:
            return result
        facts = result.structured_content
        is_brief = given.get("detail", "brief") == "brief"
        if item.in_brief is not None and is_brief:
            facts = item.in_brief(facts)
        call = item.read_on(given, facts)
        facts = page_of_result(facts, budget=settings.CONFIG.hub_mcp_output_chars, place=place, call=call)
        language = current_caller().language or get_language() or settings.LANGUAGE_CODE
        said = item.in_text(facts) if item.in_text is not None and is_brief else facts
        return result.model_copy(update={"content": [as_text(said, language=language)], "structured_content": facts})

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Write a prompt. Raises MCPError when it is not there or an argument is missing or unknown."""
        prompts = {prompt.name: prompt for prompt in await self.list_prompts()}
        if name not in prompts:
            raise unknown("prompt", name, sorted(prompts))
        known = {argument.name: bool(argument.required) for argument in prompts[name].arguments or []}
        check_names(set(arguments or {}), known=set(known), required={key for key, needed in known.items() if needed})
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as error:
            if (expected := _first_expected(error)) is not None:
                raise expected from error
            raise

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read a resource, or the page of it that a cursor in its address asks for.

        One that the caller may not see answers like one that is not there.
        """
        language = current_caller().language
        address, _, cursor = str(uri).partition(CURSOR_IN_ADDRESS)
        try:
            place = place_of(cursor, name=address, arguments={})
            read = await super().read_resource(address, context)
            return read if isinstance(read, InputRequiredResult) else page_of_contents(read, address, place)
        except HubError as error:
            raise protocol_error(error, language=language, uri=address) from error
        except ResourceNotFoundError as error:
            raise await self._unknown_resource(str(uri)) from error
        except ResourceError as error:
            cause = error.__cause__ or error
            expected = to_hub_error(cause)
            if expected is None:
                raise internal_error(cause, language=language) from error
            raise protocol_error(expected, language=language, uri=str(uri)) from error

    async def _unknown_resource(self, uri: str) -> MCPError:
        templates = [template.uri_template for template in await self.list_resource_templates()]
        known = [str(resource.uri) for resource in await self.list_resources()] + templates
        error = unknown("resource", uri, known)
        error.error.data["uri"] = uri
        return error


def _first_expected(error: BaseException) -> HubError | None:
    """Look along the causes of an exception for one that the hub knows."""
    cause: BaseException | None = error
    while cause is not None:
        if (expected := to_hub_error(cause)) is not None:
            return expected
        cause = cause.__cause__
    return None


def request_state_key() -> bytes:
    """32 bytes that every process of this deployment derives alike: any of them can open what another sealed."""
    return salted_hmac("hub.mcp.request_state", "", algorithm="sha256").digest()


def _auth_settings(path_name: str) -> AuthSettings:
    base = settings.CONFIG.public_url
    return AuthSettings(
        issuer_url=AnyHttpUrl(base),
        resource_server_url=AnyHttpUrl(f"{base}/mcp/{path_name}/"),
        validate_token_resource=False,  # the hub's own tokens are valid for all of its servers
    )
