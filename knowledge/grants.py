"""Roles in collections, granted to people and groups by who administers those: for good, for a time, or handed on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.models import HubRoleGrant
from hub.access.names import name_of
from hub.access.people import check_delegation, check_end, check_handed_on, check_own
from hub.access.principals import ROLE_SCOPES, HubRole, Principal, Role, Scope, roles_with
from hub.access.services import record_event
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.collections import get_collection
from knowledge.models import Collection, CollectionGrant


@dataclass(frozen=True, slots=True, kw_only=True)
class Grantee:
    """A person by user name, or a group by name: exactly one of the two."""

    user: str = ""
    group: str = ""


def list_grants(principal: Principal, slug: str) -> list[CollectionGrant]:
    """The grants of a collection, people before groups, by name. Needs admin in the collection."""
    collection = get_collection(principal, slug, scope=Scope.ADMIN)
    rows = CollectionGrant.objects.filter(collection=collection)
    rows = rows.select_related("user", "group", "delegator", "given_by", "ended_by")
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


def administrators_of(collection_ids: Iterable[int]) -> dict[int, list[str]]:
    """The names of those who hold the role of an administrator in force, by collection, sorted. Two queries."""
    grants = CollectionGrant.objects.in_force().filter(collection__in=collection_ids, role=Role.ADMINISTRATOR)
    holders: dict[tuple[str, int], set[int]] = defaultdict(set)
    for collection_id, user_id, group_id in grants.values_list("collection_id", "user_id", "group_id"):
        holders[("user", user_id) if user_id else ("group", group_id)].add(collection_id)
    users = [key for kind, key in holders if kind == "user"]
    groups = [key for kind, key in holders if kind == "group"]
    people = get_user_model().objects.filter(Q(pk__in=users) | Q(groups__in=groups), is_active=True)
    found: dict[int, set[str]] = defaultdict(set)
    for user in people.distinct().prefetch_related("groups") if holders else ():
        keys = [("user", user.pk), *(("group", group.pk) for group in user.groups.all())]
        for collection_id in set().union(*(holders.get(key, set()) for key in keys)):
            found[collection_id].add(name_of(user))
    return defaultdict(list, {key: sorted(names) for key, names in found.items()})


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
    *, principal: Principal, slug: str, to: Grantee, role: str, until: datetime | None = None, reason: str = ""
) -> CollectionGrant:
    """Give a role, for good or until a moment; giving it again changes that and the reason.

    Needs admin in the collection. Who administers it because somebody handed that on to them gives nothing. Raises
    InvalidInput for an unknown role, person or group and for an end that is past, Conflict where that would leave
    nobody who administers it for good.
    """
    collection = _administered(principal, slug)
    _check_role(role)
    if until is not None:
        check_end(until)
    given = {"until": until, "delegator": None}
    holder = find_holder(to)
    row, is_new = CollectionGrant.objects.get_or_create(collection=collection, role=role, **holder, defaults=given)
    if is_new or (row.until, row.delegator_id, row.reason) != (until, None, reason):
        if until is not None and not is_new:
            _check_not_last(principal, row)
        row.give(principal, until=until, reason=reason)
        _record(principal, collection, granted=str(row), until=until.isoformat() if until else "", reason=reason)
    return row


@transaction.atomic
def delegate_role(
    *, principal: Principal, slug: str, to: str, role: str, until: datetime, reason: str = ""
) -> CollectionGrant:
    """Hand a role of the caller's in a collection on to a person until a moment, as long as the caller has it.

    Raises Forbidden for a role that the caller has not, or has by somebody who handed it on, and for a call without
    its scopes; InvalidInput for a person or a moment that can't be; Conflict for a person who has the role.
    """
    collection = get_collection(principal, slug)
    _check_role(role)
    for scope in sorted(ROLE_SCOPES[role]):
        principal.require(scope)
    check_own(principal, CollectionGrant.objects.filter(collection=collection, role=role))
    person = find_holder(Grantee(user=to))["user"]  # not before: whom there is, is for those who may give something
    check_delegation(principal, person, until)
    row, is_new = CollectionGrant.objects.get_or_create(
        collection=collection, role=role, user=person, defaults={"until": until, "delegator_id": principal.user_id}
    )
    if not is_new:
        check_handed_on(principal, row, person)
    row.give(principal, until=until, reason=reason, delegator_id=principal.user_id)
    names = {"delegated": str(row), "by": principal.name, "to": to}
    _record(principal, collection, **names, until=until.isoformat(), reason=reason)
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
    row = _found(collection, to, role)
    _check_not_last(principal, row)
    withdrawn = str(row)
    row.delete()
    _record(principal, collection, withdrawn=withdrawn)


@transaction.atomic
def end_role(*, principal: Principal, slug: str, to: Grantee, role: str) -> CollectionGrant:
    """End a role now, and keep the grant among those that ended. For who administers the collection, or handed it on.

    Raises as :func:`withdraw_role`. One that has ended already stays as it is.
    """
    collection = get_collection(principal, slug)
    handed_on = CollectionGrant.objects.filter(collection=collection, role=role, delegator_id=principal.user_id)
    is_own = principal.user_id is not None and handed_on.filter(user__username=to.user).exists()
    for scope in sorted(ROLE_SCOPES[role]) if is_own else ():
        principal.require(scope)
    row = _found(collection if is_own else _administered(principal, slug), to, role)
    _check_not_last(principal, row)
    if row.end(principal):
        _record(principal, collection, ended=str(row))
    return row


def _found(collection: Collection, to: Grantee, role: str) -> CollectionGrant:
    """The grant of a role. Raises InvalidInput for what can't be, NotFound when nobody has it."""
    _check_role(role)
    row: CollectionGrant | None = collection.grants.filter(role=role, **find_holder(to)).first()
    if row is None:
        raise NotFound(
            _('"{holder}" does not have the role "{role}" in "{slug}".'),
            code="grant_not_found",
            holder=to.user or to.group,
            role=role,
            slug=collection.slug,
        )
    return row


def _check_not_last(principal: Principal, row: CollectionGrant) -> None:
    """Raise Conflict when a collection would be left without anybody who administers it for good.

    A role that ends, or that was handed on, leaves nobody fewer.
    """
    is_for_good = row.role == Role.ADMINISTRATOR and row.until is None and row.delegator_id is None
    if not is_for_good or principal.is_superuser:
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
