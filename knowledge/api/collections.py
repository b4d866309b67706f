"""REST calls about collections, and who may use them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from ninja import Field, Query, Router, Schema, Status

from hub.access.principals import Classification
from hub.core.bounds import LONG_TEXT
from hub.core.errors import InvalidInput
from hub.core.moments import Moment
from hub.rest.auth import HubRequest
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from hub.rest.responses import created
from hub.rest.schemas import Page, PageQuery
from knowledge import collections as collection_services
from knowledge import grants as grant_services
from knowledge.api.sources import ChunkingIn
from knowledge.documents import chunking
from knowledge.documents.schemas import CollectionOut, collection_out
from knowledge.documents.source_schemas import ChunkingOut
from knowledge.grants import Grantee
from knowledge.models import Collection, CollectionGrant
from knowledge.models.collections import RETENTION_DAYS
from knowledge.types.anonymising import KINDS, LONGEST_FIELD, MOST_FIELDS

router = Router()
AnonymisedKind = Annotated[str, Field(max_length=20, description=", ".join(KINDS))]
AnonymisedField = Annotated[str, Field(min_length=1, max_length=LONGEST_FIELD)]


class CollectionIn(Schema):
    slug: str = Field(max_length=63)
    name: str = Field("", max_length=200)
    description: str = Field("", max_length=LONG_TEXT)
    classification: str = Field("c2", max_length=10)
    retention_days: int | None = Field(None, ge=RETENTION_DAYS.least, le=RETENTION_DAYS.most)
    anonymised_kinds: list[AnonymisedKind] = Field([], max_length=len(KINDS))
    anonymised_fields: list[AnonymisedField] = Field([], max_length=MOST_FIELDS)


class CollectionPatch(Schema):
    name: str | None = Field(None, max_length=200)
    description: str | None = Field(None, max_length=LONG_TEXT)
    classification: str | None = Field(None, max_length=10)
    retention_days: int | None = Field(None, ge=RETENTION_DAYS.least, le=RETENTION_DAYS.most)
    anonymised_kinds: list[AnonymisedKind] | None = Field(None, max_length=len(KINDS))
    anonymised_fields: list[AnonymisedField] | None = Field(None, max_length=MOST_FIELDS)


@router.get("/collections", response=Page[CollectionOut])
def list_collections(request: HubRequest, page: Annotated[PageQuery, Query()]) -> KeysetPage[CollectionOut]:
    """The collections the caller may read, by slug."""
    visible = Collection.objects.visible_to(request.principal)
    scope = cursor_scope("collections")
    return paginate_keyset(visible, limit=page.limit, cursor=page.cursor, scope=scope, order="slug").map(collection_out)


@router.post("/collections", response={201: CollectionOut})
def create_collection(request: HubRequest, fields: CollectionIn) -> HttpResponse:
    """Create a collection; its maker administers it."""
    collection = collection_services.create_collection(
        principal=request.principal,
        classification=collection_services.read_classification(fields.classification) or Classification.C2,
        **fields.model_dump(exclude={"classification"}),
    )
    return created(request, location=f"/api/v1/collections/{collection.slug}", body=collection_out(collection))


@router.get("/collections/{slug}", response=CollectionOut)
def get_collection(request: HubRequest, slug: str) -> CollectionOut:
    """One collection."""
    return collection_out(collection_services.get_collection(request.principal, slug))


@router.patch("/collections/{slug}", response=CollectionOut)
def update_collection(request: HubRequest, slug: str, fields: CollectionPatch) -> CollectionOut:
    """Change what is named; the rest stays."""
    changes = fields.model_dump(exclude_unset=True)
    if "classification" in changes:
        changes["classification"] = collection_services.read_classification(changes["classification"] or "c2")
    collection = collection_services.update_collection(principal=request.principal, slug=slug, **changes)
    return collection_out(collection)


@router.delete("/collections/{slug}", response={204: None})
def delete_collection(request: HubRequest, slug: str) -> Status[None]:
    """Delete an empty collection."""
    collection_services.delete_collection(principal=request.principal, slug=slug)
    return Status(204, None)


class CollectionChunkingIn(Schema):
    chunking: ChunkingIn | None = Field(description="null: as the active embedding set")


class CollectionChunkingOut(Schema):
    """How documents that come into the collection are cut."""

    chunking: ChunkingOut | None = Field(description="null: as the active embedding set")
    cut_otherwise: int = Field(description="documents that the caller may change and that are cut otherwise")


@router.get("/collections/{slug}/chunking", response=CollectionChunkingOut)
def get_chunking(request: HubRequest, slug: str) -> CollectionChunkingOut:
    """How the documents of a collection are cut."""
    return _chunking_out(request, collection_services.get_collection(request.principal, slug))


@router.put("/collections/{slug}/chunking", response=CollectionChunkingOut)
def set_chunking(request: HubRequest, slug: str, asked: CollectionChunkingIn) -> CollectionChunkingOut:
    """Cut documents that come into the collection so; those that are there when they are worked on again."""
    options = asked.chunking.options() if asked.chunking else None
    return _chunking_out(request, chunking.set_chunking(principal=request.principal, slug=slug, chunk_options=options))


def _chunking_out(request: HubRequest, collection: Collection) -> CollectionChunkingOut:
    policy = collection.policy
    return CollectionChunkingOut(
        chunking=ChunkingOut.model_validate(policy, from_attributes=True) if policy else None,
        cut_otherwise=chunking.cut_otherwise(request.principal, collection).count(),
    )


class GrantIn(Schema):
    """A person or a group, and the role."""

    user: str = Field("", max_length=150, description="a user name; or give group")
    group: str = Field("", max_length=150, description="a group's name; or give user")
    role: str = Field(max_length=20, description="reader, reviewer, curator, auditor or administrator")


class GrantGivenIn(GrantIn):
    until: Moment | None = Field(None, description="when it ends; without, it is for good")
    delegate: bool = Field(False, description="hand a role of one's own on to a person, until a moment")
    reason: str = Field("", max_length=200, description="why, for who looks at it later")


class GrantOut(Schema):
    user: str | None
    group: str | None
    role: str
    until: datetime | None
    delegated_by: str | None = Field(description="who handed it on; it counts as long as they have the role")
    reason: str
    given_by: str | None = Field(description="null for a command, and for what was given before this was kept")
    given_at: datetime | None
    ended_by: str | None = Field(description="who ended it before its time")


@router.get("/collections/{slug}/grants", response=list[GrantOut])
def list_grants(request: HubRequest, slug: str) -> list[GrantOut]:
    """Who has which role in a collection; for its administrators."""
    return [_out(row) for row in grant_services.list_grants(request.principal, slug)]


@router.put("/collections/{slug}/grants", response=GrantOut)
def grant_role(request: HubRequest, slug: str, given: GrantGivenIn) -> GrantOut:
    """Give a role, for good or until a moment, or hand one's own on; giving it again changes only the end."""
    if given.delegate:
        if given.until is None or given.group:
            raise InvalidInput(_("Name the person and when it ends."), field="until")
        return _out(
            grant_services.delegate_role(
                principal=request.principal,
                slug=slug,
                to=given.user,
                role=given.role,
                until=given.until,
                reason=given.reason,
            )
        )
    to = Grantee(user=given.user, group=given.group)
    return _out(
        grant_services.grant_role(
            principal=request.principal, slug=slug, to=to, role=given.role, until=given.until, reason=given.reason
        )
    )


@router.delete("/collections/{slug}/grants", response={204: None})
def withdraw_role(request: HubRequest, slug: str, taken: Annotated[GrantIn, Query()]) -> Status[None]:
    """Take a role back."""
    to = Grantee(user=taken.user, group=taken.group)
    grant_services.withdraw_role(principal=request.principal, slug=slug, to=to, role=taken.role)
    return Status(204, None)


@router.post("/collections/{slug}/grants/end", response=GrantOut)
def end_role(request: HubRequest, slug: str, ended: GrantIn) -> GrantOut:
    """End a role now; the grant stays in the list. For the collection's administrators, and for who handed it on."""
    to = Grantee(user=ended.user, group=ended.group)
    return _out(grant_services.end_role(principal=request.principal, slug=slug, to=to, role=ended.role))


def _out(row: CollectionGrant) -> GrantOut:
    return GrantOut(
        user=row.user.get_username() if row.user else None,
        group=row.group.name if row.group else None,
        role=row.role,
        until=row.until,
        delegated_by=row.delegator.get_username() if row.delegator else None,
        reason=row.reason,
        given_by=row.given_by.get_username() if row.given_by else None,
        given_at=row.given_at,
        ended_by=row.ended_by.get_username() if row.ended_by else None,
    )
