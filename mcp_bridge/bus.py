"""From the hub's event bus to the clients of this process.

Work may run in any process; every server process listens to the hub's bus and tells its own subscribers.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, suppress

import redis
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ResourceUpdated

from hub.core import bus
from hub.core.embedded import EmbeddedServerError
from hub.core.servers import ensure_queue
from mcp_bridge import uris
from mcp_bridge.subscription_filter import Followers
from mcp_bridge.threads import in_thread

logger = logging.getLogger(__name__)

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
