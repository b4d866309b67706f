"""GET /people/{username}/rights: what one person may do, and why."""

from __future__ import annotations

from datetime import datetime

from ninja import Field, Router, Schema

from hub.access.principals import HubRight, Scope
from hub.people.rights import PersonRights, Reason, ReasonKind, find_person, rights_of_person
from hub.rest.auth import HubRequest

router = Router(tags=["operations"])


class ReasonOut(Schema):
    """Why a person has a right."""

    kind: ReasonKind
    role: str = Field(description="empty for a superuser")
    by: str = Field(description="the group, or who handed the role on")
    provider_groups: list[str] = Field(description="the provider's groups that bring it")
    until: datetime | None


class HeldRightOut(Schema):
    right: HubRight
    reasons: list[ReasonOut]


class CollectionRightsOut(Schema):
    collection: str
    classification: str
    may: list[Scope] = Field(description="nothing where the collection is classified above the person's ceiling")
    reasons: list[ReasonOut]
    is_above_ceiling: bool
    documents_above: int = Field(description="documents above the person's ceiling, among those that you may read")


class PersonRightsOut(Schema):
    """What a person may do now. The rights of the hub and the ceiling are for who administers people."""

    username: str
    is_active: bool
    is_superuser: bool
    ceiling: str | None
    hub: list[HeldRightOut]
    collections: list[CollectionRightsOut]
    other_collections: int | None = Field(description="collections with a role that you may not read")
    datasets: list[str] = Field(description="evaluation datasets that name the person among their readers, and you")
    other_datasets: int | None = Field(description="those that name the person and not you")


@router.get("/people/{username}/rights", response=PersonRightsOut)
def get_rights_of_person(request: HubRequest, username: str) -> PersonRightsOut:
    """What a person may do now, and why. For user administrators; for who administers collections, in those."""
    person = find_person(request.principal, username=username)
    return _rights_out(rights_of_person(request.principal, person))


def _rights_out(found: PersonRights) -> PersonRightsOut:
    return PersonRightsOut(
        username=found.user.get_username(),
        is_active=found.user.is_active,
        is_superuser=found.user.is_superuser,
        ceiling=found.ceiling.short if found.ceiling is not None else None,
        hub=[HeldRightOut(right=one.right, reasons=_reasons_out(one.reasons)) for one in found.hub],
        collections=[
            CollectionRightsOut(
                collection=one.slug,
                classification=one.classification.short,
                may=list(one.scopes),
                reasons=_reasons_out(one.reasons),
                is_above_ceiling=one.is_above_ceiling,
                documents_above=one.documents_above,
            )
            for one in found.collections
        ],
        other_collections=found.other_collections,
        datasets=list(found.datasets),
        other_datasets=found.other_datasets,
    )


def _reasons_out(reasons: tuple[Reason, ...]) -> list[ReasonOut]:
    return [
        ReasonOut(kind=one.kind, role=one.role, by=one.by, provider_groups=list(one.provider_groups), until=one.until)
        for one in reasons
    ]
