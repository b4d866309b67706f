"""Collections, and who has which right in them: roles granted to people and groups by those who administer it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.models import HubRoleGrant
from hub.access.people import check_delegation, check_end
from hub.access.principals import ROLE_SCOPES, Classification, HubRight, HubRole, Principal, Role, Scope, roles_with
from hub.access.services import record_event
from hub.core.bounds import check_row
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
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
            _check_never_used(slug)  # after it: who waited here for a deletion sees what that left
            if principal.user_id is not None and not principal.is_superuser:
                CollectionGrant.objects.create(collection=collection, user_id=principal.user_id, role="administrator")
            record_event(principal, "COLLECTION_CREATE", f"collection:{slug}")
    except IntegrityError as error:
        raise _slug_taken(slug) from error
    return collection


def _slug_taken(slug: str) -> Conflict:
    # the same for a collection that is there, for one that the caller may not see, and for one that was deleted
    return Conflict(_('The slug "{slug}" is taken, or was before. Choose another.'), slug=slug)


def _check_never_used(slug: str) -> None:
    if FormerSlug.objects.filter(pk=slug).exists():
        raise _slug_taken(slug)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Grantee:
    """A person by user name, or a group by name: exactly one of the two."""

    user: str = ""
    group: str = ""


def list_grants(principal: Principal, slug: str) -> list[CollectionGrant]:
    """The grants of a collection, people before groups, by name. Needs admin in the collection."""
    collection = get_collection(principal, slug, scope=Scope.ADMIN)
    rows = CollectionGrant.objects.filter(collection=collection).select_related("user", "group", "delegator")
    return list(rows.order_by("user__username", "group__name", "role"))


def granted_scopes(principal: Principal) -> set[Scope]:
    """What the caller's roles in collections can be used for, those of their groups among them. One query at most."""
    roles = CollectionGrant.objects.held_by(principal).values_list("role", flat=True).distinct()
    return {scope for role in roles for scope in ROLE_SCOPES[role]}


def rights_by_grants(principal: Principal) -> list[str]:
    """The caller's roles in collections up to their ceiling, as facts for ``hub.access.rights``. One query at most."""
    grants = CollectionGrant.objects.held_by(principal).filter(collection__classification__lte=principal.ceiling)
    return [f"grant {collection} {role}" for collection, role in grants.values_list("collection_id", "role").distinct()]


def curators_without_hub_role() -> list[str]:
    """The people who curate some collection, by name, while nobody at all curates the hub; else none.

    Before there were roles of the hub they changed what belongs to no collection. Superusers still do, and are not
    among them.
    """
    if HubRoleGrant.objects.filter(role=HubRole.CURATOR).exists():
        return []
    grants = CollectionGrant.objects.filter(role__in=roles_with(Scope.CURATE))
    mine = Q(pk__in=grants.values("user_id")) | Q(groups__in=grants.values("group_id"))
    people = get_user_model().objects.filter(mine, is_active=True, is_superuser=False)
    return list(people.order_by("username").values_list("username", flat=True).distinct())


def carried_by_groups(principal: Principal, groups: Iterable[int]) -> list[str]:
    """What groups carry in collections that the caller does not administer, without naming those. Two queries at most.

    For ``hub.access.people.CARRIED_BY_GROUPS``.
    """
    beyond = _beyond(principal, Q(group_id__in=list(groups)))
    count = beyond.values("collection_id").distinct().count()
    return [str(_("roles in {count} collections").format(count=count))] if count else []


def carried_by_person(principal: Principal, user_id: int) -> bool:
    """Whether a person has, themselves or by groups, roles in collections that the caller may not give. One query.

    For ``hub.access.people.CARRIED_BY_PERSON``.
    """
    return _beyond(principal, Q(user_id=user_id) | Q(group__user=user_id)).exists()


def _beyond(principal: Principal, holders: Q) -> QuerySet[CollectionGrant]:
    """Grants in collections where the caller may give no roles; permission filter not applied."""
    given = Collection.objects.visible_to(principal, Scope.ADMIN)
    if not principal.is_superuser:
        own = CollectionGrant.objects.own_of(principal).filter(role=Role.ADMINISTRATOR)
        given = given.filter(pk__in=own.values("collection_id"))
    return CollectionGrant.objects.filter(holders).exclude(collection__in=given)


@transaction.atomic
def grant_role(
    *, principal: Principal, slug: str, to: Grantee, role: str, until: datetime | None = None
) -> CollectionGrant:
    """Give a role, for good or until a moment; giving it again changes only that. Needs admin in the collection.

    Who administers it because somebody handed that on to them gives nothing. Raises InvalidInput for an unknown role,
    person or group and for an end that is past, Conflict where that would leave nobody who administers it for good.
    """
    collection = _administered(principal, slug)
    _check_role(role)
    if until is not None:
        check_end(until)
    given = {"until": until, "delegator": None}
    holder = find_holder(to)
    row, is_new = CollectionGrant.objects.get_or_create(collection=collection, role=role, **holder, defaults=given)
    if not is_new and (row.until, row.delegator_id) != (until, None):
        if until is not None:
            _check_not_last(principal, row)
        row.until, row.delegator, is_new = until, None, True
        row.save(update_fields=["until", "delegator"])
    if is_new:
        _record(principal, collection, granted=str(row), until=until.isoformat() if until else "")
    return row


@transaction.atomic
def delegate_role(*, principal: Principal, slug: str, to: str, role: str, until: datetime) -> CollectionGrant:
    """Hand a role of the caller's in a collection on to a person until a moment, as long as the caller has it.

    Raises Forbidden for a role that the caller has not, or has by somebody who handed it on, and for a call without
    its scopes; InvalidInput for a person or a moment that can't be; Conflict for a person who has the role.
    """
    collection = get_collection(principal, slug)
    _check_role(role)
    for scope in sorted(ROLE_SCOPES[role]):
        principal.require(scope)
    person = find_holder(Grantee(user=to))["user"]
    own = CollectionGrant.objects.own_of(principal).filter(collection=collection, role=role)
    check_delegation(principal, person, until, has_role=own.exists())
    row, is_new = CollectionGrant.objects.get_or_create(
        collection=collection, role=role, user=person, defaults={"until": until, "delegator_id": principal.user_id}
    )
    if not is_new and row.delegator_id != principal.user_id:
        raise Conflict(_('"{holder}" has this role already.'), code="has_role", holder=to)
    row.until = until
    row.save(update_fields=["until"])
    names = {"delegated": str(row), "by": principal.name, "to": to}
    _record(principal, collection, **names, until=until.isoformat())
    return row


def _administered(principal: Principal, slug: str) -> Collection:
    """The collection, for who administers it without somebody having handed that on to them. Raises NotFound."""
    collection = get_collection(principal, slug, scope=Scope.ADMIN)
    own = CollectionGrant.objects.own_of(principal).filter(collection=collection, role=Role.ADMINISTRATOR)
    if not principal.is_superuser and not own.exists():
        raise Forbidden(_("A role that was handed on to you can't be used to give roles."), code="delegated_role")
    return collection


@transaction.atomic
def withdraw_role(*, principal: Principal, slug: str, to: Grantee, role: str) -> None:
    """Take a role back. Needs admin in the collection.

    Raises NotFound when nobody has it, and Conflict for the last administrator's, which only superusers take.
    """
    collection = _administered(principal, slug)
    _check_role(role)
    row = CollectionGrant.objects.filter(collection=collection, role=role, **find_holder(to)).first()
    if row is None:
        raise NotFound(
            _('"{holder}" does not have the role "{role}" in "{slug}".'),
            code="grant_not_found",
            holder=to.user or to.group,
            role=role,
            slug=slug,
        )
    _check_not_last(principal, row)
    withdrawn = str(row)
    row.delete()
    _record(principal, collection, withdrawn=withdrawn)


def _check_not_last(principal: Principal, row: CollectionGrant) -> None:
    """Raise Conflict when a collection would be left without anybody who administers it."""
    if row.role != Role.ADMINISTRATOR or principal.is_superuser:
        return
    Collection.objects.select_for_update().get(pk=row.collection_id)  # of two who go at once, one stays
    others = CollectionGrant.objects.filter(collection=row.collection_id, role=Role.ADMINISTRATOR).exclude(pk=row.pk)
    others = others.filter(until__isnull=True, delegator__isnull=True)
    if not others.filter(Q(user__is_active=True) | Q(group__user__is_active=True)).exists():
        raise Conflict(
            _("Nobody would administer this collection any more. Give somebody else the role first."),
            code="last_administrator",
        )


def _check_role(role: str) -> None:
    if role not in Role.values:
        raise InvalidInput(
            _('role: "{role}" is not one of {known}.'), field="role", role=role[:40], known=", ".join(Role.values)
        )


def grantee_of(row: CollectionGrant) -> Grantee:
    """Who holds a grant."""
    return Grantee(
        user=row.user.get_username() if row.user is not None else "",
        group=row.group.name if row.group is not None else "",
    )


def find_holder(to: Grantee) -> dict[str, Any]:
    """The person or the group as filter and as fields of a new grant. Raises InvalidInput."""
    if bool(to.user) == bool(to.group):
        raise InvalidInput(_("Name a user or a group, and not both."), field="user")
    if to.user:
        user = get_user_model().objects.filter(username=to.user).first()
        if user is None:
            raise InvalidInput(_('There is no user "{name}".'), field="user", name=to.user[:150])
        return {"user": user}
    group = Group.objects.filter(name=to.group).first()
    if group is None:
        raise InvalidInput(_('There is no group "{name}".'), field="group", name=to.group[:150])
    return {"group": group}


def _record(principal: Principal, collection: Collection, **details: str) -> None:
    record_event(principal, "CONFIG_CHANGE", f"collection:{collection.slug}", **details)
