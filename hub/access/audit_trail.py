"""Keeps the rows of the audit trail from the hub itself: it adds lines and reads them, and can't change or remove any.

On the embedded PostgreSQL migrations are run by the hub's own role, which owns all tables but the trail's. It gets
those for as long as they run. With DATABASE_URL the rights are taken from the role that migrates, which may give them
back to itself as long as it owns the tables; `manage.py doctor` says so.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.db import connection, connections
from django.db.models.signals import post_migrate, pre_migrate
from psycopg import Connection

from hub.core.embedded import shared_postgres
from hub.core.embedded.cluster import APPEND_ONLY, close_append_only, lend_append_only


def guard_audit_trail() -> None:
    """Have every migration run begin with lending the trail's table and end with taking it back."""
    pre_migrate.connect(_before_migrations, dispatch_uid="lend-audit-trail")
    post_migrate.connect(_after_migrations, dispatch_uid="close-audit-trail")


def rights_to_change_events() -> list[str]:
    """List what the hub's role could do to written lines and seals: UPDATE, DELETE, TRUNCATE. One query."""
    rights = ("UPDATE", "DELETE", "TRUNCATE")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM unnest(%s::text[]) WITH ORDINALITY AS wanted (name, place)"
            " WHERE EXISTS (SELECT FROM unnest(%s::text[]) AS named (relation)"
            " WHERE has_table_privilege(current_user, relation, name)) ORDER BY place",
            [list(rights), list(APPEND_ONLY)],
        )
        return [name for (name,) in cursor.fetchall()]


def owns_trail() -> bool:
    """Whether the hub's role owns a table of the trail, so that it could give itself every right. One query."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_class WHERE oid = ANY(%s::regclass[])"
            " AND pg_has_role(current_user, relowner, 'USAGE'))",
            [list(APPEND_ONLY)],
        )
        return bool(cursor.fetchone()[0])


def _before_migrations(sender: AppConfig, using: str, **_signal: object) -> None:
    if sender.label == "access":
        _as_superuser(using, lend_append_only)


def _after_migrations(sender: AppConfig, using: str, **_signal: object) -> None:
    if sender.label == "access":
        _as_superuser(using, close_append_only)


def _as_superuser(using: str, act: Callable[[Connection[tuple[object, ...]]], None]) -> None:
    database: dict[str, Any] = connections[using].settings_dict
    server = shared_postgres(Path(database["EMBEDDED_HOME"]))
    server.ensure(database["NAME"])
    with server.superuser(database["NAME"]) as superuser:
        act(superuser)
