"""What a backup says of the hub that it was made of."""

from __future__ import annotations

import tomllib
from datetime import datetime
from functools import cache

from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from pydantic import BaseModel, ConfigDict

from hub.backups.keys import Keys
from hub.backups.searches import Found
from hub.config import BASE_DIR
from knowledge.models import EmbeddingSet


class Manifest(BaseModel):
    """The facts of one backup; ``missing`` and ``damaged`` stored files were so in the store already (sha256)."""

    model_config = ConfigDict(frozen=True)

    taken_at: datetime
    hub_version: str
    postgresql: str
    pgvector: str
    schema_name: str
    migrations: list[tuple[str, str]]
    tables: dict[str, int]
    embedding_sets: list[str]
    files: int
    file_bytes: int
    missing: list[str]
    damaged: list[str]
    unopened: int
    keys: Keys
    searches: tuple[Found, ...]
    searches_failed: str = ""


@cache
def hub_version() -> str:
    """Give the version of the code."""
    project = tomllib.loads((BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def applied_migrations() -> list[tuple[str, str]]:
    """List (app, name) of the migrations that the database has, in order. One query."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations ORDER BY app, name")
        return [(app, name) for app, name in cursor.fetchall()]


def unknown_migrations(applied: list[tuple[str, str]]) -> list[str]:
    """List the migrations that this code does not have: the database is of a newer version."""
    on_disk = MigrationLoader(None).disk_migrations or {}
    known = set(on_disk) | {pair for migration in on_disk.values() for pair in migration.replaces}
    ours = {config.label for config in apps.get_app_configs()}
    return [f"{app}.{name}" for app, name in applied if app in ours and (app, name) not in known]


def row_counts() -> dict[str, int]:
    """Count the rows of every table of the hub. A query for each."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
            " AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1"
        )
        counts = {}
        for (name,) in cursor.fetchall():
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(name)}")  # noqa: S608 (a table's name)
            counts[name] = int(cursor.fetchone()[0])
    return counts


def database_facts() -> dict[str, str]:
    """Give ``postgresql``, ``pgvector`` and ``schema_name``. One query."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), current_schema(),"
            " coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), '')"
        )
        server, schema, vector = cursor.fetchone()
    return {"postgresql": server, "pgvector": vector, "schema_name": schema}


def embedding_set_names() -> list[str]:
    """Name the embedding sets that are there. One query."""
    return [str(one) for one in EmbeddingSet.objects.order_by("pk")]
