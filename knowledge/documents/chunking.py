"""How the documents of a collection are cut, and cutting those anew that are cut otherwise."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from knowledge.collections import get_collection
from knowledge.documents.documents import DoneToEach, chunk_policy
from knowledge.documents.reindexing import MOST_AT_ONCE, retry_documents
from knowledge.models import Collection, Document
from knowledge.models.documents import DocumentQuerySet
from knowledge.types.chunks import ChunkOptions


def set_chunking(*, principal: Principal, slug: str, chunk_options: ChunkOptions | None) -> Collection:
    """Say how documents that come into a collection are cut; None is the embedding set's way. Needs curate.

    Documents that are there stay as they are until somebody works on them again; see `cut_otherwise`.

    :raises InvalidInput: impossible sizes, or above the active model's limit of tokens.
    """
    collection = get_collection(principal, slug, scope=Scope.CURATE)
    with transaction.atomic():
        collection.policy = chunk_policy(chunk_options) if chunk_options else None
        collection.save(update_fields=["policy"])
        record_event(principal, "CONFIG_CHANGE", f"collection:{slug}", changed=["chunking"])
    return collection


def cut_otherwise(principal: Principal, collection: Collection) -> DocumentQuerySet:
    """The documents of a collection that the caller may change and that are cut otherwise than the collection says.

    Those whose own cutting a person chose are left out, and those of folders and watched sources: these follow their
    source, or the collection where that says nothing, at the next scan.
    """
    version = "latest_version__"
    as_wanted = Q(**{f"{version}has_own_policy": False})
    if collection.policy_id is not None:
        as_wanted = Q(**{f"{version}has_own_policy": True, f"{version}policy": collection.policy_id})
    found = Document.objects.visible_to(principal, Scope.UPLOAD).live().filter(collection=collection)
    return found.filter(chosen_policy=None, source_root="", latest_version__isnull=False).exclude(as_wanted)


def recut_collection(*, principal: Principal, collection: str) -> DoneToEach:
    """Work again on the documents that are cut otherwise than their collection says, MOST_AT_ONCE at most.

    :raises NotFound: no such collection, or none that the caller curates.
    """
    found = get_collection(principal, collection, scope=Scope.CURATE)
    ids = cut_otherwise(principal, found).order_by("pk").values_list("public_id", flat=True)[:MOST_AT_ONCE]
    return retry_documents(principal=principal, document_ids=list(ids))
