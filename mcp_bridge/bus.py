"""From the hub's event bus to resource subscriptions of both protocol eras.

Work may run in any process; every server process listens to the hub's bus and tells its own subscribers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any

import redis
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourceUpdated,
    ServerEvent,
)
from mcp.types import (
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from hub.core import bus
from hub.core.embedded import EmbeddedServerError
from hub.core.servers import ensure_queue
from mcp_bridge import uris
from mcp_bridge.threads import in_thread

logger = logging.getLogger(__name__)

LISTENING_WITHIN_S = 3.0
RETRY_S = 2.0

Gate = Callable[[str], Awaitable[bool]]


def have_queue() -> bool:
    """Start the embedded queue where one is needed; False (and a log line) when there is none to be had.

    Nothing is lost without it: what is to be done stands in the database. Only news of it go astray.
    """
    try:
        ensure_queue()
    except EmbeddedServerError as error:
        logger.warning("no queue, so nobody hears of changes: %s", error)
        return False
    return True


class EventBridge:
    """One listener to the hub's events per process; all its servers publish from ``bus``."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._listening = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen from now on; comes back when events arrive, or after three seconds without a bus. Repeatable."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen_forever(), name="mcp-events")
        with suppress(TimeoutError):
            await asyncio.wait_for(self._listening.wait(), LISTENING_WITHIN_S)

    async def aclose(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _listen_forever(self) -> None:
        await in_thread(have_queue)
        while True:
            try:
                await self._listen()
            except redis.RedisError as error:
                logger.warning("the event bus is away, trying again: %s", error)
            self._listening.clear()
            await asyncio.sleep(RETRY_S)

    async def _listen(self) -> None:
        topics = [uris.PROMPTS_TOPIC, *(f"{kind}:*" for kind in uris.OF_TOPIC)]
        async with aclosing(bus.subscribe(*topics)) as events:
            async for message in events:
                self._listening.set()  # the first item confirms the subscription
                if message is not None:
                    await self._publish(message[0])

    async def _publish(self, topic: str) -> None:
        if topic == uris.PROMPTS_TOPIC:
            await self.bus.publish(PromptsListChanged())
            return
        kind, _colon, public_id = topic.partition(":")
        for prefix in uris.OF_TOPIC[kind]:
            await self.bus.publish(ResourceUpdated(uri=prefix + public_id))


class GatedListen(ListenHandler):
    """``subscriptions/listen`` that honours only the URIs that the caller may read; the others are left out."""

    def __init__(self, events: EventBridge, is_readable: Gate) -> None:
        super().__init__(events.bus)
        self._events = events
        self._is_readable = is_readable

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one stream until the client leaves or ``close`` is called."""
        wanted = params.notifications.resource_subscriptions or []
        readable = [uri for uri in dict.fromkeys(wanted) if await self._is_readable(uri)]
        if readable or params.notifications.prompts_list_changed:
            await self._events.start()
        honoured = params.notifications.model_copy(update={"resource_subscriptions": readable or None})
        return await super().__call__(ctx, params.model_copy(update={"notifications": honoured}))


class HandshakeSubscriptions:
    """``resources/subscribe`` and ``resources/unsubscribe`` of the eras before 2026-07-28."""

    def __init__(self, events: EventBridge, refuse_hidden: Callable[[str], Awaitable[None]]) -> None:
        self._events = events
        self._refuse_hidden = refuse_hidden

    async def subscribe(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """Tell this connection of changes to a resource. Raises MCPError when the caller may not read it."""
        uri = str(params.uri)
        await self._refuse_hidden(uri)
        await self._events.start()
        self._subscriber(ctx).uris.add(uri)
        return EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """Say no more about a resource; unknown ones are no error."""
        self._subscriber(ctx).uris.discard(str(params.uri))
        return EmptyResult()

    def _subscriber(self, ctx: ServerRequestContext[Any, Any]) -> _Subscriber:
        connection = ctx.session._connection  # the SDK has no public way from a request to it
        subscriber = connection.state.get(_Subscriber.KEY)
        if subscriber is None:
            subscriber = _Subscriber(connection, self._events.bus)
            connection.state[_Subscriber.KEY] = subscriber
            connection.exit_stack.push_async_callback(subscriber.aclose)
        return subscriber


class _Subscriber:
    """The resources that one connection wants to hear of. Changes that come faster than it reads are told once."""

    KEY = "hub.subscriber"

    def __init__(self, connection: Connection, events: InMemorySubscriptionBus) -> None:
        self.uris: set[str] = set()
        self._connection = connection
        self._pending: dict[str, None] = {}
        self._sender: asyncio.Task[None] | None = None
        self._leave = events.subscribe(self._on_event)

    def _on_event(self, event: ServerEvent) -> None:
        if not isinstance(event, ResourceUpdated) or event.uri not in self.uris:
            return
        self._pending[event.uri] = None
        if self._sender is None or self._sender.done():
            self._sender = asyncio.get_running_loop().create_task(self._send_pending())

    async def _send_pending(self) -> None:
        while self._pending:
            uri = next(iter(self._pending))
            del self._pending[uri]
            await self._connection.send_resource_updated(uri)

    async def aclose(self) -> None:
        """Let go of the bus; what is pending is dropped."""
        self._leave()
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.wait([self._sender])
