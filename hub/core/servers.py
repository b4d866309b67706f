"""The embedded servers of this process, when DATABASE_URL or REDIS_URL do not point elsewhere."""

from __future__ import annotations

from django.conf import settings

from hub.core.embedded import shared_valkey


def ensure_queue() -> None:
    """Have a queue to talk to: starts the embedded Valkey when nobody has yet. Safe to call again at any time."""
    if settings.EMBEDDED_QUEUE:
        shared_valkey(settings.HUB_DATA_DIR / "valkey").ensure()
