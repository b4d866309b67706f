"""Which person a provider means, what its groups bring them here, and when that ends.

People come by (provider, subject) alone. A person who comes for the first time is made, never found by their e-mail
address, unless ``link_by_email`` of the provider says so; a superuser never is. What a person is given by groups is
written in one function, :func:`apply_groups`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.models import Clearance
from hub.access.people import roles_held
from hub.access.principals import Classification, Principal
from hub.access.provider_models import ProviderAccount, ProviderGroup
from hub.access.services import record_event
from hub.core.errors import Unauthenticated
from hub.core.identity_providers import IdentityProvider

logger = logging.getLogger(__name__)

LONGEST_SUBJECT = 255
LONGEST_NAME = 150
MOST_GROUPS = 1000
KEPT = ("groups", "gave_groups", "gave_superuser", "gave_ceiling")
_NOT_IN_NAMES = re.compile(r"[^\w.@+-]+")


def groups_in(provider: IdentityProvider, *sources: dict[str, Any]) -> list[str] | None:
    """Give the groups that the first of some claims names; None when the claim is in none of them."""
    for claims in sources:
        given = claims.get(provider.groups_claim)
        if given is not None:
            values = [given] if isinstance(given, str) else given if isinstance(given, list) else []
            return sorted({str(value)[:200] for value in values[:MOST_GROUPS]})
    return None


def find_or_make_person(provider: IdentityProvider, subject: str, claims: dict[str, Any]) -> ProviderAccount:
    """Give the account of a subject, made now if there is none; its groups are as the claims say.

    :raises Unauthenticated: the person is in no group that may come in, may not be made, or may not sign in.
    """
    if not subject or len(subject) > LONGEST_SUBJECT:
        raise Unauthenticated(_("The identity provider names nobody who could be known here."))
    values = groups_in(provider, claims)
    if values is None:
        logger.warning("the identity provider %s sent no claim %r", provider.id, provider.groups_claim)
    _require_group(provider, values or [])
    try:
        with transaction.atomic():
            account = _found(provider, subject) or _made(provider, subject, claims)
            if not account.user.is_active:
                raise Unauthenticated(_("This account is deactivated. Ask an administrator."))
            apply_groups(account, values or [])
            _copy_names(account.user, claims)
            now = timezone.now()
            ProviderAccount.objects.filter(pk=account.pk).update(confirmed_at=now, ended_at=None)
            account.confirmed_at, account.ended_at = now, None
            return account
    except IntegrityError as error:  # somebody else is making the same person
        found = _found(provider, subject)
        if found is None:
            raise Unauthenticated(_("The account could not be made just now. Sign in again.")) from error
        return found


def apply_groups(account: ProviderAccount, values: Collection[str] | None) -> None:
    """Give a person what the provider's groups bring, and take what they no longer do. Call in a transaction.

    ``values`` are its groups; None: those that it named last. Only what was given by groups is taken; what was given
    here by hand stays. Where groups bring ceilings, they alone set the person's. A change is audited, and heard by open
    streams (:mod:`hub.access.changes`).
    """
    account.refresh_from_db(fields=KEPT, from_queryset=ProviderAccount.objects.select_for_update())
    before = [getattr(account, name) for name in KEPT]
    meanings = list(ProviderGroup.objects.filter(provider=account.provider).select_related("group"))
    account.groups = account.groups if values is None else sorted(values)
    held = [meaning for meaning in meanings if meaning.value in account.groups]
    changes = _apply_memberships(account, {meaning.group for meaning in held if meaning.group is not None})
    changes |= _apply_superuser(account, wanted=any(meaning.is_administrator for meaning in held))
    if account.gave_ceiling or any(meaning.ceiling is not None for meaning in meanings):
        changes |= _apply_ceiling(account.user, [one.ceiling for one in held if one.ceiling is not None])
        account.gave_ceiling = any(meaning.ceiling is not None for meaning in meanings)
    if before != [getattr(account, name) for name in KEPT]:
        account.save(update_fields=KEPT)
    if changes:
        record_event(_by_provider(account), "CONFIG_CHANGE", f"user:{account.user_id}", **changes)


def _apply_memberships(account: ProviderAccount, wanted: set[Group]) -> dict[str, object]:
    """Put a person into the wanted groups, and out of those that were given and are not wanted; gives what changed."""
    user = account.user
    member_of = set(user.groups.all())
    joined = wanted - member_of
    left = {group for group in member_of - wanted if group.pk in account.gave_groups}
    if joined:
        user.groups.add(*joined)
    if left:
        user.groups.remove(*left)
    still = {group.pk for group in wanted & member_of} & set(account.gave_groups)
    account.gave_groups = sorted({*still, *(group.pk for group in joined)})
    changed = {"joined": joined, "left": left}
    return {name: sorted(group.name for group in groups) for name, groups in changed.items() if groups}


def _apply_superuser(account: ProviderAccount, *, wanted: bool) -> dict[str, object]:
    """Make a person a superuser, or no longer one whom the provider made it; gives what changed."""
    user = account.user
    is_given = account.gave_superuser
    account.gave_superuser = wanted and (is_given or not user.is_superuser)
    if user.is_superuser == wanted or (user.is_superuser and not is_given):
        return {}
    user.is_superuser = wanted
    user.save(update_fields=["is_superuser"])
    return {"is_administrator": wanted}


def _apply_ceiling(user: User, ceilings: list[int]) -> dict[str, object]:
    before = Clearance.objects.filter(user=user).values_list("ceiling", flat=True).first()
    wanted = max(ceilings, default=Classification.C1)  # in no group that brings one: what everybody may see
    if before == wanted:
        return {}
    Clearance.objects.update_or_create(user=user, defaults={"ceiling": wanted})
    return {"ceiling": Classification(wanted).short}


def end_account(account: ProviderAccount, *, reason: str) -> None:
    """Close every door that is open because of the provider; signing in there opens them again."""
    ended = ProviderAccount.objects.filter(pk=account.pk, ended_at__isnull=True).update(ended_at=timezone.now())
    if ended:
        account.ended_at = timezone.now()
        account.save(update_fields=["ended_at"])  # heard by open streams
        record_event(_by_provider(account), "ACCOUNT_ENDED", f"user:{account.user_id}", reason=reason)


def confirm_account(account: ProviderAccount, claims: dict[str, Any] | None, *, now: datetime) -> None:
    """Note that the provider vouches for a person now; with claims, take over the groups that they name.

    :raises Unauthenticated: they are in no group any more that may come in.
    """
    from hub.access.providers.jwt import provider_by_id

    provider = provider_by_id(account.provider)
    if provider is not None and claims is not None:
        values = groups_in(provider, claims) or []
        with transaction.atomic():
            apply_groups(account, values)
        _require_group(provider, values)
    was_ended = account.ended_at is not None
    account.confirmed_at, account.ended_at = now, None
    if was_ended:
        account.save(update_fields=["confirmed_at", "ended_at"])
    else:
        ProviderAccount.objects.filter(pk=account.pk).update(confirmed_at=now)


def _require_group(provider: IdentityProvider, values: Collection[str]) -> None:
    if provider.allowed_groups and not set(provider.allowed_groups) & set(values):
        raise Unauthenticated(_("None of your groups at {provider} may use this hub."), provider=provider.name)


def _found(provider: IdentityProvider, subject: str) -> ProviderAccount | None:
    accounts = ProviderAccount.objects.filter(provider=provider.id, subject=subject).select_related("user")
    return accounts.first()


def _made(provider: IdentityProvider, subject: str, claims: dict[str, Any]) -> ProviderAccount:
    user = _linked(provider, claims)
    action = "ACCOUNT_LINK"
    if user is None:
        if not provider.create_users:
            raise Unauthenticated(
                _("You have no account here. Ask an administrator to add you, with the subject {subject}."),
                subject=subject,
            )
        user, action = _new_user(provider, claims), "ACCOUNT_CREATE"
    account = ProviderAccount.objects.create(user=user, provider=provider.id, subject=subject)
    record_event(_by_provider(account), action, f"user:{user.pk}", provider=provider.id, subject=subject)
    return account


def _linked(provider: IdentityProvider, claims: dict[str, Any]) -> User | None:
    """The person of this e-mail address, where the provider may take over local accounts by it.

    Their password ends: from now on the provider says who they are.
    """
    email = str(claims.get("email") or "")
    if not provider.link_by_email or not email or claims.get("email_verified") is not True:
        return None
    found = list(User.objects.filter(email__iexact=email, is_active=True, provider_account=None)[:2])
    if len(found) != 1 or found[0].is_superuser or roles_held(Q(user=found[0]) | Q(group__user=found[0])):
        return None  # who administers the hub is linked by a superuser
    user = found[0]
    user.set_unusable_password()
    user.is_staff = True
    user.save(update_fields=["password", "is_staff"])
    return user


def _new_user(provider: IdentityProvider, claims: dict[str, Any]) -> User:
    given = str(claims.get(provider.username_claim) or claims.get("email") or "")
    name = _NOT_IN_NAMES.sub("-", given).strip("-")[: LONGEST_NAME - 50] or "person"
    taken = User.objects.filter(username=name).exists()
    number = 1
    username = f"{name}@{provider.id}" if taken else name
    while taken and User.objects.filter(username=username).exists():
        number += 1
        username = f"{name}-{number}@{provider.id}"
    user = User(username=username, email=str(claims.get("email") or "")[:254], is_staff=True)
    user.set_unusable_password()
    user.save()
    return user


def _copy_names(user: User, claims: dict[str, Any]) -> None:
    wanted = {
        "first_name": str(claims.get("given_name") or user.first_name)[:150],
        "last_name": str(claims.get("family_name") or user.last_name)[:150],
        "email": str(claims.get("email") or user.email)[:254],
    }
    changed = [name for name, value in wanted.items() if getattr(user, name) != value]
    for name in changed:
        setattr(user, name, wanted[name])
    if changed:
        user.save(update_fields=changed)


def _by_provider(account: ProviderAccount) -> Principal:
    """The provider, as the one who changes a person's rights."""
    return Principal(name=f"provider:{account.provider}", user_id=None, scopes=frozenset(), ceiling=Classification.C1)
