"""Which version of the tables the database has, beside those that this code knows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from django.apps import apps
from django.db import ProgrammingError, connection
from django.db.migrations.loader import MigrationLoader
from django.utils.translation import gettext_lazy as _
from psycopg.errors import UndefinedTable

from hub.core.errors import Unavailable


class DatabaseNewer(Unavailable):
    """The database was migrated by a newer version of the hub than this one."""

    code = "database_newer"


def applied_migrations() -> list[tuple[str, str]]:
    """List (app, name) of the migrations that the database has, in order; none without tables. One query."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations ORDER BY app, name")
            return [(app, name) for app, name in cursor.fetchall()]
    except ProgrammingError as error:
        if isinstance(error.__cause__, UndefinedTable):
            return []
        raise


@cache
def _known() -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """The apps of this code, and their migrations, those that squashed ones stand for included."""
    on_disk = MigrationLoader(None).disk_migrations or {}
    replaced = {pair for migration in on_disk.values() for pair in migration.replaces}
    return frozenset(config.label for config in apps.get_app_configs()), frozenset(on_disk) | replaced


def unknown_migrations(applied: Iterable[tuple[str, str]]) -> list[str]:
    """List the migrations of the hub's apps that this code does not have: what has them is of a newer version."""
    ours, known = _known()
    return [f"{app}.{name}" for app, name in applied if app in ours and (app, name) not in known]


def refuse_newer_database() -> None:
    """:raises DatabaseNewer: names the first migration that this version does not know. One query."""
    if unknown := unknown_migrations(applied_migrations()):
        raise DatabaseNewer(
            _("The database is of a newer version of the hub: it has {migration}, which this version does not know. "
              "Put the newer version back in place, or restore a backup of before the upgrade into a new database."),
            migration=unknown[0],
        )  # fmt: skip
