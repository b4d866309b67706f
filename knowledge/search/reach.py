"""What a caller may search: asked once, in the search's own snapshot, and not anew in each of its statements.

Which collections somebody may search takes a look at their grants, at how long these last and at who handed them on.
Planning that takes longer than running it, and a search would do so four or five times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.core.exceptions import EmptyResultSet

from hub.access.principals import Classification, Principal, Scope
from hub.core.database import prepared_cursor
from hub.core.routing import read_connection
from knowledge.models import Collection, Document
from knowledge.models.documents import DocumentQuerySet


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The collections that a caller may search, by their keys and ascending; None for all. And up to which class."""

    collection_ids: tuple[int, ...] | None
    ceiling: Classification

    @property
    def is_everything(self) -> bool:
        """Whether nothing is hidden from the caller."""
        return self.collection_ids is None

    def documents(self) -> DocumentQuerySet:
        """The live documents that are within reach."""
        documents = Document.objects.filter(classification__lte=self.ceiling).live()
        return documents if self.collection_ids is None else documents.filter(collection_id__in=self.collection_ids)


def reach_of(principal: Principal) -> Reach:
    """Ask what a caller may search now. One query, which each connection plans once; none for who sees everything."""
    if principal.sees_everything and principal.allows(Scope.SEARCH):
        return Reach(collection_ids=None, ceiling=principal.ceiling)
    statement = _statement(principal)
    if statement is None:
        return Reach(collection_ids=(), ceiling=principal.ceiling)
    with prepared_cursor(read_connection().alias) as cursor:
        cursor.execute(*statement)
        return Reach(collection_ids=tuple(key for (key,) in cursor.fetchall()), ceiling=principal.ceiling)


@lru_cache(maxsize=256)
def _statement(principal: Principal) -> tuple[str, tuple[Any, ...]] | None:
    """Compile the question; None where the answer is nothing, whatever is stored."""
    collections = Collection.objects.visible_to(principal, Scope.SEARCH).order_by("pk").values_list("pk")
    try:
        return collections.query.sql_with_params()
    except EmptyResultSet:
        return None
