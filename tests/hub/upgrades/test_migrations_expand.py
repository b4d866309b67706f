"""Migrations after a release expand only: the version before works on their tables, until all processes are new.

What a later release takes away again (contract) says in ``contracts`` of the migration since which release nothing
uses it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

from hub.version import hub_version

RELEASES = Path(__file__).resolve().parents[2] / "releases"
TAKES_AWAY = (
    migrations.RemoveField,
    migrations.DeleteModel,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.AlterModelTable,
)


def problem_of(operation: Operation) -> str:
    """Why code of the version before fails on the tables after this operation; empty when it does not."""
    if isinstance(operation, TAKES_AWAY):
        return f"{operation.describe()}: code of before still uses it"
    if isinstance(operation, migrations.AddField) and not _fills_itself(operation.field):
        return f"{operation.describe()}: code of before writes rows without it; let it be null, or give a db_default"
    if isinstance(operation, migrations.AddConstraint):
        return f"{operation.describe()}: code of before may write what it refuses"
    return ""


def _fills_itself(field: models.Field) -> bool:
    return field.null or field.many_to_many or field.db_default is not NOT_PROVIDED


def problems(migration: migrations.Migration) -> Iterator[str]:
    if getattr(migration, "contracts", ""):
        return
    made = {one.name.lower() for one in migration.operations if isinstance(one, migrations.CreateModel)}
    for operation in migration.operations:
        inner = (
            operation.database_operations if isinstance(operation, migrations.SeparateDatabaseAndState) else [operation]
        )
        for one in inner:
            if getattr(one, "model_name", "").lower() not in made and (found := problem_of(one)):
                yield f"{migration.app_label}.{migration.name}: {found}"


def released() -> set[tuple[str, str]]:
    """The migrations of the newest release."""
    newest = max(RELEASES.glob("*/migrations.json"), default=None)
    if newest is None:
        pytest.skip("nothing is released yet")
    if newest.parent.name == hub_version():
        pytest.skip(f"{hub_version()} is still being prepared: its own migrations have no release before them")
    return {(app, name) for app, name in json.loads(newest.read_text())}


def test_migrations_since_the_release_only_expand():
    loader = MigrationLoader(None)
    ours = {config.label for config in apps.get_app_configs() if not config.module.__name__.startswith("django.")}
    known = released()
    assert len(known) > 50
    fresh = [one for key, one in loader.disk_migrations.items() if key[0] in ours and key not in known]
    assert [problem for migration in fresh for problem in problems(migration)] == []


@pytest.mark.parametrize(
    ("operation", "is_refused"),
    [
        (migrations.RemoveField("document", "title"), True),
        (migrations.RenameField("document", "title", "name"), True),
        (migrations.DeleteModel("document"), True),
        (migrations.AddField("document", "pages", models.IntegerField(default=0)), True),
        (migrations.AddField("document", "pages", models.IntegerField(db_default=0)), False),
        (migrations.AddField("document", "pages", models.IntegerField(null=True)), False),
        (migrations.AddConstraint("document", models.UniqueConstraint(fields=["title"], name="x")), True),
        (migrations.AddIndex("document", models.Index(fields=["title"], name="x")), False),
    ],
)
def test_what_expands_and_what_does_not(operation, is_refused):
    migration = type("Later", (migrations.Migration,), {"operations": [operation]})("9999_later", "knowledge")
    assert bool(list(problems(migration))) == is_refused
    fields = {"operations": [operation], "contracts": "unused since 0.2.0"}
    assert list(problems(type("Later", (migrations.Migration,), fields)("9999_later", "knowledge"))) == []
