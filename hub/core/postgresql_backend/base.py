"""Django's PostgreSQL backend that checks idle connections without a query and can prepare statements."""

from __future__ import annotations

import select
import sys
from typing import Any, Self, cast

from django.db.backends.postgresql import base
from django.db.backends.utils import CursorWrapper
from django.utils.asyncio import async_unsafe
from psycopg import Cursor
from psycopg.errors import FeatureNotSupported, InvalidSqlStatementName
from psycopg.pq import ConnStatus, TransactionStatus


class PreparedCursor(Cursor[Any]):
    """Lets the server plan each statement once per connection; parameters are sent apart from it."""

    def execute(self, query: Any, *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401 (as psycopg's, whatever it takes)
        """Run it, as psycopg does; outside of transactions, a plan that is gone or of a changed table is made again."""
        before = self.connection.prepare_threshold
        # For this statement only: psycopg keeps the text of each that it might prepare, with Django's values in it.
        self.connection.prepare_threshold = sys.maxsize
        try:
            return super().execute(query, *args, **{"prepare": True, **kwargs})
        except (FeatureNotSupported, InvalidSqlStatementName):
            if self.connection.info.transaction_status != TransactionStatus.IDLE:
                raise
            super().execute("DEALLOCATE ALL", prepare=False)
            return super().execute(query, *args, **{"prepare": True, **kwargs})
        finally:
            self.connection.prepare_threshold = before


class DatabaseWrapper(base.DatabaseWrapper):
    """Looks at the socket before CONN_HEALTH_CHECKS sends a query, and gives cursors that prepare their statements."""

    def is_usable(self) -> bool:
        """Whether the connection can be used. Sends no query as long as nothing has come on it unasked.

        A server that ended the connection (a restart, a kill, an administrator) has said so or has closed it; either
        makes the socket readable. Then, and only then, it is asked.
        """
        driver = self.connection
        if driver is None or driver.pgconn.status != ConnStatus.OK:
            return False
        state = driver.info.transaction_status
        if state == TransactionStatus.ACTIVE:  # left in the middle of a statement
            return False
        waiting = select.poll()
        waiting.register(driver.pgconn.socket, select.POLLIN)
        return (state == TransactionStatus.IDLE and not waiting.poll(0)) or super().is_usable()

    @async_unsafe
    def prepared_cursor(self) -> CursorWrapper:
        """A cursor as ``cursor()`` gives one, for statements whose text never changes: they are planned once."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            return cast(CursorWrapper, self._prepare_cursor(PreparedCursor(self.connection)))  # type: ignore[attr-defined]
