"""Looking at documents: lists, structure, passages, stored text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict
from knowledge.documents.documents import get_document
from knowledge.documents.filters import check_filters
from knowledge.documents.structure_schemas import StructureOut, structure_out
from knowledge.index.active_embedder import active_embedding_set, chunks_of, find_active_set
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import Chunk, Document, DocumentStatus, DocumentVersion, VersionContent
from knowledge.storage import get_blob_store


def list_documents(
    principal: Principal,
    *,
    collection: str = "",
    status: str = "",
    document_type: str = "",
    path_prefix: str = "",
    query: str = "",
) -> QuerySet[Document]:
    """The documents the caller may read, newest first, with what ``document_out`` needs selected.

    Raises NotFound for a collection and InvalidInput for a document type that is not there.
    """
    principal.require(Scope.READ)
    check_filters(principal, collections=[collection], document_types=[document_type])
    documents = (
        Document.objects.visible_to(principal).select_related("collection", "latest_version__blob").order_by("-id")
    )
    if collection:
        documents = documents.filter(collection__slug=collection)
    if status == DocumentStatus.RETIRED:
        documents = documents.filter(retired_at__isnull=False)
    elif status:
        documents = documents.live().filter(latest_version__status=status)
    if document_type:
        documents = documents.filter(document_type_id=document_type)
    if path_prefix:
        documents = documents.filter(path__startswith=path_prefix)
    if query:
        documents = documents.filter(Q(title__icontains=query) | Q(path__icontains=query))
    return documents


def list_versions(principal: Principal, document_id: str) -> tuple[Document, Sequence[DocumentVersion]]:
    """A document and its versions, newest first."""
    document = get_document(principal, document_id)
    return document, list(document.versions.select_related("blob").order_by("-number"))


def readable_version(document: Document) -> DocumentVersion:
    """The version a reader sees: the current one, or the latest whose text is there. Raises Conflict before that."""
    candidates = [version for version in (document.current_version, document.latest_version) if version]
    for version in candidates:
        if VersionContent.objects.filter(pk=version.pk).exists():
            return version
    raise Conflict(
        _("The text of {path} is not there yet (state: {status}). Try again when it is ready."),
        code="document_not_ready",
        path=document.path,
        status=str(document.latest_version.status if document.latest_version else DocumentStatus.STORED),
    )


def get_structure(principal: Principal, document_id: str) -> StructureOut:
    """The section tree, tables and figures of the version a reader sees."""
    document = get_document(principal, document_id)
    version = readable_version(document)
    content = version.content
    return structure_out(document, version, sections_of(content), blocks_of(content), content.markdown)


def get_markdown(principal: Principal, document_id: str) -> str:
    """The stored Markdown of the version a reader sees: what every offset refers to."""
    document = get_document(principal, document_id)
    record_event(principal=principal, action="DOCUMENT_READ", resource=f"document:{document_id}")
    return readable_version(document).content.markdown


def open_original(principal: Principal, document_id: str) -> tuple[DocumentVersion, IO[bytes]]:
    """The latest version and its original bytes; the caller closes the file."""
    document = get_document(principal, document_id)
    if document.latest_version is None:
        raise Conflict(_("{path} has no file."), path=document.path)
    record_event(principal=principal, action="DOCUMENT_DOWNLOAD", resource=f"document:{document_id}")
    return document.latest_version, get_blob_store().open(document.latest_version.blob_id)


def list_chunks(principal: Principal, document_id: str) -> QuerySet[Chunk]:
    """The passages of the version a reader sees, in document order."""
    document = get_document(principal, document_id)
    version = readable_version(document)
    chunks = Chunk.objects.filter(chunks_of(active_embedding_set()), version=version)
    return chunks.select_related("version__document").order_by("index")


def count_documents(principal: Principal, *, collection: str = "") -> tuple[int, int]:
    """How many live documents and current passages the caller may search. Three queries, and one for the collection.

    Raises NotFound for a collection that is not there.
    """
    principal.require(Scope.SEARCH)
    check_filters(principal, scope=Scope.SEARCH, collections=[collection])
    documents = Document.objects.visible_to(principal, Scope.SEARCH).live()
    if collection:
        documents = documents.filter(collection__slug=collection)
    embedding_set = find_active_set()
    if embedding_set is None:  # before the first document
        return 0, 0
    chunks = Chunk.objects.filter(chunks_of(embedding_set), version__in=documents.values("current_version_id"))
    return documents.count(), chunks.count()
