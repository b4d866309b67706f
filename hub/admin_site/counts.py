"""How many rows a list has, without counting a million of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

EXACT_UP_TO = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCount:
    """A number of rows; when it is not exact it is PostgreSQL's estimate, and above ``EXACT_UP_TO``."""

    value: int
    is_exact: bool


def count_rows(queryset: QuerySet[Any], *, exact_up_to: int = EXACT_UP_TO) -> RowCount:
    """Count up to ``exact_up_to`` rows, else ask the planner. One query, or two."""
    unordered = queryset.order_by().values("pk")
    counted = unordered[: exact_up_to + 1].count()
    if counted <= exact_up_to:
        return RowCount(value=counted, is_exact=True)
    plan = json.loads(unordered.explain(format="JSON"))[0]["Plan"]
    return RowCount(value=max(counted, int(plan["Plan Rows"])), is_exact=False)
