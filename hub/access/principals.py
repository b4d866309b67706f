"""The caller of every service function: who they are and what they may do. No database access here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from django.db.models import IntegerChoices, TextChoices
from django.utils.translation import gettext_lazy as _

from hub.core.errors import Forbidden


class Scope(StrEnum):
    READ = "read"
    SEARCH = "search"
    UPLOAD = "upload"
    REVIEW = "review"
    TRIAGE = "triage"
    CURATE = "curate"
    AUDIT = "audit"
    ADMIN = "admin"


ALL_SCOPES = frozenset(Scope)


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


class Role(TextChoices):
    """What a person may do in one collection."""

    READER = "reader", _("Reader")
    REVIEWER = "reviewer", _("Reviewer")
    CURATOR = "curator", _("Curator")
    AUDITOR = "auditor", _("Auditor")
    ADMINISTRATOR = "administrator", _("Administrator")


ROLE_SCOPES: dict[str, frozenset[Scope]] = {
    Role.READER: frozenset({Scope.READ, Scope.SEARCH}),
    Role.REVIEWER: frozenset({Scope.READ, Scope.SEARCH, Scope.UPLOAD, Scope.REVIEW, Scope.TRIAGE}),
    Role.CURATOR: ALL_SCOPES - {Scope.AUDIT, Scope.ADMIN},
    Role.AUDITOR: frozenset({Scope.READ, Scope.AUDIT}),
    Role.ADMINISTRATOR: ALL_SCOPES,
}


class HubRole(TextChoices):
    """What a person may do with what belongs to no collection: ontologies, guidelines, prompts, check masters, types.

    Only administrators (superusers) give it. A role in a collection carries nothing of it.
    """

    CURATOR = "curator", _("Hub curator")


HUB_ROLE_SCOPES: dict[str, frozenset[Scope]] = {
    HubRole.CURATOR: frozenset({Scope.READ, Scope.SEARCH, Scope.CURATE}),
}


def roles_with(scope: Scope) -> tuple[str, ...]:
    """Name the roles that carry ``scope``."""
    return tuple(role for role, scopes in ROLE_SCOPES.items() if scope in scopes)


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

    def curates_hub(self) -> bool:
        """Return whether this call may change what belongs to no collection."""
        return self.allows(Scope.CURATE) and self.has_hub_role(HubRole.CURATOR)

    def has_hub_role(self, role: HubRole) -> bool:
        return self.is_superuser or role in self.hub_roles

    def require_hub(self, role: HubRole) -> None:
        """Raise Forbidden when this caller lacks a role of the hub, saying who gives it."""
        if not self.has_hub_role(role):
            raise Forbidden(
                _(
                    'This belongs to the whole hub: it needs the role "{role}", which a role in a collection does not '
                    "bring. Ask an administrator of the hub to give it to you."
                ),
                code="hub_role_needed",
                role=role.label,
            )

    def require_administrator(self) -> None:
        """Raise Forbidden unless an administrator of the hub calls, with the scope admin."""
        self.require(Scope.ADMIN)
        if not self.is_superuser:
            raise Forbidden(_("Only an administrator of the hub may do this."))

    def require_hub_curator(self) -> None:
        """Raise Forbidden unless this call may change what belongs to no collection."""
        self.require(Scope.CURATE)
        self.require_hub(HubRole.CURATOR)


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
