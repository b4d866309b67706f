"""`manage.py migrate`: Django's, but what the database lacks is said in a sentence, before anything is done."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from psycopg.errors import InsufficientPrivilege

from hub.core.errors import HubError
from hub.core.schema_version import refuse_newer_database


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 (as Django declares it)
        connection = connections[options["database"] or DEFAULT_DB_ALIAS]
        _refuse_other_encoding(connection)
        _refuse_missing_extension(connection)
        if not options.get("migration_name"):  # to a named one is the way back
            try:
                refuse_newer_database()
            except HubError as error:
                raise CommandError(str(error)) from error
        _refuse_unfinished(connection)
        try:
            super().handle(*args, **options)
        except ProgrammingError as error:
            if isinstance(error.__cause__, InsufficientPrivilege):
                raise CommandError(_ROLE.format(reason=str(error).strip().splitlines()[0])) from error
            raise


_ROLE = (
    "The database role may not do what a migration needs ({reason}). It has to own the schema that its tables are in: "
    "CREATE SCHEMA hub AUTHORIZATION hub; ALTER ROLE hub IN DATABASE hub SET search_path = hub, public. "
    'See "Production" in docs/operations.md.'
)


def _refuse_other_encoding(connection: BaseDatabaseWrapper) -> None:
    """Raise CommandError for a database that can't hold Japanese as it is."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_encoding")
        encoding = cursor.fetchone()[0]
    if encoding != "UTF8":
        raise CommandError(
            f"The database has the encoding {encoding}, and has to have UTF8: make it anew with CREATE DATABASE hub "
            "ENCODING 'UTF8' TEMPLATE template0."
        )


def _refuse_missing_extension(connection: BaseDatabaseWrapper) -> None:
    """Raise CommandError where pgvector is missing and the role may not add it: only a superuser may.

    To an embedded database the hub adds it itself.
    """
    if "EMBEDDED_HOME" in connection.settings_dict:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'),"
            " (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),"
            " EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector'),"
            " coalesce((SELECT trusted FROM pg_available_extension_versions WHERE name = 'vector' LIMIT 1), false)"
        )
        has_it, is_superuser, is_available, is_trusted = cursor.fetchone()
    if has_it:
        return
    if not is_available:
        raise CommandError(
            "The PostgreSQL server has no pgvector: install it there (0.8 or newer, package postgresql-NN-pgvector), "
            "and have a superuser run CREATE EXTENSION vector; in the hub's database."
        )
    if not is_superuser and not is_trusted:
        raise CommandError(
            "The extension vector is missing in the database, and the role may not add it: have a superuser run "
            "CREATE EXTENSION vector; in the hub's database, then run this again."
        )


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
