"""From the hub's event bus to the clients of this process, each as far as its rights go when the event comes.

Work may run in any process; every server process listens to the hub's bus and publishes to its own subscribers. Events
only say that something changed somewhere. Every client hears no more than what concerns itself: that its own lists
changed, and nothing of a resource that it may no longer read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from enum import StrEnum

import redis
from django.db import InterfaceError, OperationalError
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from hub.access.principals import Principal
from hub.core import bus
from hub.core.embedded import EmbeddedServerError
from hub.core.errors import Unauthenticated, Unavailable
from hub.core.valkey import ensure_queue
from mcp_bridge import uris
from mcp_bridge.caller import Caller, caller_context
from mcp_bridge.principal import PrincipalSource
from mcp_bridge.threads import in_thread

logger = logging.getLogger(__name__)

SETTLE_S = 0.3  # a change of rights is several rows, an upload several events
RECHECK_S = 15.0  # tokens expire and providers take back their word without an event, and events may be lost


class Kind(StrEnum):
    """A list that a client may hold. Prompts are the same for everybody: the bus itself tells when they change."""

    TOOLS = "tools"
    RESOURCES = "resources"
    PROMPTS = "prompts"


CHANGED: dict[Kind, ServerEvent] = {
    Kind.TOOLS: ToolsListChanged(),
    Kind.RESOURCES: ResourcesListChanged(),
    Kind.PROMPTS: PromptsListChanged(),
}

# Gives what stands in a list of a caller, as something that can be compared.
Offer = Callable[[Kind, Principal], Awaitable[object]]
Gate = Callable[[str], Awaitable[bool]]


def _nothing() -> None:
    """What is called where nobody wants to know."""


class Follower:
    """One client: the lists that it knows, and the resources that it wants to hear of.

    ``source`` asks again who calls, ``notify`` is called with the changes of lists, ``end`` when its token has ended.
    """

    def __init__(self, *, source: PrincipalSource, offer: Offer, gate: Gate) -> None:
        self.uris: set[str] = set()
        self.notify: Callable[[ServerEvent], None] | None = None
        self.end: Callable[[], None] = _nothing
        self._source = _ended_with_provider(source)
        self._offer = offer
        self._gate = gate
        self._known: dict[Kind, object] = {}
        self._hidden: frozenset[str] = frozenset()
        self._is_over = False

    async def knows(self, kind: Kind, principal: Principal) -> None:
        """Remember that the client has this list as it is now."""
        self._known[kind] = await self._offer(kind, principal)

    def has_listed(self, kind: Kind) -> bool:
        """Whether the client has this list."""
        return kind in self._known

    def may_hear(self, event: ServerEvent) -> bool:
        """Whether an event of the bus may be passed on."""
        return not self._is_over and not (isinstance(event, ResourceUpdated) and event.uri in self._hidden)

    async def may_hear_now(self, event: ServerEvent) -> bool:
        """Whether an event may be passed on at this moment: who calls, and what they may read, is asked again.

        Where the token has ended, nothing is told any more. Events that name no resource say nothing of it.
        """
        if not isinstance(event, ResourceUpdated) or not self.may_hear(event):
            return self.may_hear(event)
        try:
            principal = await self._source()
            with caller_context(Caller(principal=principal)):
                return await self._gate(event.uri)
        except Unauthenticated:
            self._over()
        except (OperationalError, InterfaceError) as error:
            logger.warning("a client is not told of a change, since nobody can say whether it may be: %s", error)
        return False

    async def check(self) -> None:
        """Look again: tell which lists changed, hide what is no longer readable, end where the token did."""
        if self._is_over:
            return
        try:
            principal = await self._source()
            with caller_context(Caller(principal=principal)):
                self._hidden = frozenset([uri for uri in self.uris if not await self._gate(uri)])
            for kind, before in list(self._known.items()):
                await self.knows(kind, principal)
                if self._known[kind] != before:
                    self._notify(kind)
        except Unauthenticated:
            self._over()
        except (OperationalError, InterfaceError) as error:
            logger.warning("what a client may use is looked at again later: %s", error)

    def _over(self) -> None:
        if self._is_over:
            return
        for kind in self._known:
            self._notify(kind)
        self._is_over = True
        self.end()

    def _notify(self, kind: Kind) -> None:
        if self.notify is not None:
            self.notify(CHANGED[kind])


def _ended_with_provider(source: PrincipalSource) -> PrincipalSource:
    """A source for open streams: one whose identity provider has not answered for too long has ended."""

    async def again() -> Principal:
        try:
            return await source()
        except Unavailable as error:
            raise Unauthenticated(str(error)) from error

    return again


class Followers:
    """All clients of this process that hold something; one task looks after them."""

    def __init__(self) -> None:
        self._all: set[Follower] = set()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def add(self, follower: Follower) -> Callable[[], None]:
        """Look after a client from now on; call what comes back when it has left."""
        self._all.add(follower)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="mcp-followers")
        return lambda: self._all.discard(follower)

    def wake(self) -> None:
        """Something changed: look soon."""
        self._wake.set()

    async def aclose(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), RECHECK_S)
            await asyncio.sleep(SETTLE_S)
            self._wake.clear()
            for follower in list(self._all):
                await follower.check()


LISTENING_WITHIN_S = 3.0
RETRY_S = 2.0


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
        self.followers = Followers()
        self._listening = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Listen from now on, as soon as there is a bus. Repeatable."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen_forever(), name="mcp-events")

    async def start(self) -> None:
        """Listen from now on; comes back when events arrive, or after three seconds without a bus. Repeatable.

        Starts the embedded queue where one is needed.
        """
        if not self._listening.is_set():
            await in_thread(have_queue)
        self.begin()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._listening.wait(), LISTENING_WITHIN_S)

    async def aclose(self) -> None:
        """Stop listening."""
        await self.followers.aclose()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _listen_forever(self) -> None:
        while True:
            try:
                await self._listen()
            except redis.RedisError as error:
                was_there = self._listening.is_set()
                logger.log(logging.WARNING if was_there else logging.DEBUG, "the event bus is away: %s", error)
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
        if kind in uris.CHANGES_LISTS:
            self.followers.wake()
        for prefix in uris.OF_TOPIC[kind]:
            await self.bus.publish(ResourceUpdated(uri=prefix + public_id))
