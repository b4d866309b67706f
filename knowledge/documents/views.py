"""Kept ways of looking at the list of documents: a person's own, a few, by name."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import Conflict, Forbidden, InvalidInput
from knowledge.models import DocumentView
from knowledge.models.views import LONGEST_VIEW_NAME, LONGEST_VIEW_QUERY

MOST_VIEWS = 20


def document_views(principal: Principal) -> Sequence[DocumentView]:
    """List a person's own views, the oldest first. Callers that are no people have none."""
    if principal.user_id is None:
        return []
    return list(DocumentView.objects.filter(user_id=principal.user_id)[:MOST_VIEWS])


def keep_view(principal: Principal, name: str, query: str) -> None:
    """Keep a query of the list under a name; one of that name is replaced.

    :raises InvalidInput: the name or the query is empty or too long. :raises Conflict: there are MOST_VIEWS.
    :raises Forbidden: the caller is no person.
    """
    if principal.user_id is None:
        raise Forbidden(_("Only people keep views."))
    name = name.strip()
    if not name or len(name) > LONGEST_VIEW_NAME or len(query) > LONGEST_VIEW_QUERY:
        raise InvalidInput(_("{field}: give 1 to {limit} characters."), field="name", limit=LONGEST_VIEW_NAME)
    with transaction.atomic():
        own = DocumentView.objects.filter(user_id=principal.user_id)
        if own.count() >= MOST_VIEWS and not own.filter(name=name).exists():
            raise Conflict(_("You have {count} views. Delete one first."), code="too_many_views", count=MOST_VIEWS)
        DocumentView.objects.update_or_create(user_id=principal.user_id, name=name, defaults={"query": query})


def forget_view(principal: Principal, name: str) -> None:
    """Delete one of a person's own views; one that is not there is no error."""
    if principal.user_id is not None:
        DocumentView.objects.filter(user_id=principal.user_id, name=name).delete()
