"""Tokens and audit: issuing, checking, revoking, recording."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import chain

from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.bearer import TokenRow, digest_of, find_token, groups_of, hub_roles_of
from hub.access.models import AccessToken, AuditEvent
from hub.access.principals import ALL_SCOPES, HUB_ROLE_SCOPES, Classification, HubRole, Principal, Scope
from hub.access.token_life import end_of_token, password_stamp
from hub.core.context import current_call
from hub.core.errors import Forbidden, NotFound, Unauthenticated

TOKEN_PREFIX = "hub_"  # noqa: S105 (the public prefix by which people and scanners recognise a token)
LAST_USED_RESOLUTION = timedelta(minutes=1)


ScopeSource = Callable[[Principal], Iterable[Scope]]
_scope_sources: list[ScopeSource] = []


def count_scopes_of(source: ScopeSource) -> None:
    """Have ``source`` asked what a caller's roles can use, beside the roles of the hub. Repeatable.

    This is how apps above this one bring in the roles that they give.
    """
    if source not in _scope_sources:
        _scope_sources.append(source)


def usable_scopes(principal: Principal) -> frozenset[Scope]:
    """The scopes of this call that some role of the caller can use; all of the call's for administrators."""
    if principal.is_superuser:
        return principal.scopes
    by_hub_roles = chain.from_iterable(HUB_ROLE_SCOPES[role] for role in principal.hub_roles)
    by_sources = chain.from_iterable(source(principal) for source in _scope_sources)
    return principal.scopes & {*by_hub_roles, *by_sources}


def create_token(
    *, principal: Principal, user: User, name: str, scopes: frozenset[Scope], expires_at: datetime | None = None
) -> tuple[AccessToken, str]:
    """Issue a token for ``user``; the second value is the token itself, which can't be had again.

    A person makes tokens for themselves with scopes that their roles can use; only an administrator makes them for
    others. It ends at ``expires_at``, by default as late as HUB_TOKEN_MAX_DAYS lets it, and when the user's password
    changes. Raises Forbidden, and InvalidInput for an end that can't be.
    """
    if principal.user_id != user.pk:
        principal.require_administrator()
    if missing := scopes - usable_scopes(principal):
        raise Forbidden(
            _("A token can't have scopes that its maker lacks, or that none of their roles can use: {scopes}."),
            code="scopes_not_usable",
            scopes=", ".join(sorted(missing)),
        )
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    row = AccessToken.objects.create(
        digest=digest_of(token),
        hint=token[:8],
        name=name,
        user=user,
        scopes=sorted(scopes),
        expires_at=end_of_token(expires_at, now=timezone.now()),
        password_stamp=password_stamp(user),
    )
    record_event(principal=principal, action="TOKEN_CREATE", resource=f"token:{row.pk}", scopes=sorted(scopes))
    return row, token


def revoke_token(*, principal: Principal, token_id: int) -> AccessToken:
    """Make a token useless from now on; revoking twice is no error.

    Raises NotFound, to all but administrators also for another person's token.
    """
    row = AccessToken.objects.select_related("user").filter(pk=token_id).first()
    is_other = row is not None and row.user_id != principal.user_id
    if row is None or (is_other and not (principal.is_superuser and principal.allows(Scope.ADMIN))):
        raise NotFound(_("There is no access token {token_id}."), token_id=token_id)
    if row.revoked_at is None:
        row.revoked_at = timezone.now()
        row.save(update_fields=["revoked_at"])
        record_event(principal=principal, action="TOKEN_REVOKE", resource=f"token:{row.pk}")
    return row


def authenticate(token: str, *, now: datetime | None = None) -> Principal:
    """Find the caller behind a bearer token. Raises Unauthenticated, the same for every reason.

    One query, since it stands before every call; ``last_used_at`` is written at most once a minute.
    """
    now = now or timezone.now()
    row = find_token(digest_of(token))
    principal = bearer_of(row, now=now)
    if row is not None and was_long_unused(row, now=now):
        note_use(row.token_id, now=now)
    return principal


def bearer_of(row: TokenRow | None, *, now: datetime) -> Principal:
    """Give the principal whom a token that was looked up stands for. Raises Unauthenticated, as ``authenticate``."""
    if row is None or not row.is_usable(now):
        raise Unauthenticated(_("The access token is unknown, expired or revoked. Ask an administrator for a new one."))
    return Principal(
        name=row.username,
        user_id=row.user_id,
        scopes=frozenset(Scope(name) for name in row.scopes),
        ceiling=_ceiling(row.ceiling, is_superuser=row.is_superuser),
        is_superuser=row.is_superuser,
        group_ids=frozenset(row.group_ids),
        hub_roles=frozenset(HubRole(name) for name in row.hub_roles),
        token_id=row.token_id,
    )


def was_long_unused(row: TokenRow, *, now: datetime) -> bool:
    """Whether the token's ``last_used_at`` is more than a minute old."""
    return row.last_used_at is None or row.last_used_at < now - LAST_USED_RESOLUTION


def note_use(token_id: int, *, now: datetime) -> None:
    """Write that a token was used now, unless another call has just done so."""
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - LAST_USED_RESOLUTION)
    AccessToken.objects.filter(stale, pk=token_id).update(last_used_at=now)


def principal_for_user(user: AbstractBaseUser) -> Principal:
    """The caller behind a signed-in admin session: all scopes, limited by their roles. One query."""
    if not isinstance(user, User):
        raise Unauthenticated(_("Sign in first."))
    found = User.objects.filter(pk=user.pk).order_by()
    rights = found.values_list(
        "clearance__ceiling", ArraySubquery(groups_of(OuterRef("pk"))), ArraySubquery(hub_roles_of(OuterRef("pk")))
    )
    ceiling, groups, hub_roles = rights.get()
    return Principal(
        name=user.get_username(),
        user_id=user.pk,
        scopes=ALL_SCOPES if user.is_superuser else ALL_SCOPES - {Scope.ADMIN},
        ceiling=_ceiling(ceiling, is_superuser=user.is_superuser),
        is_superuser=user.is_superuser,
        group_ids=frozenset(groups),
        hub_roles=frozenset(HubRole(name) for name in hub_roles),
    )


def _ceiling(cleared: int | None, *, is_superuser: bool) -> Classification:
    if cleared is not None:
        return Classification(cleared)
    return Classification.C3 if is_superuser else Classification.C2


def record_event(principal: Principal, action: str, resource: str = "", **details: object) -> None:
    """Write one audit line; address, agent and door come from the running call. One query."""
    call = current_call()
    AuditEvent.objects.create(
        action=action,
        principal=principal.name,
        user_id=principal.user_id,
        resource=resource,
        details=details,
        door=call.door if call else "",
        request_id=call.request_id if call else "",
        address=call.address if call else None,
        agent=(call.agent or "")[:200] if call else "",
    )
