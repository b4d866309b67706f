"""How much a request may list: keys and list items of its JSON, counted before anything is made of them.

A request of four megabytes may be one long text, which costs little, or half a million keys, each of which becomes
objects of the protocol on the event loop that all callers share.
"""

from __future__ import annotations

import json
from collections import deque

from hub.core.asgi import Message, Receive
from hub.core.bounds import levels

MOST_ENTRIES = 3000
# Below this no request has enough of them to matter.
LOOKED_AT_BYTES = 16 * 1024


class TooManyEntries(Exception):
    """A request lists more than MOST_ENTRIES keys and items."""


async def with_few_entries(receive: Receive, *, most_bytes: int) -> Receive:
    """Read a request's body and give a ``receive`` that brings it again.

    A body of more than ``most_bytes`` is passed on as it comes, for the server to refuse.

    :raises TooManyEntries: see there.
    """
    messages: deque[Message] = deque()
    size, is_more = 0, True
    while is_more and size <= most_bytes:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        is_more = message["type"] == "http.request" and message.get("more_body", False)
    if LOOKED_AT_BYTES < size <= most_bytes:
        _check(b"".join(message.get("body", b"") for message in messages))

    async def again() -> Message:
        return messages.popleft() if messages else await receive()

    return again


def _check(body: bytes) -> None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return  # the server says what is wrong with it
    entries = 0
    for level in levels(value):
        entries += len(level)
        if entries > MOST_ENTRIES:
            raise TooManyEntries
