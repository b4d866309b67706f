"""What a database must be before anything is written into it: UTF-8, with pgvector, and not of a newer version."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from hub.core.embedded import shared_postgres
from hub.core.embedded.postgres import MAINTENANCE_DATABASE
from hub.core.schema_version import DatabaseNewer, refuse_newer_database
from hub.management.commands.migrate import _refuse_missing_extension, _refuse_other_encoding
from hub.rest.readiness import check_database

pytestmark = pytest.mark.django_db


@pytest.fixture
def database(request) -> Iterator[BaseDatabaseWrapper]:
    """An empty database as the role that is no superuser sees it; the parameter is how it is made."""
    server = shared_postgres(django_settings.HUB_DATA_DIR / "postgres")
    with server.superuser(MAINTENANCE_DATABASE) as superuser:
        superuser.execute(f"CREATE DATABASE unfit TEMPLATE template0 {request.param}")
        kept = {name: connection.settings_dict[name] for name in ("USER", "PASSWORD", "HOST", "PORT", "OPTIONS")}
        engine = "hub.core.postgresql_backend"
        one = ConnectionHandler({"default": {"ENGINE": engine, "NAME": "unfit", **kept}})["default"]
        try:
            yield one
        finally:
            one.close()
            superuser.execute("DROP DATABASE unfit WITH (FORCE)")


@pytest.mark.parametrize("database", ["ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc"], indirect=True)
def test_a_database_of_another_encoding_is_refused_with_what_to_do(database):
    with pytest.raises(CommandError, match=r"SQL_ASCII.*UTF8"):
        _refuse_other_encoding(database)


@pytest.mark.parametrize("database", [""], indirect=True)
def test_a_missing_extension_is_named_with_who_may_add_it(database):
    _refuse_other_encoding(database)
    with pytest.raises(CommandError, match="superuser run CREATE EXTENSION vector"):
        _refuse_missing_extension(database)
    server = shared_postgres(django_settings.HUB_DATA_DIR / "postgres")
    with server.superuser("unfit") as superuser:
        superuser.execute("CREATE EXTENSION vector")
    _refuse_missing_extension(database)


def test_a_database_of_a_newer_version_is_told_at_the_start_and_by_readyz():
    refuse_newer_database()
    check_database()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('review', '9999_later', now())")
    with pytest.raises(DatabaseNewer, match=r"review\.9999_later"):
        refuse_newer_database()
    with pytest.raises(CommandError, match=r"review\.9999_later"):
        call_command("migrate", verbosity=0)
