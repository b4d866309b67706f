"""Who may do what, as a table: what each role of the hub and each role in a collection carries.

Every door asks this table through its caller, ``Principal.may`` and ``Principal.require_hub`` for what belongs to the
whole hub, ``visible_to`` for what belongs to a collection. The admin shows it as it is, and the tests of the doors are
made from it. No database access here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Scope(StrEnum):
    """What a call may be used for: a token has some of them, a sign-in to the admin has all."""

    READ = "read"
    SEARCH = "search"
    UPLOAD = "upload"
    REVIEW = "review"
    TRIAGE = "triage"
    CURATE = "curate"
    AUDIT = "audit"
    ADMIN = "admin"

    @property
    def label(self) -> str:
        """What it lets a role do in its collection, in the reader's language."""
        return str(_SCOPE_LABELS[self])


_SCOPE_LABELS: dict[Scope, Promise] = {
    Scope.READ: _("read documents and reviews"),
    Scope.SEARCH: _("search, and ask for answers"),
    Scope.UPLOAD: _("upload documents"),
    Scope.REVIEW: _("have documents reviewed"),
    Scope.TRIAGE: _("decide on findings, sign reviews off"),
    Scope.CURATE: _("replace and delete documents, edit the collection"),
    Scope.AUDIT: _("see what was done in the collection"),
    Scope.ADMIN: _("give and take roles in the collection"),
}

ALL_SCOPES = frozenset(Scope)


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


class HubRight(StrEnum):
    """What may be done with what belongs to no collection. A role in a collection carries none of them."""

    MASTERS = "masters"
    ONTOLOGIES = "ontologies"
    EVALUATION = "evaluation"
    APPROVERS = "approvers"
    PROMPTS = "prompts"
    COLLECTIONS = "collections"
    OPERATION = "operation"
    AUDIT = "audit"
    PEOPLE = "people"

    @property
    def label(self) -> str:
        """What it is for, in the reader's language."""
        return str(_RIGHT_LABELS[self])

    @property
    def scope(self) -> Scope:
        """The scope that a call needs besides the right."""
        return _RIGHT_SCOPES[self]


_RIGHT_LABELS: dict[HubRight, Promise] = {
    HubRight.MASTERS: _("check masters, judge prompts, scenarios and mappings"),
    HubRight.ONTOLOGIES: _("ontologies, guidelines, types of documents and of the graph, identifier patterns"),
    HubRight.EVALUATION: _("evaluation datasets, saved questions, runs and the gate"),
    HubRight.APPROVERS: _("naming who reads an evaluation dataset"),
    HubRight.PROMPTS: _("prompts of assistants"),
    HubRight.COLLECTIONS: _("making collections"),
    HubRight.OPERATION: _("embedding sets, sources, storage and confirmations of providers"),
    HubRight.AUDIT: _("all lines of the audit trail, and all deletion receipts"),
    HubRight.PEOPLE: _("accounts, groups, roles of the hub, ceilings, tokens and sessions of others"),
}

_RIGHT_SCOPES: dict[HubRight, Scope] = {
    HubRight.MASTERS: Scope.CURATE,
    HubRight.ONTOLOGIES: Scope.CURATE,
    HubRight.EVALUATION: Scope.CURATE,
    HubRight.APPROVERS: Scope.CURATE,
    HubRight.PROMPTS: Scope.CURATE,
    HubRight.COLLECTIONS: Scope.CURATE,
    HubRight.OPERATION: Scope.ADMIN,
    HubRight.AUDIT: Scope.AUDIT,
    HubRight.PEOPLE: Scope.ADMIN,
}


class HubRole(TextChoices):
    """What a person may do with what belongs to no collection."""

    CURATOR = "curator", _("Hub curator")
    OPERATOR = "operator", _("Operator")
    MASTER_CURATOR = "master_curator", _("Master curator")
    ONTOLOGY_CURATOR = "ontology_curator", _("Ontology curator")
    EVALUATOR = "evaluator", _("Evaluator")
    AUDITOR = "auditor", _("Hub auditor")
    USER_ADMINISTRATOR = "user_administrator", _("User administrator")


@dataclass(frozen=True, slots=True)
class Carried:
    """What a role of the hub carries. Tokens of its holders may have ``scopes``."""

    rights: frozenset[HubRight]
    scopes: frozenset[Scope]


_READS = frozenset({Scope.READ, Scope.SEARCH})

HUB_ROLES: dict[HubRole, Carried] = {
    HubRole.CURATOR: Carried(
        frozenset(HubRight) - {HubRight.OPERATION, HubRight.AUDIT, HubRight.PEOPLE},
        _READS | {Scope.CURATE},
    ),
    HubRole.OPERATOR: Carried(
        frozenset({HubRight.OPERATION, HubRight.COLLECTIONS}), _READS | {Scope.CURATE, Scope.ADMIN}
    ),
    HubRole.MASTER_CURATOR: Carried(frozenset({HubRight.MASTERS, HubRight.PROMPTS}), _READS | {Scope.CURATE}),
    HubRole.ONTOLOGY_CURATOR: Carried(frozenset({HubRight.ONTOLOGIES}), _READS | {Scope.CURATE}),
    HubRole.EVALUATOR: Carried(frozenset({HubRight.EVALUATION}), _READS | {Scope.CURATE}),
    HubRole.AUDITOR: Carried(frozenset({HubRight.AUDIT}), frozenset({Scope.READ, Scope.AUDIT})),
    HubRole.USER_ADMINISTRATOR: Carried(frozenset({HubRight.PEOPLE}), frozenset({Scope.READ, Scope.ADMIN})),
}


def roles_with(scope: Scope) -> tuple[str, ...]:
    """Name the roles in a collection that carry ``scope``."""
    return tuple(role for role, scopes in ROLE_SCOPES.items() if scope in scopes)


def hub_roles_with(right: HubRight) -> tuple[HubRole, ...]:
    """Name the roles of the hub that carry a right, in the order of the table."""
    return tuple(role for role, carried in HUB_ROLES.items() if right in carried.rights)


def rights_of_roles(roles: frozenset[HubRole]) -> frozenset[HubRight]:
    """All rights that some roles of the hub carry together."""
    return frozenset(right for role in roles for right in HUB_ROLES[role].rights)
