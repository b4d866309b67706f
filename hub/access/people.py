"""Administering people: whose account, groups, ceiling and roles of the hub a caller may change.

Superusers may change all of them. Who holds the right to administer people may not rise by it: they change no account
of a superuser and not their own, give no role of the hub to themselves, never give or take that of a user
administrator, put nobody into a group that carries what they may not give, and raise nobody's ceiling above their own.
Passwords are set as :func:`may_set_password` says, and by people themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.models import Clearance, Grant, GrantQuerySet, HubRoleGrant
from hub.access.permissions import HUB_ROLES
from hub.access.principals import Classification, HubRight, HubRole, Principal
from hub.access.provider_models import ProviderAccount
from hub.access.services import DEFAULT_CEILING, record_event
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from hub.core.extensions import ExtensionPoint

GIVEN_BY_SUPERUSERS = frozenset({HubRole.USER_ADMINISTRATOR})
LONGEST_DELEGATION = timedelta(days=366)

CARRIED_BY_GROUPS = ExtensionPoint[Callable[[Principal, Iterable[int]], list[str]]]()
"""What groups (by their keys) carry in an app that the caller may not give, each in words; empty when nothing."""
CARRIED_BY_PERSON = ExtensionPoint[Callable[[Principal, int], bool]]()
"""Whether a person (by their key) holds something in an app that the caller may not give."""


def check_rank(principal: Principal, user: User | None) -> None:
    """Raise Forbidden when the account is a superuser's and the caller is none. None is nobody's account."""
    if user is not None and user.is_superuser and not principal.is_superuser:
        raise Forbidden(_("Only a superuser changes what belongs to a superuser."), code="superuser_needed")


def may_change_account(principal: Principal, user: User) -> bool:
    """Whether the caller may change an account: not a superuser's, and not their own unless they are superusers."""
    is_own = user.pk == principal.user_id
    return principal.is_superuser or (principal.may(HubRight.PEOPLE) and not user.is_superuser and not is_own)


def may_set_password(principal: Principal, user: User) -> bool:
    """Whether the caller may set another person's password, which is a way to act as them.

    Superusers may; user administrators only for people who do not come from an identity provider, hold no role of the
    hub, see no more than they do, and have no role that they may not give. Four queries at most.
    """
    if principal.is_superuser:
        return True
    if not may_change_account(principal, user) or roles_held(Q(user=user) | Q(group__user=user)):
        return False
    if ProviderAccount.objects.filter(user=user).exists():
        return False
    ceiling = Clearance.objects.filter(user=user).values_list("ceiling", flat=True).first() or DEFAULT_CEILING
    return ceiling <= principal.ceiling and not any(source(principal, user.pk) for source in CARRIED_BY_PERSON)


def roles_held(holders: Q) -> set[str]:
    """The roles of the hub that some grants give, those that have not begun to count or have ended among them."""
    return set(HubRoleGrant.objects.filter(holders).values_list("role", flat=True))


def check_groups(principal: Principal, user: User, groups: Iterable[Group]) -> None:
    """Raise Forbidden unless the caller may give and take a person the membership in some groups.

    A group gives its members what it carries, so it takes who may give all of that. Some queries.
    """
    wanted = list(groups)
    if principal.is_superuser or not wanted:
        return
    principal.require_hub(HubRight.PEOPLE)
    check_rank(principal, user)
    if user.pk is not None and user.pk == principal.user_id:
        raise Forbidden(_("Somebody else has to change the groups that you are in."), code="own_rights")
    keys = [group.pk for group in wanted]
    carried = [str(HubRole(role).label) for role in roles_held(Q(group__in=keys)) if role in GIVEN_BY_SUPERUSERS]
    carried += [one for source in CARRIED_BY_GROUPS for one in source(principal, keys)]
    if carried:
        raise Forbidden(
            _("These groups carry what you may not give: {carried}. Ask who administers that, or a superuser."),
            code="group_carries_more",
            carried=", ".join(carried),
        )


def check_group_may_change(principal: Principal, group: Group) -> None:
    """Raise Forbidden for a group that carries something: what maps groups by their names would give it to others."""
    if principal.is_superuser:
        return
    principal.require_hub(HubRight.PEOPLE)
    if roles_held(Q(group=group)) or any(source(principal, [group.pk]) for source in CARRIED_BY_GROUPS):
        raise Forbidden(_("Only a superuser renames a group that carries roles."), code="group_carries_more")


def check_hub_role(principal: Principal, role: str, *, user: User | None, group: Group | None) -> None:
    """Raise Forbidden unless the caller may give, and take, a role of the hub to and from a person or a group."""
    principal.require_hub(HubRight.PEOPLE)
    if principal.is_superuser:
        return
    check_rank(principal, user)
    if role in GIVEN_BY_SUPERUSERS:
        raise Forbidden(_("Only a superuser gives and takes this role of the hub."), code="superuser_needed")
    is_own = user is not None and user.pk == principal.user_id
    if is_own or (group is not None and group.pk in principal.group_ids):
        raise Forbidden(_("Somebody else has to give you a role of the hub, or take one from you."), code="own_rights")


@transaction.atomic
def save_hub_role(*, principal: Principal, grant: HubRoleGrant) -> HubRoleGrant:
    """Give a role of the hub, or change a grant of one. Raises Forbidden: see :func:`check_hub_role`."""
    before = HubRoleGrant.objects.select_related("user", "group").filter(pk=grant.pk).first()
    for row in (before, grant):
        if row is not None:
            check_hub_role(principal, row.role, user=row.user, group=row.group)
    if grant.until is not None and (before is None or before.until != grant.until):
        check_end(grant.until)
    grant.give(principal, until=grant.until, reason=grant.reason)  # by who gives it now, no longer handed on
    end = {"until": grant.until.isoformat()} if grant.until else {}
    replaced = [str(before)] if before else []
    _record_role(principal, granted=str(grant), replaced=replaced, reason=grant.reason, **end)
    return grant


def give_hub_role(
    *,
    principal: Principal,
    role: HubRole,
    user: User | None = None,
    group: Group | None = None,
    until: datetime | None = None,
    reason: str = "",
) -> HubRoleGrant:
    """Give a role of the hub to a person or a group, or change when it ends and why.

    Raises as :func:`save_hub_role`; Conflict when somebody else gives it just now.
    """
    same = {"role": role, "user": user, "group": group}
    grant = HubRoleGrant.objects.filter(**same).first() or HubRoleGrant(**same)
    grant.until, grant.reason = until, reason
    try:
        with transaction.atomic():
            return save_hub_role(principal=principal, grant=grant)
    except IntegrityError as error:
        raise Conflict(_("Somebody else gives this role just now. Look again."), code="given_meanwhile") from error


@transaction.atomic
def withdraw_hub_role(*, principal: Principal, grant: HubRoleGrant) -> None:
    """Take a role of the hub back. Raises Forbidden: see :func:`check_hub_role`."""
    check_hub_role(principal, grant.role, user=grant.user, group=grant.group)
    _record_role(principal, withdrawn=str(grant))
    grant.delete()


@transaction.atomic
def end_hub_role(*, principal: Principal, grant_id: int) -> HubRoleGrant:
    """End a grant of a role of the hub now, and keep it among those that ended. Who handed it on may, too.

    Raises NotFound; Forbidden: see :func:`check_hub_role`.
    """
    grant: HubRoleGrant | None = HubRoleGrant.objects.select_related("user", "group").filter(pk=grant_id).first()
    if grant is None:
        raise NotFound(_("There is no such grant."), code="grant_not_found")
    if grant.delegator_id is None or grant.delegator_id != principal.user_id:
        check_hub_role(principal, grant.role, user=grant.user, group=grant.group)
    if grant.end(principal):
        _record_role(principal, ended=str(grant))
    return grant


def limited_hub_roles(principal: Principal) -> QuerySet[HubRoleGrant]:
    """The grants of roles of the hub that end or have ended, the last to end first. For who administers people."""
    principal.require_hub(HubRight.PEOPLE)
    rows = HubRoleGrant.objects.limited().select_related("user", "group", "delegator", "given_by", "ended_by")
    return rows.order_by("-until", "pk")


def _record_role(principal: Principal, **details: object) -> None:
    record_event(principal, "CONFIG_CHANGE", "hub_roles", **details)


def check_end(until: datetime) -> None:
    """Raise InvalidInput for an end of a grant that is past."""
    if until <= timezone.now():
        raise InvalidInput(_("A role must end in the future."), field="until")


def check_own(principal: Principal, grants: GrantQuerySet) -> None:
    """Raise Forbidden unless the caller has one of these grants, and not by somebody who handed it on. One query."""
    if principal.user_id is None or not grants.own_of(principal).exists():
        raise Forbidden(_("Only a role that was given to you can be handed on."), code="not_your_role")


def check_delegation(principal: Principal, person: User, until: datetime) -> None:
    """Raise InvalidInput unless a caller who has a role of their own may hand it on to a person until a moment."""
    if person.pk == principal.user_id or not person.is_active:
        raise InvalidInput(_("Hand a role on to another person, who may sign in."), field="user")
    check_end(until)
    if until > timezone.now() + LONGEST_DELEGATION:
        raise InvalidInput(
            _("A role is handed on for {days} days at most."), field="until", days=LONGEST_DELEGATION.days
        )


def check_handed_on(principal: Principal, row: Grant, holder: User) -> None:
    """Raise Conflict for a grant in force that is not the caller's own handing on: they would take over another's.

    So is one that somebody else ended: only who may give the role gives it again.
    """
    if row.ended_by_id not in (None, principal.user_id):
        raise Conflict(
            _('This role of "{holder}" was ended by somebody. Ask those who give it.'),
            code="role_ended",
            holder=holder.get_username(),
        )
    is_in_force = row.until is None or row.until > timezone.now()
    if is_in_force and row.delegator_id != principal.user_id:
        raise Conflict(_('"{holder}" has this role already.'), code="has_role", holder=holder.get_username())


@transaction.atomic
def delegate_hub_role(
    *, principal: Principal, to: User, role: HubRole, until: datetime, reason: str = ""
) -> HubRoleGrant:
    """Hand a role of the hub on to a person until a moment, as long as the caller has it.

    Never that of a user administrator, and not by a call without the role's scopes. Raises what :func:`check_own` and
    :func:`check_delegation` raise, Conflict for who has the role.
    """
    for scope in sorted(HUB_ROLES[role].scopes):
        principal.require(scope)
    check_own(principal, HubRoleGrant.objects.filter(role=role).exclude(role__in=GIVEN_BY_SUPERUSERS))
    check_delegation(principal, to, until)
    given = {"until": until, "delegator_id": principal.user_id}
    row, is_new = HubRoleGrant.objects.get_or_create(user=to, role=role, defaults=given)
    if not is_new:
        check_handed_on(principal, row, to)
    row.give(principal, until=until, reason=reason, delegator_id=principal.user_id)
    end = until.isoformat()
    _record_role(principal, delegated=str(row), by=principal.name, to=to.get_username(), until=end, reason=reason)
    return row


def check_ceiling(principal: Principal, user: User, ceiling: Classification) -> None:
    """Raise Forbidden unless the caller may set a person's ceiling to this."""
    principal.require_hub(HubRight.PEOPLE)
    if principal.is_superuser:
        return
    check_rank(principal, user)
    if user.pk == principal.user_id:
        raise Forbidden(_("Somebody else has to set your ceiling."), code="own_rights")
    if ceiling > principal.ceiling:
        raise Forbidden(_("You can't set a ceiling above your own."), code="above_own_ceiling")


@transaction.atomic
def save_ceiling(*, principal: Principal, clearance: Clearance) -> None:
    """Set a person's ceiling. Raises Forbidden: see :func:`check_ceiling`."""
    before = Clearance.objects.select_related("user").filter(pk=clearance.pk).first()
    if before is not None and before.user_id != clearance.user_id:
        check_ceiling(principal, before.user, DEFAULT_CEILING)
    check_ceiling(principal, clearance.user, Classification(clearance.ceiling))
    clearance.save()
    _record_ceiling(principal, clearance, str(clearance.get_ceiling_display()))


@transaction.atomic
def remove_ceiling(*, principal: Principal, clearance: Clearance) -> None:
    """Let the default ceiling count for a person again. Raises Forbidden: see :func:`check_ceiling`."""
    check_ceiling(principal, clearance.user, DEFAULT_CEILING)
    _record_ceiling(principal, clearance, "default")
    clearance.delete()


def _record_ceiling(principal: Principal, clearance: Clearance, ceiling: str) -> None:
    record_event(principal, "CONFIG_CHANGE", f"user:{clearance.user_id}", ceiling=ceiling)
