"""PostgreSQL and Valkey for a default start, run by the hub itself from programs that come in Python wheels."""

from hub.core.embedded.errors import EmbeddedServerError
from hub.core.embedded.postgres import EmbeddedPostgres, shared_postgres
from hub.core.embedded.settings import postgres_settings
from hub.core.embedded.valkey import EmbeddedValkey, shared_valkey

__all__ = [
    "EmbeddedPostgres",
    "EmbeddedServerError",
    "EmbeddedValkey",
    "postgres_settings",
    "shared_postgres",
    "shared_valkey",
]
