"""Cursor pagination: signed opaque cursors, and pages by key (never by OFFSET) for querysets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core import signing
from django.db.models import Field, Model, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel

from hub.core.errors import InvalidInput

M = TypeVar("M", bound=Model)
T = TypeVar("T")
R = TypeVar("R")

SALT = "hub.rest.cursor"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysetPage(Generic[T]):
    """Some items of a list in its order, and the cursor of the rest (None at the end)."""

    items: list[T]
    next_cursor: str | None

    def map(self, convert: Callable[[T], R]) -> KeysetPage[R]:
        """Make the same page of converted items."""
        return KeysetPage(items=[convert(item) for item in self.items], next_cursor=self.next_cursor)


def cursor_scope(name: str, *filters: BaseModel, **values: object) -> str:
    """Name a query by what it lists and how it filters: a cursor only works in the scope that issued it."""
    asked = [filter_.model_dump(mode="json") for filter_ in filters]
    text = json.dumps([name, asked, values], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def encode_cursor(payload: dict[str, Any], *, scope: str) -> str:
    """Seal a JSON-able position into an opaque, URL-safe cursor."""
    return signing.dumps({"scope": scope, "at": payload}, salt=SALT, compress=True)


def decode_cursor(cursor: str, *, scope: str) -> dict[str, Any]:
    """Open a cursor.

    :raises InvalidInput: ``invalid_cursor`` when this hub did not issue it, ``cursor_mismatch`` when it belongs to
        another query.
    """
    try:
        sealed = signing.loads(cursor, salt=SALT)
    except signing.BadSignature:
        raise InvalidInput(
            _("The cursor was not issued by this hub, or was changed. Start again without a cursor."),
            code="invalid_cursor",
        ) from None
    if sealed["scope"] != scope:
        raise InvalidInput(
            _("The cursor belongs to another query. Repeat the filters of the call that issued it, or leave it out."),
            code="cursor_mismatch",
        )
    at: dict[str, Any] = sealed["at"]
    return at


def paginate_keyset(
    queryset: QuerySet[M], *, limit: int, cursor: str | None, scope: str, order: str = "-id"
) -> KeysetPage[M]:
    """Take the page of ``queryset`` that starts behind ``cursor``, with one query.

    ``order`` is a concrete non-null field or annotation, ``-`` in front for descending; ties are broken by the primary
    key in the same direction. Rows that come or go between two pages neither repeat nor hide others.

    :raises InvalidInput: see :func:`decode_cursor`.
    """
    name, descending = order.removeprefix("-"), order.startswith("-")
    field = _ordered_by(queryset, name)
    if cursor is not None:
        queryset = queryset.filter(_behind(field, decode_cursor(cursor, scope=scope), descending=descending))
    sign = "-" if descending else ""
    rows = list(queryset.order_by(f"{sign}{name}", f"{sign}pk")[: limit + 1])
    has_more = len(rows) > limit
    rows = rows[:limit]
    if not has_more:
        return KeysetPage(items=rows, next_cursor=None)
    last = {"value": field.value_to_string(rows[-1]), "pk": rows[-1].pk}
    return KeysetPage(items=rows, next_cursor=encode_cursor(last, scope=scope))


def _ordered_by(queryset: QuerySet[M], name: str) -> Field[Any, Any]:
    annotation = queryset.query.annotations.get(name)
    if annotation is None:
        return queryset.model._meta.get_field(name)  # type: ignore[return-value]
    field: Field[Any, Any] = copy(annotation.output_field)
    field.name = field.attname = name
    return field


def _behind(field: Field[Any, Any], at: dict[str, Any], *, descending: bool) -> Q:
    than = "lt" if descending else "gt"
    if field.primary_key:
        return Q(**{f"pk__{than}": at["pk"]})
    value = field.to_python(at["value"])
    # the first condition alone lets PostgreSQL start in the middle of an index on the field
    return Q(**{f"{field.name}__{than}e": value}) & (
        Q(**{f"{field.name}__{than}": value}) | Q(**{f"pk__{than}": at["pk"]})
    )
