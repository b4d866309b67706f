"""Listening to the event bus, against the embedded Valkey."""

from __future__ import annotations

import asyncio

import pytest

from hub.core import bus
from hub.core.valkey import ensure_queue

pytestmark = pytest.mark.anyio
# In turns of the event loop: before, while and after the client connects.
TURNS = (0, 1, 2, 3, 5, 8, 13, 30, 100)
ENDS_WITHIN_S = 5


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("turns", TURNS)
async def test_a_listener_ends_whenever_it_is_cancelled(turns):
    await asyncio.to_thread(ensure_queue)
    listener = asyncio.create_task(_listen())
    for _turn in range(turns):
        await asyncio.sleep(0)
    listener.cancel()
    _ended, listening = await asyncio.wait([listener], timeout=ENDS_WITHIN_S)
    for task in listening:
        task.cancel()
    assert not listening


async def _listen() -> None:
    async for _event in bus.subscribe("document:*"):
        pass
