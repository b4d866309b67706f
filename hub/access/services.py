"""Tokens and audit: issuing, checking and revoking tokens, who calls, recording what was done.

An access token opens something until its end, and as long as its owner's password stays the same: it keeps a stamp of
the password that its owner had when it was made, which the query that finds the token compares, so it holds however the
password was changed: on a page, by a command, or in the database itself. That query's text is made once, since it
is before every call; PostgreSQL is asked each time, so that what was revoked is refused from the next call on.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, CharField, ExpressionWrapper, F, Func, OuterRef, Q, QuerySet
from django.db.models.signals import pre_save
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.audit_lines import write_line, write_read_lines
from hub.access.models import AccessToken, HubRoleGrant
from hub.access.permissions import HUB_ROLES
from hub.access.principals import ALL_SCOPES, Classification, HubRight, HubRole, Principal, Scope, local_operator
from hub.core.database import prepared_cursor
from hub.core.errors import Forbidden, InvalidInput, NotFound, Unauthenticated
from hub.core.extensions import ExtensionPoint


class _Stamp(Func):
    template = "encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')"
    output_field = CharField()


DEFAULT_CEILING = Classification.C2
# Whether the owner's password is the one of the day when the token was made; for queries of AccessToken.
HAS_PASSWORD_OF_ITS_DAY = ExpressionWrapper(Q(password_stamp=_Stamp(F("user__password"))), output_field=BooleanField())


def _stamp_of(encoded: str) -> str:
    """What a token keeps of its owner's password: the sha256 of its salted hash."""
    return hashlib.sha256(encoded.encode()).hexdigest()


def last_possible_end(now: datetime) -> datetime:
    """Give the latest moment until which a token that is made now may last."""
    return now + timedelta(days=settings.CONFIG.hub_token_max_days)


def end_of_token(wanted: datetime | None, *, now: datetime) -> datetime:
    """Give when a token that is made now ends: as wanted, or as late as possible.

    :raises InvalidInput: that is in the past, or more than HUB_TOKEN_MAX_DAYS ahead.
    """
    last = last_possible_end(now)
    if wanted is None:
        return last
    if wanted <= now:
        raise InvalidInput(_("A token must end in the future."), field="expires_at")
    if wanted > last + timedelta(minutes=1):  # a form's suggestion, sent back after some seconds, or rounded up
        raise InvalidInput(
            _("A token lasts {days} days at most (HUB_TOKEN_MAX_DAYS)."),
            field="expires_at",
            days=settings.CONFIG.hub_token_max_days,
        )
    return min(wanted, last)


def keep_tokens_when_a_hash_is_renewed() -> None:
    """Let tokens go on when the same password is only hashed anew, as Django does at a sign-in. Repeatable."""
    pre_save.connect(_renew_stamps, sender=User, dispatch_uid="access-password-stamps")


def _renew_stamps(*, instance: User, update_fields: frozenset[str] | None, **_signal: object) -> None:
    # Django's own mark of a renewal: the raw password was set and taken back, and nothing else is saved.
    is_renewal = update_fields == frozenset({"password"}) and instance.__dict__.get("_password", "") is None
    if not is_renewal:
        return
    before = User.objects.filter(pk=instance.pk).values_list("password", flat=True).first()
    if before is not None:
        tokens = AccessToken.objects.filter(user_id=instance.pk, password_stamp=_stamp_of(before))
        tokens.update(password_stamp=_stamp_of(instance.password))


TOKEN_PREFIX = "hub_"  # noqa: S105 (the public prefix by which people and scanners recognise a token)
LAST_USED_RESOLUTION = timedelta(minutes=1)


SCOPES = ExtensionPoint[Callable[[Principal], Iterable[Scope]]]()
"""The scopes that a caller's roles in an app can use, beside the roles of the hub."""


def usable_scopes(principal: Principal) -> frozenset[Scope]:
    """The scopes of this call that some role of the caller can use; all of the call's for administrators."""
    if principal.is_superuser:
        return principal.scopes
    by_hub_roles = chain.from_iterable(HUB_ROLES[role].scopes for role in principal.hub_roles)
    by_sources = chain.from_iterable(source(principal) for source in SCOPES)
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
        password_stamp=_stamp_of(user.password),
    )
    record_event(principal, "TOKEN_CREATE", f"token:{row.pk}", scopes=sorted(scopes))
    return row, token


def revoke_token(*, principal: Principal, token_id: int) -> AccessToken:
    """Make a token useless from now on; revoking twice is no error.

    Raises NotFound for another person's token, but to who administers people; for a superuser's to superusers alone.
    """
    row = AccessToken.objects.select_related("user").filter(pk=token_id).first()
    if row is None or (row.user_id != principal.user_id and not may_see_tokens_of(principal, row.user)):
        raise NotFound(_("There is no access token {token_id}."), token_id=token_id)
    if row.revoked_at is None:
        row.revoked_at = timezone.now()
        row.save(update_fields=["revoked_at"])
        record_event(principal, "TOKEN_REVOKE", f"token:{row.pk}")
    return row


def may_see_tokens_of(principal: Principal, user: User) -> bool:
    """Whether the caller may list and revoke another person's tokens."""
    return principal.may(HubRight.PEOPLE) and (principal.is_superuser or not user.is_superuser)


def authenticate(token: str, *, now: datetime | None = None) -> Principal:
    """Find the caller behind a bearer token. Raises Unauthenticated, the same for every reason.

    One query, since it is before every call; ``last_used_at`` is written at most once a minute. A token of an identity
    provider takes three, and so does that provider's word for its owner, which is asked for now and then: not in a
    transaction, nor on an event loop.
    """
    if is_from_provider(token):
        from hub.access.providers.bearer import authenticate_token  # nobody else needs what it loads

        return authenticate_token(token)
    now = now or timezone.now()
    row = find_token(digest_of(token))
    principal = bearer_of(row, now=now)
    if row is not None:
        note_accepted(row, now=now)
    return principal


def is_from_provider(token: str) -> bool:
    """Whether a bearer token is a JWT that an identity provider may have issued: asked about where that can wait."""
    return bool(settings.CONFIG.hub_oidc_providers) and token.count(".") == 2 and not token.startswith(TOKEN_PREFIX)


def needs_more(row: TokenRow, *, now: datetime) -> bool:
    """Whether :func:`note_accepted` has anything to do for a token that was accepted; it blocks."""
    return row.account_id is not None or was_long_unused(row, now=now)


def note_accepted(row: TokenRow, *, now: datetime) -> None:
    """Ask the identity provider of the token's owner whether it still vouches for them, and write that it was used.

    Raises Unauthenticated when it does not.
    """
    if row.account_id is not None:
        from hub.access.providers.checks import ensure_account_vouched  # nobody else needs what it loads

        ensure_account_vouched(row.account_id)
    if was_long_unused(row, now=now):
        # unless another call has just done so
        stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - LAST_USED_RESOLUTION)
        AccessToken.objects.filter(stale, pk=row.token_id).update(last_used_at=now)


def bearer_of(row: TokenRow | None, *, now: datetime) -> Principal:
    """Give the principal whom a token that was looked up stands for. Raises Unauthenticated, as ``authenticate``."""
    if row is None or not row.is_usable(now):
        raise Unauthenticated(_("The access token is unknown, expired or revoked. Ask an administrator for a new one."))
    return Principal(
        name=row.username,
        user_id=row.user_id,
        scopes=frozenset(Scope(name) for name in row.scopes),
        ceiling=ceiling_of(row.ceiling, is_superuser=row.is_superuser),
        is_superuser=row.is_superuser,
        group_ids=frozenset(row.group_ids),
        hub_roles=frozenset(HubRole(name) for name in row.hub_roles),
        token_id=row.token_id,
    )


def was_long_unused(row: TokenRow, *, now: datetime) -> bool:
    """Whether the token's ``last_used_at`` is more than a minute old."""
    return row.last_used_at is None or row.last_used_at < now - LAST_USED_RESOLUTION


def principal_for_user(user: AbstractBaseUser) -> Principal:
    """The caller behind a signed-in admin session: all scopes, limited by their roles. One query."""
    if not isinstance(user, User):
        raise Unauthenticated(_("Sign in first."))
    with prepared_cursor() as cursor:
        cursor.execute(_rights_statement(), [user.pk])
        found = cursor.fetchone()
    if found is None:
        raise Unauthenticated(_("Sign in first."))
    ceiling, groups, hub_roles = found
    return Principal(
        name=user.get_username(),
        user_id=user.pk,
        scopes=ALL_SCOPES,
        ceiling=ceiling_of(ceiling, is_superuser=user.is_superuser),
        is_superuser=user.is_superuser,
        group_ids=frozenset(groups),
        hub_roles=frozenset(HubRole(name) for name in hub_roles),
    )


def cleared_for(level: Classification) -> Q:
    """The condition that a person's ceiling, as :func:`principal_for_user` has it, reaches a classification."""
    by_default = Q(clearance__isnull=True)
    is_enough = by_default & Q(is_superuser=True) if level > DEFAULT_CEILING else by_default
    return Q(clearance__ceiling__gte=level) | is_enough


def ceiling_of(cleared: int | None, *, is_superuser: bool) -> Classification:
    """The ceiling of a person with a clearance up to ``cleared``, None without one."""
    if cleared is not None:
        return Classification(cleared)
    return Classification.C3 if is_superuser else DEFAULT_CEILING


def record_event(principal: Principal, action: str, resource: str = "", **details: object) -> None:
    """Write one line of the audit trail; address, agent, purpose and door come from the running call. One statement."""
    write_line(principal, action, resource, details)


def record_reads(principal: Principal, action: str, resources: Iterable[str], **details: object) -> None:
    """Write a line as :func:`record_event` does for each of some resources that were read. One statement, sent once."""
    write_read_lines(principal, action, resources, details)


def local_principal(token: str = "") -> Principal:
    """The caller of a command or of a stdio server.

    With ``token`` (or HUB_TOKEN) its owner; without, the local operator, but only on an embedded database: who can
    start the command owns its files anyway. Raises Unauthenticated.
    """
    token = token or settings.CONFIG.hub_token
    if token:
        return authenticate(token)
    if not settings.EMBEDDED_DATABASE:
        raise Unauthenticated(
            _("DATABASE_URL points to a shared database: give an access token with --token or HUB_TOKEN.")
        )
    return local_operator()


ANY_DIGEST = "0" * 64
ANY_KEY = 1


class TokenRow(NamedTuple):
    """A token and what is to be known of its owner; ``ceiling`` is None for those without a clearance.

    ``hub_roles`` are those of the owner and of their groups; one may come twice. ``account_id`` is None for those who
    sign in here and not at an identity provider.
    """

    token_id: int
    scopes: list[str]
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    user_id: int
    username: str
    is_active: bool
    is_superuser: bool
    ceiling: int | None
    group_ids: list[int]
    hub_roles: list[str]
    has_password_of_its_day: bool
    account_id: int | None

    def is_usable(self, now: datetime) -> bool:
        """Whether it opens the door: not revoked, not expired, its owner may sign in and has the same password."""
        is_in_force = self.revoked_at is None and self.expires_at > now
        return is_in_force and self.is_active and self.has_password_of_its_day


def digest_of(token: str) -> str:
    """Give the sha256 under which a token is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def find_token(digest: str) -> TokenRow | None:
    """Give the token with this sha256; None when there is none. One query, never answered from memory."""
    with prepared_cursor() as cursor:
        cursor.execute(statement(), [digest])
        return token_row(cursor.fetchone())


def token_row(found: Sequence[Any] | None) -> TokenRow | None:
    """Name the columns of what :func:`statement` found."""
    return None if found is None else TokenRow._make(found)


@cache
def statement() -> str:
    """The ORM's SQL for the query; the digest is its only parameter.

    Writing it costs two milliseconds, forty times as much as running it.
    """
    rows = (
        AccessToken.objects.order_by()
        .filter(digest=ANY_DIGEST)
        .values_list(
            "pk",
            "scopes",
            "expires_at",
            "revoked_at",
            "last_used_at",
            "user_id",
            "user__username",
            "user__is_active",
            "user__is_superuser",
            "user__clearance__ceiling",
            ArraySubquery(groups_of(OuterRef("user_id"))),
            ArraySubquery(hub_roles_of(OuterRef("user_id"))),
            HAS_PASSWORD_OF_ITS_DAY,
            "user__provider_account",
        )
    )
    return _with_one_parameter(rows, ANY_DIGEST)


@cache
def _rights_statement() -> str:
    """The ORM's SQL for a person's ceiling, groups and roles of the hub; their key is its only parameter."""
    subqueries = ArraySubquery(groups_of(OuterRef("pk"))), ArraySubquery(hub_roles_of(OuterRef("pk")))
    rows = User.objects.filter(pk=ANY_KEY).order_by().values_list("clearance__ceiling", *subqueries)
    return _with_one_parameter(rows, ANY_KEY)


def _with_one_parameter(rows: QuerySet[Any, Any], value: object) -> str:
    sql, params = rows.query.sql_with_params()
    if tuple(params) != (value,):
        raise AssertionError(f"{value} has to be the only parameter: {params}")
    return sql


def groups_of(user: OuterRef) -> QuerySet[Any, Any]:
    """The keys of a person's groups, for a subquery."""
    return User.groups.through.objects.filter(user=user).values("group_id")


def hub_roles_of(user: OuterRef) -> QuerySet[Any, Any]:
    """The roles of the hub that are in force for a person, their own and those of their groups, for a subquery."""
    by_group = Q(group__in=User.groups.through.objects.filter(user=OuterRef(user)).values("group_id"))
    return HubRoleGrant.objects.in_force().filter(Q(user=user) | by_group).values("role")
