"""REST calls about who may use a collection."""

from __future__ import annotations

from typing import Annotated

from ninja import Field, Query, Router, Schema, Status

from hub.rest.auth import HubRequest
from knowledge.collections import grants
from knowledge.collections.grants import Grantee
from knowledge.models import CollectionGrant

router = Router()


class GrantIn(Schema):
    """A person or a group, and the role."""

    user: str = Field("", max_length=150, description="a user name; or give group")
    group: str = Field("", max_length=150, description="a group's name; or give user")
    role: str = Field(max_length=20, description="reader, reviewer, curator, auditor or administrator")


class GrantOut(Schema):
    user: str | None
    group: str | None
    role: str


@router.get("/collections/{slug}/grants", response=list[GrantOut])
def list_grants(request: HubRequest, slug: str) -> list[GrantOut]:
    """Who has which role in a collection; for its administrators."""
    return [_out(row) for row in grants.list_grants(request.principal, slug)]


@router.put("/collections/{slug}/grants", response=GrantOut)
def grant_role(request: HubRequest, slug: str, given: GrantIn) -> GrantOut:
    """Give a role; giving it again changes nothing."""
    to = Grantee(user=given.user, group=given.group)
    return _out(grants.grant_role(principal=request.principal, slug=slug, to=to, role=given.role))


@router.delete("/collections/{slug}/grants", response={204: None})
def withdraw_role(request: HubRequest, slug: str, taken: Annotated[GrantIn, Query()]) -> Status[None]:
    """Take a role back."""
    to = Grantee(user=taken.user, group=taken.group)
    grants.withdraw_role(principal=request.principal, slug=slug, to=to, role=taken.role)
    return Status(204, None)


def _out(row: CollectionGrant) -> GrantOut:
    return GrantOut(
        user=row.user.get_username() if row.user else None,
        group=row.group.name if row.group else None,
        role=row.role,
    )
