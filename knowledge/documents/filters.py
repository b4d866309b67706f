"""What lists and searches are filtered by: what is not there is refused, since an empty list looks like an answer."""

from __future__ import annotations

from collections.abc import Iterable

from hub.access.principals import Principal, Scope
from knowledge.collections.collections import collection_not_found
from knowledge.documents.documents import check_document_type
from knowledge.models import Collection
from knowledge.types.search import SearchFilter


def check_filters(
    principal: Principal,
    *,
    scope: Scope = Scope.READ,
    collections: Iterable[str] = (),
    document_types: Iterable[str] = (),
) -> None:
    """Raise NotFound for a collection that the caller may not use with ``scope``, as for one that is not there.

    Raises InvalidInput for a document type that is not there. Empty names are no filter. A query for all collections
    together, and one for each document type.
    """
    named = [slug for slug in collections if slug]
    if named:
        usable = Collection.objects.visible_to(principal, scope).filter(slug__in=named)
        known = set(usable.values_list("slug", flat=True))
        for slug in named:
            if slug not in known:
                raise collection_not_found(slug)
    for document_type in document_types:
        if document_type:
            check_document_type(document_type)


def check_search_filter(principal: Principal, asked: SearchFilter) -> None:
    """Raise what ``check_filters`` raises for what a search is restricted to; Forbidden without the scope search."""
    principal.require(Scope.SEARCH)
    check_filters(principal, scope=Scope.SEARCH, collections=asked.collections, document_types=asked.document_types)
