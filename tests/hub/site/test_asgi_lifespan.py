"""What a web process does between its start and its first request."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest

from hub.core.processes import REQUESTS
from hub.site.asgi import Hub


@pytest.fixture
def as_it_was() -> Iterator[None]:
    """Undo what a start changes in a process."""
    threshold = gc.get_threshold()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)
    for number, handler in handlers.items():
        signal.signal(number, handler)


async def start_and_stop() -> tuple[int, int, int]:
    """Run a process's lifespan; gives how often Python looks for cycles after the start."""
    thresholds = []

    async def receive() -> dict[str, Any]:
        return {"type": "lifespan.startup"}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "lifespan.startup.complete":
            thresholds.append(gc.get_threshold())

    await Hub()({"type": "lifespan"}, receive, send)
    return thresholds[0]


@pytest.mark.usefixtures("queue", "as_it_was")
def test_a_web_process_does_not_look_at_all_its_objects_again_and_again() -> None:
    gc.unfreeze()
    assert asyncio.run(start_and_stop()) == REQUESTS
    assert gc.get_freeze_count() > 100_000
