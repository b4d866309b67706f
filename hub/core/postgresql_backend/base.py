"""Django's PostgreSQL backend with two ways less to the server: for connections that are well, and for plans."""

from __future__ import annotations

import select
import sys
from typing import Any, Self, cast

from django.db.backends.postgresql import base
from django.db.backends.utils import CursorWrapper
from django.utils.asyncio import async_unsafe
from psycopg import Cursor
from psycopg.pq import ConnStatus


class PreparedCursor(Cursor[Any]):
    """Lets the server plan each statement once per connection; parameters are sent apart from it."""

    def execute(self, query: Any, *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401 (as psycopg's, whatever it takes)
        """Run it, as psycopg does."""
        return super().execute(query, *args, **{"prepare": True, **kwargs})


class DatabaseWrapper(base.DatabaseWrapper):
    """Looks at the socket before CONN_HEALTH_CHECKS sends a query, and gives cursors that prepare their statements."""

    @async_unsafe
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:  # noqa: ANN401 - as Django types it
        """Connect. Statements are prepared where a cursor asks for it, and otherwise never."""
        made = super().get_new_connection(conn_params)
        if made.prepare_threshold is None:
            made.prepare_threshold = sys.maxsize
        return made

    def is_usable(self) -> bool:
        """Whether the connection can be used. Sends no query as long as nothing has come on it unasked.

        A server that ended the connection (a restart, a kill, an administrator) has said so or has closed it; either
        makes the socket readable. Then, and only then, it is asked.
        """
        if self.connection is None or self.connection.pgconn.status != ConnStatus.OK:
            return False
        waiting = select.poll()
        waiting.register(self.connection.pgconn.socket, select.POLLIN)
        return not waiting.poll(0) or super().is_usable()

    @async_unsafe
    def prepared_cursor(self) -> CursorWrapper:
        """A cursor as ``cursor()`` gives one, for statements whose text never changes: they are planned once."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            return cast(CursorWrapper, self._prepare_cursor(PreparedCursor(self.connection)))  # type: ignore[attr-defined]
