"""News for clients of both protocol eras: resources that they subscribed to, and their own lists."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import anyio
from django.utils.translation import gettext_lazy as _
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.types import (
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from hub.core.errors import Unauthenticated
from mcp_bridge.caller import current_caller
from mcp_bridge.events import EventBridge, Follower, Gate, Kind

# Makes the follower of the client whose request is running.
NewFollower = Callable[[], Follower]
_streaming: ContextVar[Follower] = ContextVar("hub_mcp_streaming")


class _FollowedBus:
    """The bus as one stream of 2026-07-28 sees it: less what its client may not hear, and more when its lists change.

    The SDK subscribes inside of the stream's own call, which is how its follower is found.
    """

    def __init__(self, events: EventBridge) -> None:
        self._events = events

    async def publish(self, event: ServerEvent) -> None:
        await self._events.bus.publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        follower = _streaming.get()
        follower.notify = listener
        relay = _Relay(follower, listener)
        leave = self._events.bus.subscribe(relay.take)

        def stop() -> None:
            leave()
            relay.stop()

        return stop


class _Relay:
    """Passes events on to one stream in their order, each after its client's rights have been asked for again."""

    def __init__(self, follower: Follower, listener: Callable[[ServerEvent], None]) -> None:
        self._follower = follower
        self._listener = listener
        self._waiting: deque[ServerEvent] = deque()
        self._task: asyncio.Task[None] | None = None

    def take(self, event: ServerEvent) -> None:
        """Pass on what the client asked for, soon."""
        if isinstance(event, ResourceUpdated) and event.uri not in self._follower.uris:
            return
        self._waiting.append(event)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._pass_on())

    def stop(self) -> None:
        """Pass nothing on any more."""
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()

    async def _pass_on(self) -> None:
        while self._waiting:
            event = self._waiting.popleft()
            if await self._follower.may_hear_now(event):
                self._listener(event)


class GatedListen(ListenHandler):
    """``subscriptions/listen`` that honours only the URIs that the caller may read; the others are left out."""

    def __init__(self, events: EventBridge, is_readable: Gate, new_follower: NewFollower) -> None:
        super().__init__(_FollowedBus(events))
        self._events = events
        self._is_readable = is_readable
        self._new_follower = new_follower

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one stream until the client leaves, its token ends (Unauthenticated) or ``close`` is called."""
        wanted = params.notifications
        readable = [uri for uri in dict.fromkeys(wanted.resource_subscriptions or []) if await self._is_readable(uri)]
        follower = self._new_follower()
        follower.uris.update(readable)
        for kind, is_wanted in (
            (Kind.TOOLS, wanted.tools_list_changed),
            (Kind.RESOURCES, wanted.resources_list_changed),
        ):
            if is_wanted:
                await follower.knows(kind, current_caller().principal)
        if readable or wanted.tools_list_changed or wanted.resources_list_changed or wanted.prompts_list_changed:
            await self._events.start()
        honoured = wanted.model_copy(update={"resource_subscriptions": readable or None})
        return await self._stream(ctx, params.model_copy(update={"notifications": honoured}), follower)

    async def _stream(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams, follower: Follower
    ) -> SubscriptionsListenResult:
        leave, token = self._events.followers.add(follower), _streaming.set(follower)
        try:
            with anyio.CancelScope() as scope:
                follower.end = scope.cancel
                return await super().__call__(ctx, params)
        finally:
            _streaming.reset(token)
            leave()
        raise Unauthenticated(_("The access token is unknown, expired or revoked. Ask an administrator for a new one."))


class HandshakeSubscriptions:
    """What the eras before 2026-07-28 hear of: resources that they subscribe to, and the lists that they asked for."""

    def __init__(
        self, events: EventBridge, refuse_hidden: Callable[[str], Awaitable[None]], new_follower: NewFollower
    ) -> None:
        self._events = events
        self._refuse_hidden = refuse_hidden
        self._new_follower = new_follower

    async def subscribe(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """Tell this connection of changes to a resource. Raises MCPError when the caller may not read it."""
        uri = str(params.uri)
        await self._refuse_hidden(uri)
        await self._events.start()
        self._subscriber(ctx).follower.uris.add(uri)
        return EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """Say no more about a resource; unknown ones are no error."""
        self._subscriber(ctx).follower.uris.discard(str(params.uri))
        return EmptyResult()

    async def has_listed(self, ctx: ServerRequestContext[Any, Any], kind: Kind) -> None:
        """Tell this connection when the list that it asked for now changes. The later era asks for that itself."""
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            self._events.begin()
            await self._subscriber(ctx).follower.knows(kind, current_caller().principal)

    def _subscriber(self, ctx: ServerRequestContext[Any, Any]) -> _Subscriber:
        connection = ctx.session._connection  # the SDK has no public way from a request to it
        subscriber = connection.state.get(_Subscriber.KEY)
        if subscriber is None:
            subscriber = _Subscriber(connection, self._events, self._new_follower())
            connection.state[_Subscriber.KEY] = subscriber
            connection.exit_stack.push_async_callback(subscriber.aclose)
        return subscriber


class _Subscriber:
    """One connection of the handshake eras. Changes that come faster than it reads are told once."""

    KEY = "hub.subscriber"

    def __init__(self, connection: Connection, events: EventBridge, follower: Follower) -> None:
        self.follower = follower
        self._connection = connection
        self._pending: dict[ServerEvent, None] = {}
        self._sender: asyncio.Task[None] | None = None
        follower.notify = self._notify
        self._leave = (events.bus.subscribe(self._on_event), events.followers.add(follower))

    def _on_event(self, event: ServerEvent) -> None:
        if self.follower.may_hear(event) and self._wants(event):
            self._notify(event)

    def _wants(self, event: ServerEvent) -> bool:
        match event:
            case ResourceUpdated(uri=uri):
                return uri in self.follower.uris
            case PromptsListChanged():
                return self.follower.has_listed(Kind.PROMPTS)
        return False  # the follower tells of the other lists

    def _notify(self, event: ServerEvent) -> None:
        self._pending[event] = None
        if self._sender is None or self._sender.done():
            self._sender = asyncio.get_running_loop().create_task(self._send_pending())

    async def _send_pending(self) -> None:
        while self._pending:
            event = next(iter(self._pending))
            del self._pending[event]
            match event:
                case ResourceUpdated(uri=uri):
                    if await self.follower.may_hear_now(event):
                        await self._connection.send_resource_updated(uri)
                case ToolsListChanged():
                    await self._connection.send_tool_list_changed()
                case ResourcesListChanged():
                    await self._connection.send_resource_list_changed()
                case PromptsListChanged():
                    await self._connection.send_prompt_list_changed()

    async def aclose(self) -> None:
        """Let go of the bus; what is pending is dropped."""
        for leave in self._leave:
            leave()
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.wait([self._sender])
