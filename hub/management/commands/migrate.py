"""`manage.py migrate`: Django's, but a database that is too old for this version is refused before anything is done."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 (as Django declares it)
        _refuse_unfinished(connections[options["database"] or DEFAULT_DB_ALIAS])
        super().handle(*args, **options)


def _refuse_unfinished(connection: BaseDatabaseWrapper) -> None:
    """Raise CommandError when a squashed migration replaces some that this database has and some that it lacks.

    Django would leave out the squashed one without a word.
    """
    applied = MigrationRecorder(connection).applied_migrations()
    for migration in (MigrationLoader(None).disk_migrations or {}).values():
        missing = [name for app, name in migration.replaces if (app, name) not in applied]
        if missing and len(missing) < len(migration.replaces):
            raise CommandError(
                f"This database is too old for this version: it lacks {migration.app_label}.{', '.join(missing)}. "
                'See "Upgrades" in docs/operations.md for the version to migrate it with first.'
            )
