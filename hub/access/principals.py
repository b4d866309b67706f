"""The caller of every service function: who they are and what they may do. No database access here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import IntegerChoices
from django.utils.translation import gettext_lazy as _

from hub.access.permissions import (
    ALL_SCOPES,
    ROLE_SCOPES,
    HubRight,
    HubRole,
    Role,
    Scope,
    hub_roles_with,
    rights_of_roles,
    roles_with,
)
from hub.core.errors import Forbidden

__all__ = [  # the words of the table that callers of services need beside the caller itself
    "ALL_SCOPES",
    "ROLE_SCOPES",
    "Classification",
    "HubRight",
    "HubRole",
    "Principal",
    "Role",
    "Scope",
    "local_operator",
    "parse_scopes",
    "roles_with",
    "system_principal",
]


class Classification(IntegerChoices):
    """機密性 1 to 3; a caller sees what is at or below their ceiling."""

    C1 = 1, _("c1 (public)")
    C2 = 2, _("c2 (internal)")
    C3 = 3, _("c3 (confidential)")

    @classmethod
    def from_name(cls, name: str) -> Classification:
        """Read ``"c2"``. Raises KeyError for anything else."""
        return cls[name.upper()]

    @property
    def short(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A caller. ``scopes`` limit what this call may do on top of what the person's roles allow.

    ``is_superuser`` sees every collection up to ``ceiling``, and has every role of the hub. ``user_id`` is None for the
    local operator and for the hub's own tasks. ``client`` is the program that an identity provider issued its token to.
    """

    name: str
    user_id: int | None
    scopes: frozenset[Scope]
    ceiling: Classification
    is_superuser: bool = False
    group_ids: frozenset[int] = field(default_factory=frozenset)
    hub_roles: frozenset[HubRole] = field(default_factory=frozenset)
    token_id: int | None = None
    client: str = ""

    @property
    def sees_everything(self) -> bool:
        """Whether no collection and no classification hides anything from this caller."""
        return self.is_superuser and self.ceiling >= max(Classification)

    def allows(self, scope: Scope) -> bool:
        return scope in self.scopes

    def require(self, scope: Scope) -> None:
        """Raise Forbidden naming the scope when this caller does not have it."""
        if scope not in self.scopes:
            raise Forbidden(
                _('This needs the scope "{scope}"; the caller has: {scopes}.'),
                code="missing_scope",
                scope=scope.value,
                scopes=", ".join(sorted(self.scopes)) or "-",
            )

    @property
    def hub_rights(self) -> frozenset[HubRight]:
        """The rights that the caller's roles of the hub carry, whatever this call's scopes are."""
        return frozenset(HubRight) if self.is_superuser else rights_of_roles(self.hub_roles)

    def may(self, right: HubRight) -> bool:
        """Return whether this call may do what ``right`` names: a role carries it, and the call has its scope."""
        return self.allows(right.scope) and right in self.hub_rights

    def may_any(self, *rights: HubRight) -> bool:
        return any(self.may(right) for right in rights)

    def require_hub(self, right: HubRight, *others: HubRight) -> None:
        """Raise Forbidden unless this call may do what ``right``, or one of the others, names; says who gives it."""
        if self.may_any(right, *others):
            return
        held = [one for one in (right, *others) if one in self.hub_rights]
        self.require((held or [right])[0].scope)
        raise Forbidden(
            _(
                'This belongs to the whole hub: it needs the right "{right}", which a role in a collection does not '
                "bring. Roles of the hub that bring it: {roles}. Ask an administrator of the hub to give you one."
            ),
            code="hub_role_needed",
            right=right.value,
            roles=", ".join(str(role.label) for role in hub_roles_with(right)),
        )

    def require_administrator(self) -> None:
        """Raise Forbidden unless an administrator of the hub calls, with the scope admin."""
        self.require(Scope.ADMIN)
        if not self.is_superuser:
            raise Forbidden(_("Only an administrator of the hub may do this."))


def local_operator() -> Principal:
    """The person at the machine: CLI, and stdio without a token, on an embedded database."""
    return Principal(name="operator", user_id=None, scopes=ALL_SCOPES, ceiling=Classification.C3, is_superuser=True)


def system_principal(name: str) -> Principal:
    """The hub's own task ``name``, acting on what a person started."""
    return Principal(
        name=f"system:{name}", user_id=None, scopes=ALL_SCOPES, ceiling=Classification.C3, is_superuser=True
    )


def parse_scopes(names: Iterable[str]) -> frozenset[Scope]:
    """Turn scope names into scopes. Raises ValueError naming the unknown ones and the known ones."""
    wanted = [name.strip() for name in names if name.strip()]
    unknown = sorted(set(wanted) - {scope.value for scope in Scope})
    if unknown:
        known = ", ".join(scope.value for scope in Scope)
        raise ValueError(f"unknown scopes: {', '.join(unknown)}; known: {known}")
    return frozenset(Scope(name) for name in wanted)
