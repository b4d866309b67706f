"""What a backup says of the hub that it was made of."""

from __future__ import annotations

from datetime import datetime

from django.db import connection
from pydantic import BaseModel, ConfigDict

from hub.backups.keys import Keys
from hub.backups.searches import Found
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
