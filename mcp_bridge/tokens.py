"""Bearer tokens, looked up on the event loop: a call needs no thread to find out who makes it.

PostgreSQL is asked at every call, as through the other doors, so that a token that is revoked is refused from the next
call on. Only the way there is shorter: one connection of the process, a prepared statement, no change of thread.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import psycopg
from django.db import connection
from django.utils import timezone

from hub.access.principals import Principal
from hub.access.services import (
    TokenRow,
    authenticate,
    bearer_of,
    digest_of,
    find_token,
    is_from_provider,
    needs_more,
    note_accepted,
    statement,
    token_row,
)
from mcp_bridge.threads import in_thread

logger = logging.getLogger(__name__)

CONNECT_WITHIN_S = 3
# A database that went away without a word (its machine died): ends what waits for it. Not used on Unix sockets.
SILENT_FOR_MS = 5000
OF_DJANGO = frozenset({"context", "cursor_factory", "prepare_threshold"})  # made for its blocking connections


class TokenLookup:
    """Finds the callers behind bearer tokens, for one event loop. Make it anywhere, close it where it was used."""

    def __init__(self) -> None:
        self._connection: psycopg.AsyncConnection[Any] | None = None
        self._connecting = asyncio.Lock()

    async def authenticate(self, token: str) -> Principal:
        """Find the caller behind a bearer token, as :func:`hub.access.services.authenticate` does.

        A cancelled caller goes on at once. What may have to ask an identity provider is done in a thread. Raises
        Unauthenticated, and what a blocking lookup raises where the database does not answer.
        """
        if is_from_provider(token):
            return await in_thread(authenticate, token)
        asked = asyncio.create_task(self._find(digest_of(token)))
        asked.add_done_callback(_look_at)
        row = await asyncio.shield(asked)
        now = timezone.now()
        principal = bearer_of(row, now=now)
        if row is not None and needs_more(row, now=now):
            await in_thread(note_accepted, row, now=now)
        return principal

    async def aclose(self) -> None:
        """Close the connection. A lookup that comes later makes a new one."""
        if self._connection is not None:
            there, self._connection = self._connection, None
            await there.close()

    async def _find(self, digest: str) -> TokenRow | None:
        there: psycopg.AsyncConnection[Any] | None = None
        try:
            there = await self._connected()
            cursor = await there.execute(statement(), [digest], prepare=True)
            return token_row(await cursor.fetchone())
        except psycopg.Error as error:
            logger.info("a token is looked up in a thread: %s", error)
            if there is not None:
                await there.close()  # whatever state it is in; another lookup may have made a new one already
            # It starts an embedded database that went away, and says what is wrong in the words that callers know.
            return await in_thread(find_token, digest)

    async def _connected(self) -> psycopg.AsyncConnection[Any]:
        async with self._connecting:
            if self._connection is None or self._connection.closed:
                self._connection = await psycopg.AsyncConnection.connect(**_parameters())
            return self._connection


def _parameters() -> dict[str, Any]:
    django = connection.get_connection_params()
    ours = {"autocommit": True, "connect_timeout": CONNECT_WITHIN_S, "tcp_user_timeout": SILENT_FOR_MS}
    return ours | {name: value for name, value in django.items() if name not in OF_DJANGO}


def _look_at(asked: asyncio.Task[TokenRow | None]) -> None:
    """Take note of how a lookup ended: its caller may have left before it could fail."""
    if not asked.cancelled():
        asked.exception()
