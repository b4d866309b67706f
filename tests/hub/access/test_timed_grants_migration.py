"""Taking back the migrations of timed grants: what had an end is not left for good, and the rest is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

LAST_BEFORE = {"access": "0011_hub_roles", "knowledge": "0021_sealed_blobs"}
TABLES = {"access": "access_hubrolegrant", "knowledge": "knowledge_collectiongrant"}

pytestmark = pytest.mark.django_db(transaction=True)


def migrate(*arguments: str) -> None:
    call_command("migrate", *arguments, interactive=False, verbosity=0)


@pytest.fixture(autouse=True)
def _newest_afterwards() -> Iterator[None]:
    yield
    migrate()


def columns(table: str) -> set[str]:
    with connection.cursor() as cursor:
        return {column.name for column in connection.introspection.get_table_description(cursor, table)}


def grants(model: Any, **fields: Any) -> dict[str, int]:
    """Make a grant without an end, two with one, one handed on, and one of a group; gives their ids."""
    from django.contrib.auth.models import Group, User

    people = {name: User.objects.create_user(name) for name in ("owner", "later", "past", "receiver")}
    ends = {"later": timezone.now() + timedelta(days=3), "past": timezone.now() - timedelta(days=3)}
    made = {
        name: model.objects.create(
            user=person,
            until=ends.get(name),
            delegator=people["owner"] if name == "receiver" else None,
            **fields,
        ).pk
        for name, person in people.items()
    }
    made["group"] = model.objects.create(group=Group.objects.create(name="品質保証室"), **fields).pk
    return made


@pytest.mark.parametrize("app", ["access", "knowledge"])
def test_going_back_removes_what_was_limited_and_coming_forward_keeps_the_rest(app):
    from hub.access.models import HubRoleGrant
    from hub.access.principals import HubRole
    from knowledge.models import Collection, CollectionGrant

    if app == "access":
        model: Any = HubRoleGrant
        made = grants(model, role=HubRole.CURATOR)
    else:
        model = CollectionGrant
        collection = Collection.objects.create(name="品質文書")
        made = grants(model, role="reader", collection=collection)
    before = {row["id"]: row for row in model.objects.values() if row["id"] in made.values()}
    assert set(before) == set(made.values())

    migrate(app, LAST_BEFORE[app])
    assert not columns(TABLES[app]) & {"until", "delegator_id"}
    old = MigrationLoader(connection).project_state((app, LAST_BEFORE[app])).apps.get_model(app, model.__name__)
    kept = {row["id"]: row for row in old.objects.values() if row["id"] in made.values()}
    assert set(kept) == {made["owner"], made["group"]}

    migrate(app)
    assert {"until", "delegator_id"} <= columns(TABLES[app])
    again = {row["id"]: row for row in model.objects.values() if row["id"] in made.values()}
    assert again == {pk: before[pk] for pk in kept}
