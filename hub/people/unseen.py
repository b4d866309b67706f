"""What a person does not see yet, and whom to ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import QuerySet

from hub.access.principals import Principal
from hub.access.services import principal_for_user
from hub.people.rights import collections_named_to
from knowledge.grants import administrators_of
from knowledge.models import Collection

MOST_OWNERS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenCollection:
    """A collection that a person does not see. ``owners`` give roles in it; with ``is_above_ceiling`` a role alone
    would not open it: who administers people raises the ceiling.
    """

    collection: Collection
    is_above_ceiling: bool
    owners: tuple[str, ...]


def unseen_collections(principal: Principal, user: User) -> QuerySet[Collection]:
    """Keep the collections that may be named to the caller and that a person does not see, by slug."""
    seen = Collection.objects.visible_to(principal_for_user(user)) if user.is_active else Collection.objects.none()
    return collections_named_to(principal).exclude(pk__in=seen.values("pk")).order_by("slug")


def whom_to_ask(user: User, collections: Sequence[Collection]) -> list[UnseenCollection]:
    """Say of collections that a person does not see who gives roles in them. Three queries."""
    ceiling = principal_for_user(user).ceiling
    names = administrators_of([one.pk for one in collections])
    return [
        UnseenCollection(
            collection=one, is_above_ceiling=one.classification > ceiling, owners=tuple(names[one.pk][:MOST_OWNERS])
        )
        for one in collections
    ]
