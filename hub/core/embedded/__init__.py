"""PostgreSQL and Valkey for a default start, run by the hub itself from programs that come in Python wheels."""

from hub.core.embedded.launch import EmbeddedServerError
from hub.core.embedded.postgres import EmbeddedPostgres, postgres_settings, shared_postgres
from hub.core.embedded.valkey import EmbeddedValkey, shared_valkey
