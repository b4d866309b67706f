"""Collections: making, changing and deleting them. Who has which role in them: :mod:`knowledge.grants`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, HubRight, Principal, Scope
from hub.access.services import record_event
from hub.core.bounds import check_row
from hub.core.errors import Conflict, InvalidInput, NotFound
from knowledge.models import Collection, CollectionGrant, FormerSlug

DEFAULT_COLLECTION = "default"


def read_classification(name: str, *, field: str = "classification") -> Classification | None:
    """Read ``c1``, ``c2`` or ``c3`` as a caller writes it; empty means not said. Raises InvalidInput."""
    if not name:
        return None
    try:
        return Classification.from_name(name)
    except KeyError as error:
        raise InvalidInput(_('{field}: "{value}" is not one of c1, c2, c3.'), field=field, value=name[:80]) from error


def curates_some_collection(principal: Principal) -> bool:
    """Return whether there is a collection that the caller curates. It gives no say over what belongs to none."""
    return Collection.objects.visible_to(principal, Scope.CURATE).exists()


def scopes_held(principal: Principal, scopes: Iterable[Scope]) -> frozenset[Scope]:
    """Those of the scopes that the caller has in one collection at least. A query for each."""
    return frozenset(scope for scope in scopes if Collection.objects.visible_to(principal, scope).exists())


def get_collection(principal: Principal, slug: str, *, scope: Scope = Scope.READ) -> Collection:
    """Find a collection that the caller may use with ``scope``. Raises NotFound, also for what they may not see."""
    principal.require(scope)
    collection = Collection.objects.visible_to(principal, scope).filter(slug=slug).first()
    if collection is None:
        raise collection_not_found(slug)
    return collection


def collection_not_found(slug: str) -> NotFound:
    """The error for a collection that is not there, and for one that the caller may not use."""
    return NotFound(
        _('There is no collection "{slug}", or you may not use it for this.'),
        code="collection_not_found",
        slug=slug[:80],
    )


def create_collection(
    *,
    principal: Principal,
    slug: str,
    name: str,
    description: str = "",
    classification: Classification = Classification.C2,
    retention_days: int | None = None,
    anonymised_kinds: Sequence[str] = (),
    anonymised_fields: Sequence[str] = (),
) -> Collection:
    """Create a collection; a maker who is no superuser becomes its administrator. For curators of the hub."""
    principal.require_hub(HubRight.COLLECTIONS)
    collection = Collection(
        slug=slug,
        name=name or slug,
        description=description,
        classification=classification,
        retention_days=retention_days,
        anonymised_kinds=list(anonymised_kinds),
        anonymised_fields=list(anonymised_fields),
    )
    check_row(collection)
    try:
        with transaction.atomic():
            collection.save()
            if FormerSlug.objects.filter(pk=slug).exists():  # who waited for a deletion sees what it left
                raise _slug_taken(slug)
            if principal.user_id is not None and not principal.is_superuser:
                CollectionGrant.objects.create(collection=collection, user_id=principal.user_id, role="administrator")
            record_event(principal, "COLLECTION_CREATE", f"collection:{slug}")
    except IntegrityError as error:
        raise _slug_taken(slug) from error
    return collection


def _slug_taken(slug: str) -> Conflict:
    # the same for a collection that is there, for one that the caller may not see, and for one that was deleted
    return Conflict(_('The slug "{slug}" is taken, or was before. Choose another.'), slug=slug)


def update_collection(*, principal: Principal, slug: str, **changes: object) -> Collection:
    """Change name, description, classification or retention. Needs curate in the collection."""
    collection = get_collection(principal, slug, scope=Scope.CURATE)
    for field, value in changes.items():
        setattr(collection, field, value)
    check_row(collection, only=changes)
    collection.save(update_fields=list(changes))
    record_event(principal, "CONFIG_CHANGE", f"collection:{slug}", changed=sorted(changes))
    return collection


def delete_collection(*, principal: Principal, slug: str) -> None:
    """Delete an empty collection; no other ever gets its slug. Raises Conflict while documents are in it."""
    collection = get_collection(principal, slug, scope=Scope.CURATE)
    if collection.documents.exists():
        raise Conflict(
            _('The collection "{slug}" still has documents. Delete them first, for instance with `manage.py clear`.'),
            slug=slug,
        )
    with transaction.atomic():
        FormerSlug.objects.get_or_create(slug=slug)  # before the row goes: who waits for the slug then finds this
        collection.delete()
        record_event(principal, "COLLECTION_DELETE", f"collection:{slug}")
