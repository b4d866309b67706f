"""The history of a row, for people who may not see all that was changed together with it."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.admin.models import LogEntry
from django.template.response import TemplateResponse

UNNAMED = "…"


def without_related_names(response: TemplateResponse) -> None:
    """Leave out of a history page the names of other rows: they may be people, or hidden from who reads it."""
    page = (response.context_data or {}).get("action_list")
    if page is not None:
        page.object_list = [_unnamed(entry) for entry in page.object_list]


def _unnamed(entry: LogEntry) -> LogEntry:
    try:
        parts: Any = json.loads(entry.change_message or "[]")
    except json.JSONDecodeError:
        return entry  # a text of an older version, without names of other rows
    for part in parts if isinstance(parts, list) else ():
        for change in part.values():
            if isinstance(change, dict) and "object" in change:
                change["object"] = UNNAMED
    entry.change_message = json.dumps(parts)
    return entry
