"""What a settings module says about an embedded database. Nothing starts here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hub.core.embedded.postgres import EmbeddedPostgres
from hub.core.embedded.roles import ROLE


def postgres_settings(home: Path, database: str = "hub") -> dict[str, Any]:
    """Return Django's ``DATABASES["default"]`` for the embedded PostgreSQL below ``home``.

    The server is started by the first connection, by the backend that ENGINE names; it reads EMBEDDED_HOME.
    """
    server = EmbeddedPostgres(home)
    return {
        "ENGINE": "hub.core.embedded.django_backend",
        "NAME": database,
        "USER": ROLE,
        "HOST": str(server.socket_dir),
        "PORT": str(server.port),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "EMBEDDED_HOME": str(server.home),
        "OPTIONS": {},
    }
