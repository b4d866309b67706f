"""The MCP servers over Streamable HTTP, as one ASGI application for everything under /mcp/."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from django.conf import settings
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import INTERNAL_ERROR, INVALID_REQUEST

from hub.core.asgi import AsgiApp, Message, Receive, Scope, Send
from hub.core.client_address import address_of
from hub.core.errors import RateLimited, Unavailable
from hub.core.measures import OPEN_MCP, count_request
from hub.rest.errors import BadRequest
from hub.rest.heads import check_headers, is_allowed_host, is_allowed_origin
from hub.rest.problems import DEFAULT_RETRY_AFTER_S
from hub.rest.protected_resource import KEPT_S, WELL_KNOWN, describe_resource
from hub.rest.rate_limits import client_for_loop, rate_limiter, subject_of
from mcp_bridge.admission import admit, while_admitted
from mcp_bridge.body_entries import MOST_ENTRIES, TooManyEntries, with_few_entries
from mcp_bridge.caller import accepted_language
from mcp_bridge.calls import Door
from mcp_bridge.client_disconnects import enduring, quieten_sdk
from mcp_bridge.connections import Connection, ConnectionLog
from mcp_bridge.counting import count_error
from mcp_bridge.errors import in_words
from mcp_bridge.events import EventBridge
from mcp_bridge.principal import bearer_principal, bearer_source
from mcp_bridge.server import HubServer, request_state_key
from mcp_bridge.servers import SERVERS, build_server
from mcp_bridge.sessions import Session, Sessions, opens_session
from mcp_bridge.tokens import TokenLookup

# Reading what is then refused costs as much as many calls do.
CALLS_OF_A_REFUSED_BODY = 50
REFUSED = frozenset({401, 403, 413, 429})
FIXTURE = "conformance"
PREFIXES = ("/mcp/", f"{WELL_KNOWN}/mcp/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An answer given in place of the servers'."""

    status: int
    code: int
    message: str
    retryable: bool = False
    retry_after_s: int | None = None
    closes: bool = False

    async def send(self, send: Send) -> None:
        """Send it as a JSON-RPC error without id."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.code == INTERNAL_ERROR or self.retryable:
            error["data"] = {"retryable": self.retryable, "fallbackStrategy": "retry_later"}
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}, ensure_ascii=False).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if self.retry_after_s is not None:
            headers.append((b"retry-after", str(self.retry_after_s).encode()))
        if self.closes:
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class McpApps:
    """All servers of this process, each at /mcp/NAME/, with its protected-resource metadata (RFC 9728)."""

    def __init__(self, names: Iterable[str] = tuple(SERVERS), *, conformance: bool = False) -> None:
        self._events = EventBridge()
        self._connections = ConnectionLog()
        self._tokens = TokenLookup()
        self._counter = client_for_loop()
        self._sessions = Sessions(self._has_session)
        door = Door(
            principal=bearer_principal,
            events=self._events,
            connections=self._connections,
            tokens=self._tokens,
            follow=partial(bearer_source, self._tokens),
        )
        self._servers: dict[str, HubServer] = {name: build_server(name, door) for name in names}
        self._apps: dict[str, AsgiApp] = {name: enduring(_asgi_app(server)) for name, server in self._servers.items()}
        self._fixture: MCPServer[Any] | None = None
        if conformance:
            from tools.conformance.server import build_fixture, fixture_app  # no hub but one under test loads it

            self._fixture = build_fixture(request_state_key())
            self._apps[FIXTURE] = _loopback_only(fixture_app(self._fixture, path=f"{PREFIXES[0]}{FIXTURE}/"))

    def serves(self, path: str) -> bool:
        """Tell whether a request path belongs to one of the servers."""
        return _server_name(path) in self._apps

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests inside the block; once per object."""
        quieten_sdk()
        async with AsyncExitStack() as stack:
            for server in (*self._servers.values(), *([self._fixture] if self._fixture else [])):
                await stack.enter_async_context(server.session_manager.run())
            stack.push_async_callback(self._tokens.aclose)
            stack.push_async_callback(self._counter.aclose)
            stack.push_async_callback(self._events.aclose)
            await stack.enter_async_context(self._connections.published())
            yield

    def end_streams(self) -> None:
        """Let every open subscription stream end with its last message."""
        for server in self._servers.values():
            server.streams.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an HTTP request for which ``serves`` is true."""
        if (refusal := _refusal(scope)) is not None:
            await refusal.send(send)
            return
        path = scope["path"]
        if path.startswith(PREFIXES[0]) and not path.endswith("/"):
            scope = {**scope, "path": path + "/"}  # spares clients a redirect, on which some lose their token
        name = _server_name(path)
        with OPEN_MCP.labels(name).track_inprogress():
            answer = _Counted(self._noting(send, scope, name), scope["method"], name)
            explained = _explaining(answer)
            if path.startswith(PREFIXES[1]) and name != FIXTURE:
                await _describe(name, scope["method"], answer)
                return
            if name == FIXTURE:  # the fixture knows no tokens
                await self._apps[name](scope, receive, explained)
                return
            try:
                caller = await admit(scope, self._tokens, self._counter)
                answer.is_known = caller is not None
                begins = caller is not None and opens_session(scope)
                session = self._sessions.begin(name, user_id=caller.user_id) if caller and begins else None
            except (RateLimited, Unavailable) as error:
                await _refusal_of(error, scope).send(answer)
                return
            if caller is not None and scope["method"] == "POST":
                try:
                    receive = await with_few_entries(receive, most_bytes=settings.CONFIG.hub_mcp_max_bytes)
                except TooManyEntries:
                    await rate_limiter.hit_on_loop(subject_of(caller), self._counter, calls=CALLS_OF_A_REFUSED_BODY)
                    await _too_many_entries().send(answer)
                    return
            await self._serve(name, scope, receive, explained, session)

    async def _serve(self, name: str, scope: Scope, receive: Receive, send: Send, session: Session | None) -> None:
        if session is None:
            await while_admitted(self._apps[name], scope, receive, send, tokens=self._tokens)
            return

        async def note(message: Message) -> None:
            session.note(message)
            await send(message)

        try:
            await self._apps[name](scope, receive, note)
        finally:
            self._sessions.settle(session)

    def _has_session(self, name: str, session_id: str) -> bool:
        return session_id in self._servers[name].session_manager._server_instances  # the SDK has no public way

    def _noting(self, send: Send, scope: Scope, name: str) -> Send:
        """Note what is refused below the protocol: a token that is no longer valid is what breaks most connections."""

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in REFUSED:
                with self._connections.request_of(_stranger(scope, name)) as connection:
                    connection.fail(f"HTTP {message['status']} {HTTPStatus(message['status']).phrase}")
            await send(message)

        return note


async def _describe(name: str, method: str, send: Send) -> None:
    """Answer with the protected-resource metadata (RFC 9728) of a server; anybody may have it."""
    is_read = method in {"GET", "HEAD"}
    body = json.dumps(describe_resource(f"{PREFIXES[0]}{name}/")).encode() if is_read else b""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers.append((b"cache-control", f"public, max-age={KEPT_S}".encode()) if is_read else (b"allow", b"GET, HEAD"))
    await send({"type": "http.response.start", "status": 200 if is_read else 405, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})


def _stranger(scope: Scope, name: str) -> Connection:
    agent = next((value for key, value in scope["headers"] if key == b"user-agent"), b"").decode("latin-1")
    address = address_of((scope.get("client") or ("", 0))[0]) or ""
    return Connection(
        server=name, transport="http", protocol="", client=agent[:200], user="", user_id=None, address=address
    )


def _asgi_app(server: HubServer) -> AsgiApp:
    return server.streamable_http_app(
        streamable_http_path=f"/mcp/{server.path_name}/",  # no mount: the metadata has to stand at the site's root
        session_idle_timeout=settings.CONFIG.hub_mcp_session_idle_s,
        max_sessions=None,  # counted by Sessions, of all servers together
        max_request_body_size=settings.CONFIG.hub_mcp_max_bytes,
        # Checked by _refusal before any token is, with Django's patterns (.example.com, *), which the SDK has not.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


class _Counted:
    """Sends an answer on and counts it; ``is_known`` as soon as its caller is."""

    def __init__(self, send: Send, method: str, name: str) -> None:
        self._send = send
        self._method = method
        self._route = f"{PREFIXES[0]}{name}/"
        self.is_known = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            count_request(method=self._method, route=self._route, status=message["status"], is_known=self.is_known)
        await self._send(message)


def _loopback_only(app: AsgiApp) -> AsgiApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        address = address_of((scope.get("client") or ("127.0.0.1", 0))[0])  # no client: a Unix socket
        if address is None or not ipaddress.ip_address(address).is_loopback:
            message = "The conformance fixture answers to this machine only."
            await Refusal(status=403, code=INVALID_REQUEST, message=message).send(send)
            return
        await app(scope, receive, send)

    return answer


def _server_name(path: str) -> str:
    for prefix in PREFIXES:
        if path.startswith(prefix):
            return path.removeprefix(prefix).rstrip("/")
    return ""


def _refusal(scope: Scope) -> Refusal | None:
    """Refuse a head that says two things, and a request for or of another host: DNS rebinding leads browsers here."""
    try:
        check_headers(scope["headers"])
    except BadRequest as error:
        return Refusal(status=400, code=INVALID_REQUEST, message=in_words(error, None), closes=True)
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    if not is_allowed_host(headers.get(b"host", "")):
        return Refusal(status=421, code=INVALID_REQUEST, message="This Host is not in ALLOWED_HOSTS.")
    origin = headers.get(b"origin")
    if origin is not None and not is_allowed_origin(origin):
        return Refusal(
            status=403,
            code=INVALID_REQUEST,
            message="Requests of pages from this Origin are not allowed. Add its host to ALLOWED_HOSTS to allow them.",
        )
    return None


def _refusal_of(error: RateLimited | Unavailable, scope: Scope) -> Refusal:
    header = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    count_error(error.error_code)
    return Refusal(
        status=error.status,
        code=INTERNAL_ERROR,
        message=in_words(error, accepted_language(header)),
        retryable=True,
        retry_after_s=int(str(error.data.get("retry_after_s", DEFAULT_RETRY_AFTER_S))),
    )


def _too_many_entries() -> Refusal:
    return Refusal(
        status=413,
        code=INVALID_REQUEST,
        message=f"The request lists more than {MOST_ENTRIES} keys and items in all. Split it into several calls.",
        closes=True,
    )


def _explaining(send: Send) -> Send:
    """Replace the bare texts that come from below the protocol by JSON-RPC errors that say what to do."""
    is_replaced = False

    async def explain(message: Message) -> None:
        nonlocal is_replaced
        is_start = message["type"] == "http.response.start"
        if is_start and dict(message["headers"]).get(b"content-type", b"text/plain").startswith(b"text/plain"):
            refusal = _explanations().get(message["status"])
            if refusal is not None:
                is_replaced = True
                await refusal.send(send)
                return
        if not is_replaced:
            await send(message)

    return explain


def _explanations() -> dict[int, Refusal]:
    limit, url = settings.CONFIG.hub_mcp_max_bytes, settings.CONFIG.public_url
    return {
        413: Refusal(
            status=413,
            code=INVALID_REQUEST,
            message=f"The request is larger than {limit} bytes (HUB_MCP_MAX_BYTES). "
            f"Upload large files with POST {url}/api/v1/documents.",
        ),
        500: Refusal(
            status=503,
            code=INTERNAL_ERROR,
            message="The hub can't answer now; its database may be away. Try again in a few seconds.",
            retryable=True,
        ),
    }
