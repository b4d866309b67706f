"""How many sessions clients of the handshake eras hold, in all and each user. Those of 2026-07-28 have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from hub.core.asgi import Message, Scope
from hub.core.errors import RateLimited, Unavailable

SESSION_ID = MCP_SESSION_ID_HEADER.encode()
PROTOCOL_VERSION = MCP_PROTOCOL_VERSION_HEADER.encode()
RETRY_AFTER_S = 60


def opens_session(scope: Scope) -> bool:
    """Whether a request would begin a session: it names none, and no protocol that does without."""
    headers = dict(scope["headers"])
    version = headers.get(PROTOCOL_VERSION, b"").decode("latin-1")
    return SESSION_ID not in headers and (not version or version in HANDSHAKE_PROTOCOL_VERSIONS)


@dataclass(eq=False, slots=True, kw_only=True)
class Session:
    """A session of one user at one server; ``session_id`` is None until the server has given one."""

    user_id: int | None
    server: str
    session_id: str | None = None

    def note(self, message: Message) -> None:
        """Take the id from the head of the answer that begins the session."""
        if message["type"] == "http.response.start" and message["status"] < 400:
            found = next((value for name, value in message.get("headers", ()) if name.lower() == SESSION_ID), None)
            self.session_id = found.decode("latin-1") if found else None


class Sessions:
    """The sessions of a process. ``is_open`` tells of a server's name and a session's id whether it still is."""

    def __init__(self, is_open: Callable[[str, str], bool]) -> None:
        self._is_open = is_open
        self._held: set[Session] = set()
        self._by_user: Counter[int | None] = Counter()

    def begin(self, server: str, *, user_id: int | None) -> Session:
        """Count a session that a request begins; to be settled at the request's end.

        :raises RateLimited: the user has HUB_MCP_MAX_SESSIONS_PER_USER.
        :raises Unavailable: the process has HUB_MCP_MAX_SESSIONS.
        """
        self._refuse_beyond(user_id)
        session = Session(user_id=user_id, server=server)
        self._held.add(session)
        self._by_user[user_id] += 1
        return session

    def settle(self, session: Session) -> None:
        """Forget a session that its server gave no id."""
        if session.session_id is None:
            self._forget(session)

    def _refuse_beyond(self, user_id: int | None) -> None:
        most, most_of_user = settings.CONFIG.hub_mcp_max_sessions, settings.CONFIG.hub_mcp_max_sessions_per_user
        if len(self._held) >= most or self._by_user[user_id] >= most_of_user:
            self._forget_ended()
        if self._by_user[user_id] >= most_of_user:
            raise RateLimited(
                _(
                    "This user has {limit} open MCP sessions already (HUB_MCP_MAX_SESSIONS_PER_USER). End some, or "
                    "come back later: idle ones end by themselves."
                ),
                code="too_many_sessions",
                limit=most_of_user,
                retry_after_s=RETRY_AFTER_S,
            )
        if len(self._held) >= most:
            raise Unavailable(
                _(
                    "The hub has {limit} open MCP sessions already (HUB_MCP_MAX_SESSIONS). Come back later: idle ones "
                    "end by themselves."
                ),
                code="too_many_sessions",
                limit=most,
                retry_after_s=RETRY_AFTER_S,
            )

    def _forget_ended(self) -> None:
        for session in list(self._held):
            if session.session_id is not None and not self._is_open(session.server, session.session_id):
                self._forget(session)

    def _forget(self, session: Session) -> None:
        self._held.discard(session)
        self._by_user[session.user_id] -= 1
        if self._by_user[session.user_id] <= 0:
            del self._by_user[session.user_id]
