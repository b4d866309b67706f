"""What is in the collections that a caller may read: how many documents of which types."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count

from hub.access.principals import Classification, Principal, Scope
from knowledge.models import Collection, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionContents:
    """What a caller may read in a collection. ``types`` counts documents by the code of their type."""

    slug: str
    name: str
    classification: str
    documents: int
    types: dict[str, int]
    may_upload: bool


def list_contents(principal: Principal) -> list[CollectionContents]:
    """The collections that the caller may read, by slug, with the live documents in them. Three queries."""
    principal.require(Scope.READ)
    collections = list(Collection.objects.visible_to(principal).order_by("slug"))
    open_to = set(Collection.objects.visible_to(principal, Scope.UPLOAD).values_list("pk", flat=True))
    counted = (
        Document.objects.visible_to(principal)
        .live()
        .order_by()
        .values_list("collection_id", "document_type_id")
        .annotate(count=Count("pk"))
    )
    types: dict[int, dict[str, int]] = defaultdict(dict)
    for collection_pk, code, count in counted:
        types[collection_pk][code or "other"] = count
    return [
        CollectionContents(
            slug=one.slug,
            name=one.name,
            classification=Classification(one.classification).name.lower(),
            documents=sum(types[one.pk].values()),
            types=dict(sorted(types[one.pk].items())),
            may_upload=one.pk in open_to,
        )
        for one in collections
    ]
