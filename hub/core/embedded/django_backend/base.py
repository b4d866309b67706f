"""Django's PostgreSQL backend, over a server that is started on demand and again after a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.utils.asyncio import async_unsafe
from psycopg import OperationalError

from hub.core.embedded.launch import EmbeddedServerError
from hub.core.embedded.postgres import MAINTENANCE_DATABASE, EmbeddedPostgres, shared_postgres
from hub.core.postgresql_backend import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Connect to the embedded PostgreSQL in ``settings_dict["EMBEDDED_HOME"]``, as ``postgres_settings`` gives it."""

    @async_unsafe
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:  # noqa: ANN401 - as Django types it
        """Connect; start the server first where this process doesn't use it yet, or where it has gone away.

        :raises OperationalError: it can't be started, or takes no connection.
        """
        server = shared_postgres(Path(self.settings_dict["EMBEDDED_HOME"]))
        database = conn_params.get("dbname", MAINTENANCE_DATABASE)
        if not server.is_held:
            _ensure(server, database)
        try:
            return super().get_new_connection(conn_params)
        except OperationalError:
            _ensure(server, database)
            return super().get_new_connection(conn_params)


def _ensure(server: EmbeddedPostgres, database: str) -> None:
    try:
        server.ensure(database)
    except EmbeddedServerError as error:
        # What Django's callers know and handle, such as a health check that reports the database as away.
        raise OperationalError(str(error)) from error
