"""What lists are filtered by: a name that is not there is refused, since an empty list would look like an answer."""

from __future__ import annotations

from hub.access.principals import Principal, Scope
from knowledge.services.collections import get_collection
from knowledge.services.documents import check_document_type
from knowledge.types import SearchFilter


def check_filters(
    principal: Principal, *, scope: Scope = Scope.READ, collection: str = "", document_type: str = ""
) -> None:
    """Raise NotFound for a collection that the caller may not use with ``scope``, as for one that is not there.

    Raises InvalidInput for a document type that is not there. Empty ones are no filter.
    """
    if collection:
        get_collection(principal, collection, scope=scope)
    if document_type:
        check_document_type(document_type)


def check_searched(principal: Principal, asked: SearchFilter) -> None:
    """Look, when a search found nothing, whether its filter names a collection or a document type that is not there.

    Raises what ``check_filters`` raises.
    """
    for collection in asked.collections:
        check_filters(principal, scope=Scope.SEARCH, collection=collection)
    for document_type in asked.document_types:
        check_filters(principal, document_type=document_type)
