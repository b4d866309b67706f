"""The row behind a bearer token, by one query whose text is made once: it stands before every call.

PostgreSQL is asked each time, so that what was revoked is refused from the next call on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q, QuerySet

from hub.access.models import AccessToken, HubRoleGrant
from hub.access.token_life import HAS_PASSWORD_OF_ITS_DAY
from hub.core.database import prepared_cursor

ANY_DIGEST = "0" * 64


class TokenRow(NamedTuple):
    """A token and what is to be known of its owner; ``ceiling`` is None for those without a clearance.

    ``hub_roles`` are those of the owner and of their groups; one may come twice.
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
        )
    )
    sql, params = rows.query.sql_with_params()
    if tuple(params) != (ANY_DIGEST,):
        raise AssertionError(f"the digest has to be the only parameter: {params}")
    return sql


def groups_of(user: OuterRef) -> QuerySet[Any, Any]:
    """The keys of a person's groups, for a subquery."""
    return User.groups.through.objects.filter(user=user).values("group_id")


def hub_roles_of(user: OuterRef) -> QuerySet[Any, Any]:
    """The roles of the hub that a person has themselves or by a group, for a subquery."""
    by_group = Q(group__in=User.groups.through.objects.filter(user=OuterRef(user)).values("group_id"))
    return HubRoleGrant.objects.filter(Q(user=user) | by_group).values("role")
