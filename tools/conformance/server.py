"""The fixture server as one object, and the memory that lets its clients resume a broken stream."""

from __future__ import annotations

from itertools import count
from typing import Any

from mcp.server.mcpserver import MCPServer, RequestStateSecurity
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import JSONRPCMessage

from hub.core.asgi import AsgiApp
from mcp_bridge.icons import icon
from tools.conformance.content import add_content, schema_tool
from tools.conformance.handshake import add_handshake
from tools.conformance.reading import add_reading
from tools.conformance.rounds import add_rounds

RETRY_MS = 100  # how soon a client comes back for the rest of a stream that was closed
MAX_EVENTS = 10_000


class Events(EventStore):
    """The last events of all streams, in memory."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._events: dict[EventId, tuple[StreamId, JSONRPCMessage | None]] = {}

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Keep an event; the oldest is forgotten when there are too many."""
        event_id = str(next(self._numbers))
        self._events[event_id] = (stream_id, message)
        if len(self._events) > MAX_EVENTS:
            del self._events[next(iter(self._events))]
        return event_id

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        """Send what came after an event on its stream; None when the event is unknown."""
        if last_event_id not in self._events:
            return None
        stream_id = self._events[last_event_id][0]
        later = list(self._events)[list(self._events).index(last_event_id) + 1 :]
        for event_id in later:
            owner, message = self._events[event_id]
            if owner == stream_id and message is not None:
                await send_callback(EventMessage(message, event_id))
        return stream_id


def build_fixture(state_key: bytes) -> MCPServer[Any]:
    """Make the fixture server. It asks for no token, and nothing that it serves is of the hub."""
    server: MCPServer[Any] = MCPServer(
        name="hub-conformance",
        title="Conformance fixture",
        version="1.0",
        instructions="Canned answers for the conformance suite.",
        icons=[icon("search")],
        tools=[schema_tool()],
        log_level="WARNING",
        request_state_security=RequestStateSecurity(keys=[state_key]),
    )
    for add in (add_content, add_handshake, add_rounds, add_reading):
        add(server)
    return server


def fixture_app(server: MCPServer[Any], *, path: str) -> AsgiApp:
    """Return the fixture as an ASGI application at a path; its caller checks who may reach it."""
    return server.streamable_http_app(
        streamable_http_path=path,
        event_store=Events(),
        retry_interval=RETRY_MS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
