"""What one person may do now, and why: read from the grants that decide it, for who administers people or collections.

Who administers people is shown the rights of the hub of everybody, and those in the collections that they may read;
who administers a collection is shown the rights in it of those who have a role there. Collections that the caller may
not be shown are counted and not named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _

from hub.access.models import Clearance, Grant, HubRoleGrant
from hub.access.permissions import HUB_ROLES, ROLE_SCOPES
from hub.access.principals import Classification, HubRight, HubRole, Principal, Role, Scope
from hub.access.provider_models import ProviderAccount, ProviderGroup
from hub.access.services import principal_for_user, record_event
from hub.core.errors import NotFound
from hub.evaluation.models import EvaluationDataset
from knowledge.models import Collection, CollectionGrant, Document


class ReasonKind(StrEnum):
    """By what a person has a role: given to them, to a group of theirs, handed on to them, or as a superuser."""

    OWN = "own"
    GROUP = "group"
    PROVIDER_GROUP = "provider_group"
    DELEGATION = "delegation"
    SUPERUSER = "superuser"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a person has a role, until when. ``role`` and ``role_label`` are empty for a superuser, who needs none.

    ``by`` is the group, or who handed the role on; ``provider_groups`` are the provider's groups that put the person
    into the group, as "provider: group".
    """

    kind: ReasonKind
    role: str = ""
    role_label: str = ""
    by: str = ""
    provider_groups: tuple[str, ...] = ()
    until: datetime | None = None

    @property
    def text(self) -> str:
        """The reason in words, in the reader's language."""
        texts = {
            ReasonKind.OWN: _("{role}: given to the person"),
            ReasonKind.GROUP: _('{role}: by the group "{by}"'),
            ReasonKind.PROVIDER_GROUP: _('{role}: by the group "{by}", which the provider brings ({groups})'),
            ReasonKind.DELEGATION: _("{role}: handed on by {by}, for as long as they have it"),
            ReasonKind.SUPERUSER: _("superuser ({groups})") if self.provider_groups else _("superuser"),
        }
        groups = ", ".join(self.provider_groups)
        return texts[self.kind].format(role=self.role_label, by=self.by, groups=groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRight:
    """A right of the hub that a person has."""

    right: HubRight
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRights:
    """What a person may do in a collection: ``scopes``, none where it is classified above their ceiling.

    ``administered``: the caller gives roles in it. ``documents_above`` counts its documents that are classified above
    the person's ceiling, among those that the caller may read.
    """

    slug: str
    name: str
    classification: Classification
    scopes: tuple[Scope, ...]
    reasons: tuple[Reason, ...]
    is_above_ceiling: bool
    documents_above: int
    administered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRights:
    """All that a person may do now, as far as the caller may be shown it; nothing for one who may not sign in.

    ``hub``, ``ceiling`` and ``other_collections``, the number of collections with a role that are not named, are for
    who administers people; else empty, None and None. ``datasets`` are the codes of the evaluation datasets that name
    the person among their readers, those that the caller reads, too; ``other_datasets`` counts the others.
    """

    user: User
    ceiling: Classification | None
    ceiling_reason: str
    hub: tuple[HeldRight, ...]
    collections: tuple[CollectionRights, ...]
    other_collections: int | None
    datasets: tuple[str, ...]
    other_datasets: int | None


def may_look(principal: Principal) -> bool:
    """Whether the caller may ask for anybody's rights. One query at most."""
    return principal.may(HubRight.PEOPLE) or Collection.objects.visible_to(principal, Scope.ADMIN).exists()


def collections_named_to(principal: Principal) -> QuerySet[Collection]:
    """Keep the collections whose grants the caller may be shown."""
    scope = Scope.READ if principal.may(HubRight.PEOPLE) else Scope.ADMIN
    return Collection.objects.visible_to(principal, scope)


def people_shown_to(principal: Principal) -> QuerySet[User]:
    """Keep the people whose rights the caller may ask for, by name: all, or who has a role in their collections.

    Raises Forbidden for who administers neither people nor a collection.
    """
    if principal.may(HubRight.PEOPLE):
        return User.objects.order_by("username")
    if not may_look(principal):
        principal.require_hub(HubRight.PEOPLE)
    grants = CollectionGrant.objects.in_force().filter(collection__in=collections_named_to(principal))
    holders: QuerySet[User] = grants.holders()
    return holders.order_by("username")


def find_person(principal: Principal, **named: object) -> User:
    """Find a person by ``pk`` or ``username``. Raises Forbidden; NotFound, also for who is not shown to the caller."""
    person = people_shown_to(principal).filter(**named).first()
    if person is None:
        raise NotFound(_("There is no such person, or you may not see what they may do."), code="person_not_found")
    return person


def rights_of_person(principal: Principal, user: User) -> PersonRights:
    """Say what a person whom :func:`find_person` gave may do now, and why. The trail notes who asked.

    A handful of queries, however many collections there are.
    """
    record_event(principal, "RIGHTS_READ", f"user:{user.pk}", name=user.get_username())
    administers_people = principal.may(HubRight.PEOPLE)
    person = principal_for_user(user)
    explained = _Explained(user)
    grants = CollectionGrant.objects.held_by(person) if user.is_active else CollectionGrant.objects.none()
    collections = _in_collections(principal, person, user, explained, grants)
    others = None
    if administers_people:
        others = _held_collections(user, grants).exclude(pk__in=collections_named_to(principal)).count()
    return PersonRights(
        user=user,
        ceiling=person.ceiling if administers_people else None,
        ceiling_reason=_ceiling_reason(user, explained) if administers_people else "",
        hub=_of_the_hub(person, user, explained) if administers_people and user.is_active else (),
        collections=collections,
        other_collections=others,
        **_datasets(principal, user, administers_people=administers_people),
    )


def _datasets(principal: Principal, user: User, *, administers_people: bool) -> dict[str, Any]:
    """The evaluation datasets that name a person, who may sign in, among their readers. Two queries."""
    named = EvaluationDataset.objects.filter(readers=user) if user.is_active else EvaluationDataset.objects.none()
    shown = named.filter(pk__in=EvaluationDataset.objects.visible_to(principal).values("pk"))
    codes = tuple(shown.order_by("code").values_list("code", flat=True))
    return {"datasets": codes, "other_datasets": named.count() - len(codes) if administers_people else None}


class _Explained:
    """Gives the reasons that grants are, knowing which groups an identity provider put the person into. Two queries."""

    def __init__(self, user: User) -> None:
        self.account = ProviderAccount.objects.filter(user=user).first()
        self.meanings: list[ProviderGroup] = []
        if self.account is not None:
            held = ProviderGroup.objects.filter(provider=self.account.provider, value__in=self.account.groups)
            self.meanings = list(held)

    def provider_groups(self, **fields: object) -> tuple[str, ...]:
        """The provider's groups of the person whose meaning here has these fields, as "provider: group"."""
        held = [row for row in self.meanings if all(getattr(row, name) == value for name, value in fields.items())]
        return tuple(f"{row.provider}: {row.value}" for row in held)

    def reason(self, grant: Grant, role: str, label: str) -> Reason:
        """The reason that a grant of a role is."""
        row: Any = grant
        common: dict[str, Any] = {"role": role, "role_label": label, "until": grant.until}
        if grant.delegator is not None:
            return Reason(kind=ReasonKind.DELEGATION, by=grant.delegator.get_username(), **common)
        if row.group is None:
            return Reason(kind=ReasonKind.OWN, **common)
        brought = self.provider_groups(group_id=row.group_id)
        kind = ReasonKind.PROVIDER_GROUP if brought else ReasonKind.GROUP
        return Reason(kind=kind, by=row.group.name, provider_groups=brought, **common)

    def superuser(self) -> Reason:
        """The reason for everything that a superuser may do."""
        return Reason(kind=ReasonKind.SUPERUSER, provider_groups=self.provider_groups(is_administrator=True))


def _of_the_hub(person: Principal, user: User, explained: _Explained) -> tuple[HeldRight, ...]:
    grants = HubRoleGrant.objects.held_by(person).select_related("group", "delegator").order_by("pk")
    reasons: dict[HubRight, list[Reason]] = defaultdict(list)
    for right in HubRight if user.is_superuser else ():
        reasons[right].append(explained.superuser())
    for grant in grants:
        role = HubRole(grant.role)
        for right in HUB_ROLES[role].rights:
            reasons[right].append(explained.reason(grant, role.value, str(role.label)))
    return tuple(HeldRight(right=right, reasons=tuple(reasons[right])) for right in HubRight if reasons[right])


def _held_collections(user: User, grants: QuerySet[CollectionGrant]) -> QuerySet[Collection]:
    """The collections in which the person has some role, those above their ceiling among them, by slug."""
    everything = Collection.objects.order_by("slug")
    is_superuser = user.is_superuser and user.is_active
    return everything if is_superuser else everything.filter(pk__in=grants.values("collection_id"))


def _in_collections(
    principal: Principal, person: Principal, user: User, explained: _Explained, grants: QuerySet[CollectionGrant]
) -> tuple[CollectionRights, ...]:
    named = list(_held_collections(user, grants).filter(pk__in=collections_named_to(principal)))
    reasons: dict[int, list[Reason]] = defaultdict(list)
    for grant in grants.filter(collection__in=named).select_related("group", "delegator").order_by("pk"):
        role = Role(grant.role)
        reasons[grant.collection_id].append(explained.reason(grant, role.value, str(role.label)))
    above = dict(
        Document.objects.visible_to(principal)
        .live()
        .filter(collection__in=named, classification__gt=person.ceiling)
        .order_by()
        .values_list("collection_id")
        .annotate(Count("pk"))
    )
    administered = Collection.objects.visible_to(principal, Scope.ADMIN).filter(pk__in=[one.pk for one in named])
    given = set(administered.values_list("pk", flat=True))
    found = []
    for collection in named:
        why = ([explained.superuser()] if user.is_superuser else []) + reasons[collection.pk]
        is_above = collection.classification > person.ceiling
        found.append(
            CollectionRights(
                slug=collection.slug,
                name=collection.name,
                classification=Classification(collection.classification),
                scopes=() if is_above else _scopes(why),
                reasons=tuple(why),
                is_above_ceiling=is_above,
                documents_above=above.get(collection.pk, 0),
                administered=collection.pk in given,
            )
        )
    return tuple(found)


def _scopes(reasons: Iterable[Reason]) -> tuple[Scope, ...]:
    """What some reasons carry together, in the order of the table."""
    carried: set[Scope] = set()
    for reason in reasons:
        carried |= set(Scope) if reason.kind is ReasonKind.SUPERUSER else ROLE_SCOPES[reason.role]
    return tuple(scope for scope in Scope if scope in carried)


def _ceiling_reason(user: User, explained: _Explained) -> str:
    if not Clearance.objects.filter(user=user).exists():
        return _("the default of superusers") if user.is_superuser else _("the default")
    brought = [f"{row.provider}: {row.value}" for row in explained.meanings if row.ceiling is not None]
    if not brought:
        return _("set for the person")
    return _("brought by the provider ({groups})").format(groups=", ".join(brought))
