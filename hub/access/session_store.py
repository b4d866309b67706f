"""Where sessions of the admin are kept: Django's table, with the columns that let people see and end theirs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore

from hub.access.factor_models import HubSession

BEGAN = "hub_began"


class SessionStore(DatabaseStore):
    """Writes beside a session's data who began it, as :mod:`hub.access.sessions` noted at the sign-in."""

    @classmethod
    def get_model_class(cls) -> type[HubSession]:
        return HubSession

    def create_model_instance(self, data: dict[str, Any]) -> HubSession:
        row: HubSession = super().create_model_instance(data)  # type: ignore[assignment]  # of the class above
        began: dict[str, Any] = data.get(BEGAN) or {}
        row.user_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        row.started_at = datetime.fromisoformat(began["at"]) if "at" in began else None
        row.address = began.get("address", "")
        row.agent = began.get("agent", "")
        row.provider = began.get("provider", "")
        return row
