"""Who has which role where, at one look: people and groups by collections, a page of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import Group, User
from django.db.models import Q, QuerySet

from hub.access.models import Clearance, HubRoleGrant
from hub.access.principals import Classification, HubRight, HubRole, Principal, Role
from hub.access.services import ceiling_of, record_event
from hub.people.rights import collections_named_to
from knowledge.models import Collection, CollectionGrant


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleHeld:
    """A role in force, in a collection or of the hub; ``by`` is the group that brings it, empty for one's own."""

    role: Role | HubRole
    by: str
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """The roles of a holder in a collection; they count for nothing where it is classified above their ceiling."""

    collection: Collection
    roles: tuple[RoleHeld, ...]
    is_above_ceiling: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A person or a group with a cell for each collection, in the order of those.

    ``hub_roles`` is empty for a caller who does not administer people.
    """

    holder: User | Group
    hub_roles: tuple[RoleHeld, ...]
    cells: tuple[MatrixCell, ...]


def groups_shown_to(principal: Principal) -> QuerySet[Group]:
    """Keep the groups that the caller may be shown, by name: all, or those with a role in their collections."""
    groups = Group.objects.order_by("name")
    if principal.may(HubRight.PEOPLE):
        return groups
    grants = CollectionGrant.objects.in_force().filter(collection__in=collections_named_to(principal))
    return groups.filter(pk__in=grants.values("group_id"))


def roles_of_people(principal: Principal, people: Sequence[User], collections: Sequence[Collection]) -> list[MatrixRow]:
    """The roles of people in collections, their groups' among them; nothing for those who may not sign in.

    The caller gives people and collections that the principal may be shown. Five queries; the trail notes who asked.
    """
    record_event(principal, "RIGHTS_READ", "people", names=[person.get_username() for person in people])
    membership = User.groups.through.objects.filter(user__in=people, user__is_active=True)
    groups: dict[int, list[int]] = defaultdict(list)
    for user_id, group_id in membership.values_list("user_id", "group_id"):
        groups[user_id].append(group_id)
    ceilings = dict(Clearance.objects.filter(user__in=people).values_list("user_id", "ceiling"))
    among = Q(user__in=people) | Q(group__in={one for some in groups.values() for one in some})
    held, of_hub = _held(collections, among), _hub_roles(principal, among)
    rows = []
    for person in people:
        ceiling = ceiling_of(ceilings.get(person.pk), is_superuser=person.is_superuser)
        holders = [("user", person.pk), *(("group", group_id) for group_id in groups[person.pk])]
        rows.append(_row(person, of_hub, held, holders if person.is_active else [], collections, ceiling))
    return rows


def roles_of_groups(
    principal: Principal, groups: Sequence[Group], collections: Sequence[Collection]
) -> list[MatrixRow]:
    """The roles of groups in collections, both of which the caller may show. Two queries."""
    held, of_hub = _held(collections, Q(group__in=groups)), _hub_roles(principal, Q(group__in=groups))
    return [_row(group, of_hub, held, [("group", group.pk)], collections, max(Classification)) for group in groups]


Holder = tuple[str, int]


def _held(collections: Sequence[Collection], holders: Q) -> Mapping[tuple[Holder, int], list[RoleHeld]]:
    """The roles in force by who has them, and where."""
    rows = CollectionGrant.objects.in_force().filter(holders, collection__in=collections).select_related("group")
    held: dict[tuple[Holder, int], list[RoleHeld]] = defaultdict(list)
    for row in rows.order_by("pk"):
        holder = ("user", row.user_id) if row.user_id else ("group", row.group_id)
        by = row.group.name if row.group else ""
        held[holder, row.collection_id].append(RoleHeld(role=Role(row.role), by=by, until=row.until))
    return held


def _hub_roles(principal: Principal, holders: Q) -> Mapping[Holder, list[RoleHeld]]:
    """The roles of the hub in force by who has them, for who administers people. One query, or none."""
    held: dict[Holder, list[RoleHeld]] = defaultdict(list)
    if principal.may(HubRight.PEOPLE):
        for row in HubRoleGrant.objects.in_force().filter(holders).select_related("group").order_by("pk"):
            holder, by = (("user", row.user_id), "") if row.user_id else (("group", row.group_id), row.group.name)
            held[holder].append(RoleHeld(role=HubRole(row.role), by=by, until=row.until))
    return held


def _row(
    holder: User | Group,
    of_hub: Mapping[Holder, Sequence[RoleHeld]],
    held: Mapping[tuple[Holder, int], list[RoleHeld]],
    holders: Iterable[Holder],
    collections: Sequence[Collection],
    ceiling: Classification,
) -> MatrixRow:
    sources = list(holders)
    cells = []
    for collection in collections:
        roles = tuple(role for source in sources for role in held.get((source, collection.pk), ()))
        is_above = bool(roles) and collection.classification > ceiling
        cells.append(MatrixCell(collection=collection, roles=roles, is_above_ceiling=is_above))
    hub_roles = tuple(role for source in sources for role in of_hub.get(source, ()))
    return MatrixRow(holder=holder, hub_roles=hub_roles, cells=tuple(cells))
