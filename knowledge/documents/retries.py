"""Working on many documents again: those that are named, or those of a collection that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hub.access.principals import Principal
from hub.core.errors import HubError
from knowledge.collections.collections import get_collection
from knowledge.documents.reading import list_documents
from knowledge.documents.reindexing import reindex_document
from knowledge.models import DocumentStatus

MOST_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """The ids of the documents that work goes on with, and those that were refused, each with the reason."""

    started: tuple[str, ...]
    refused: tuple[tuple[str, HubError], ...]


def retry_documents(*, principal: Principal, document_ids: Sequence[str]) -> Retried:
    """Work on each document's latest version again; one that is refused does not keep the others from it."""
    started: list[str] = []
    refused: list[tuple[str, HubError]] = []
    for document_id in dict.fromkeys(document_ids):
        try:
            reindex_document(principal=principal, document_id=document_id)
        except HubError as error:
            refused.append((document_id, error))
        else:
            started.append(document_id)
    return Retried(started=tuple(started), refused=tuple(refused))


def retry_failed(*, principal: Principal, collection: str) -> Retried:
    """Work again on the failed documents of a collection, the oldest first, MOST_AT_ONCE at most. Raises NotFound."""
    get_collection(principal, collection)
    failed = list_documents(principal, collection=collection, status=DocumentStatus.FAILED).order_by("pk")
    ids = list(failed.values_list("public_id", flat=True)[:MOST_AT_ONCE])
    return retry_documents(principal=principal, document_ids=ids)
