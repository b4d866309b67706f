"""Lists of large tables: newest first, paged by primary key instead of OFFSET, their length estimated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from unfold.views import ChangeList

from hub.admin_site.base import HubModelAdmin

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


OLDER, NEWER = "older_than", "newer_than"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysetPage:
    """Rows by descending primary key. ``older_than`` and ``newer_than`` continue the list, None where it ends."""

    rows: Sequence[Model]
    older_than: int | None
    newer_than: int | None


def keyset_page(
    queryset: QuerySet[Any], *, size: int, older_than: int | None = None, newer_than: int | None = None
) -> KeysetPage:
    """Load one page of at most ``size`` rows. One query, the same cost on every page."""
    if newer_than is not None:
        found = list(queryset.filter(pk__gt=newer_than).order_by("pk")[: size + 1])
        rows = found[:size][::-1]
        has_older, has_newer = True, len(found) > size
    else:
        if older_than is not None:
            queryset = queryset.filter(pk__lt=older_than)
        found = list(queryset.order_by("-pk")[: size + 1])
        rows = found[:size]
        has_older, has_newer = len(found) > size, older_than is not None
    return KeysetPage(
        rows=rows,
        older_than=rows[-1].pk if rows and has_older else None,
        newer_than=rows[0].pk if rows and has_newer else None,
    )


class KeysetChangeList(ChangeList):  # type: ignore[misc]  # Unfold has no types
    """A change list that never counts the table and never skips rows."""

    page: KeysetPage

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        found: dict[str, Any] = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in (OLDER, NEWER)}

    def get_query_string(self, new_params: dict[str, Any] | None = None, remove: list[str] | None = None) -> str:
        """Build a link's query; another filter starts at the first page again."""
        return str(super().get_query_string(new_params, [*(remove or []), OLDER, NEWER]))

    def get_results(self, request: HttpRequest) -> None:
        """Load the page that the query names."""
        self.page = keyset_page(
            self.queryset,
            size=self.list_per_page,
            older_than=whole_number(request.GET.get(OLDER)),
            newer_than=whole_number(request.GET.get(NEWER)),
        )
        self.result_list = self.page.rows
        self.result_count = self.full_result_count = len(self.page.rows)
        self.show_full_result_count = self.can_show_all = self.multi_page = False
        self.show_admin_actions = True
        self.paginator = self.model_admin.get_paginator(request, self.result_list, self.list_per_page)

    @cached_property
    def row_count(self) -> RowCount:
        """How many rows the filters leave."""
        return count_rows(self.queryset)

    @property
    def older_link(self) -> str | None:
        """The query of the page with older rows, None on the last page."""
        return self.get_query_string({OLDER: self.page.older_than}) if self.page.older_than is not None else None

    @property
    def newer_link(self) -> str | None:
        """The query of the page with newer rows, None on the first page."""
        return self.get_query_string({NEWER: self.page.newer_than}) if self.page.newer_than is not None else None


def whole_number(text: str | None, *, digits: int = 18) -> int | None:
    """Read a whole number of an address or a form; None for anything else, and for one of more digits."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= digits else None


class KeysetModelAdmin(HubModelAdmin):
    """Base of the admins of large tables: fixed order, no sorting, no jump to a page."""

    change_list_template = "admin/hub/keyset_change_list.html"
    list_per_page = 50
    show_full_result_count = False
    sortable_by = ()
    ordering = ("-pk",)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:  # noqa: ANN401
        return KeysetChangeList
