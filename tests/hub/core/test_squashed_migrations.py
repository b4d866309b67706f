"""Each app begins with one migration in place of those of before: their databases go on, and it can be taken back."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from hub.core.shipped_content import load_after_migrations

SQUASHED = [migration for migration in MigrationLoader(None).disk_migrations.values() if "_squashed_" in migration.name]
rows = MigrationRecorder(connection).migration_qs


def migrate(*arguments: str) -> None:
    call_command("migrate", *arguments, interactive=False, verbosity=0)


@pytest.mark.django_db
def test_a_database_with_all_the_replaced_migrations_goes_on():
    assert len(SQUASHED) == 6
    for migration in SQUASHED:
        rows.filter(app=migration.app_label, name=migration.name).delete()
        replaced = [name for _app, name in migration.replaces]
        assert rows.filter(app=migration.app_label, name__in=replaced).count() == len(replaced)
    migrate()
    for migration in SQUASHED:
        assert rows.filter(app=migration.app_label, name=migration.name).count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("migration", SQUASHED, ids=lambda migration: migration.app_label)
def test_a_database_that_lacks_some_of_them_is_refused_and_they_are_named(migration):
    *_rest, last = migration.replaces
    rows.filter(app=migration.app_label, name__in=[last[1], migration.name]).delete()
    with pytest.raises(CommandError, match=rf"too old.* lacks {'.'.join(last)}\. .*docs/operations\.md"):
        migrate()


@pytest.mark.parametrize("migration", SQUASHED, ids=lambda migration: migration.app_label)
def test_every_step_can_be_taken_back(migration):
    assert all(operation.reversible for operation in migration.operations)


@pytest.mark.django_db(transaction=True)
def test_shipped_content_is_loaded_after_migrations_but_not_when_they_were_taken_back():
    loaded = []
    load_after_migrations(apps.get_app_config("mcp_bridge"), lambda: loaded.append("prompts"))
    migrate("mcp_bridge", "zero")
    assert not loaded
    migrate("mcp_bridge")
    assert loaded == ["prompts"]
