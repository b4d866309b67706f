"""The lock under which bytes are stored and removed, so that neither happens to what the other is at."""

from __future__ import annotations

from django.db import connection


def lock_bytes(sha256: str) -> None:
    """Let nobody else store or remove the bytes of this name (hex) until the running transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int(sha256[:15], 16)])
