"""Rows for tests: people, collections, documents taken in through the real services."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from hub.access.models import HubRoleGrant
from hub.access.principals import HubRole, Principal, Role
from hub.access.services import principal_for_user
from knowledge.documents.uploads import Upload, UploadOutcome, create_document, hash_file
from knowledge.ingest import pipeline
from knowledge.models import Collection, CollectionGrant, Document

_numbers = count(1)


def new_user(**fields: Any) -> User:
    """A person with a name of their own, who may sign in nowhere yet."""
    return User.objects.create(**{"username": f"user{next(_numbers)}", **fields})


def new_collection(**fields: Any) -> Collection:
    """A collection with a slug of its own."""
    return Collection.objects.create(**{"slug": f"collection-{next(_numbers)}", "name": "文書", **fields})


def principal_with(role: Role | None, collection: Collection) -> Principal:
    """A new person with one role in one collection, all scopes on the token; no role at all with None."""
    user = new_user()
    if role is not None:
        CollectionGrant.objects.create(collection=collection, user=user, role=role)
    return principal_for_user(user)


def hub_curator() -> Principal:
    """A new person who curates what belongs to no collection, and has no role in any collection."""
    user = new_user()
    make_hub_curator(user)
    return principal_for_user(user)


def make_hub_curator(user: User) -> User:
    return make_holder(user, HubRole.CURATOR)


def make_holder(user: User, *roles: HubRole) -> User:
    """Give a person roles of the hub; gives the person."""
    for role in roles:
        HubRoleGrant.objects.create(user=user, role=role)
    return user


def upload_text(
    principal: Principal, folder: Path, text: str, *, name: str = "設計書.md", collection: str = "default", **more
) -> UploadOutcome:
    """Take a text in as a file, without working on it yet."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return upload_file(principal, path, collection=collection, **more)


def upload_file(principal: Principal, path: Path, *, collection: str = "default", **more) -> UploadOutcome:
    sha256, size_bytes = hash_file(path)
    upload = Upload(file=path, filename=path.name, sha256=sha256, size_bytes=size_bytes, collection=collection, **more)
    return create_document(principal=principal, upload=upload)


def work_through(document: Document) -> Document:
    """Run the pipeline here until the document's latest version is finished."""
    document.refresh_from_db()
    assert document.latest_version_id is not None
    while pipeline.advance(document.latest_version_id):
        pass
    return Document.objects.select_related("collection", "latest_version__blob", "current_version").get(pk=document.pk)
