"""What a person sees, shown to somebody else who may see it, too: the documents and reviews that both may read.

It is a view of lists and counts, made by the functions that decide for the person themselves, with the person's
rights. Nobody acts by it, and what the caller may not read is left out and not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet

from hub.access.principals import Principal
from hub.access.services import principal_for_user, record_event
from hub.people.rights import collections_named_to
from knowledge.models import Collection, Document
from review.models import Review

MOST_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCollection:
    """A collection that both may read, with how many documents and reviews in it both may read."""

    collection: Collection
    documents: int
    reviews: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What both may read: all collections, the newest documents and reviews (``MOST_SHOWN`` of each), and how many."""

    collections: tuple[SeenCollection, ...]
    documents: tuple[Document, ...]
    reviews: tuple[Review, ...]
    document_count: int
    review_count: int


def seen_by(principal: Principal, user: User) -> Seen:
    """Give what a person whom ``find_person`` gave sees of what the caller sees. The trail notes who looked as whom.

    Nothing for a person who may not sign in. Who administers people looks at the collections that they may read, who
    administers collections at those.
    """
    record_event(principal, "SEEN_AS", f"user:{user.pk}", name=user.get_username())
    if not user.is_active:
        return Seen(collections=(), documents=(), reviews=(), document_count=0, review_count=0)
    person = principal_for_user(user)
    named = collections_named_to(principal)
    collections = list(Collection.objects.visible_to(person).filter(pk__in=named.values("pk")).order_by("slug"))
    documents = Document.objects.visible_to(person).live().filter(collection__in=collections)
    documents = documents.filter(pk__in=Document.objects.visible_to(principal).values("pk"))
    reviews = Review.objects.visible_to(person).filter(version__document__in=documents.order_by().values("pk"))
    reviews = reviews.filter(pk__in=Review.objects.visible_to(principal).values("pk"))
    in_each = _counted(documents, "collection_id")
    reviews_in_each = _counted(reviews, "version__document__collection_id")
    return Seen(
        collections=tuple(
            SeenCollection(collection=one, documents=in_each.get(one.pk, 0), reviews=reviews_in_each.get(one.pk, 0))
            for one in collections
        ),
        documents=tuple(documents.select_related("collection").order_by("-pk")[:MOST_SHOWN]),
        reviews=tuple(reviews.select_related("version__document").order_by("-pk")[:MOST_SHOWN]),
        document_count=sum(in_each.values()),
        review_count=sum(reviews_in_each.values()),
    )


def _counted(rows: QuerySet[Document] | QuerySet[Review], collection: str) -> dict[int, int]:
    """How many rows there are for each collection."""
    return dict(rows.order_by().values_list(collection).annotate(Count("pk")))
