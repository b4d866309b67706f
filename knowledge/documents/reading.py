"""Looking at documents: lists, structure, chunks, stored text, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from django.core.exceptions import EmptyResultSet
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.database import prepared_cursor
from hub.core.errors import Conflict, NotFound
from hub.core.queue import enqueue_on_commit
from knowledge.documents.documents import changeable_document, check_filters, get_document
from knowledge.documents.schemas import StructureOut, structure_out
from knowledge.index.active_embedder import active_embedding_set, chunks_of, find_active_set
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.ingest.figures import MEDIA_TYPES, describes_figures
from knowledge.models import Chunk, Document, DocumentStatus, DocumentVersion, Figure, VersionContent
from knowledge.models.documents import DocumentQuerySet
from knowledge.storage import get_blob_store


def list_documents(
    principal: Principal,
    *,
    collection: str = "",
    status: str = "",
    document_type: str = "",
    path_prefix: str = "",
    query: str = "",
) -> DocumentQuerySet:
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
    if "\0" in query:  # which no title and no path can have
        return documents.none()
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
    record_event(principal, "DOCUMENT_READ", f"document:{document_id}", part="structure", version=version.number)
    return structure_out(document, version, sections_of(content), blocks_of(content), content.markdown)


def get_markdown(principal: Principal, document_id: str) -> str:
    """The stored Markdown of the version a reader sees: what every offset refers to."""
    document = get_document(principal, document_id)
    version = readable_version(document)
    markdown = version.content.markdown
    record_event(principal, "DOCUMENT_READ", f"document:{document_id}", part="text", version=version.number)
    return markdown


def open_original(principal: Principal, document_id: str) -> tuple[DocumentVersion, IO[bytes]]:
    """The latest version and its original bytes; the caller closes the file."""
    document = get_document(principal, document_id)
    if document.latest_version is None:
        raise Conflict(_("{path} has no file."), path=document.path)
    version = document.latest_version
    record_event(principal, "DOCUMENT_DOWNLOAD", f"document:{document_id}", version=version.number)
    return version, get_blob_store().open(version.blob_id)


def list_chunks(principal: Principal, document_id: str) -> QuerySet[Chunk]:
    """The chunks of the version a reader sees, in document order. Reading is written to the audit trail."""
    document = get_document(principal, document_id)
    version = readable_version(document)
    record_event(principal, "DOCUMENT_READ", f"document:{document_id}", part="passages", version=version.number)
    chunks = Chunk.objects.filter(chunks_of(active_embedding_set()), version=version)
    return chunks.select_related("version__document").order_by("index")


def count_documents(principal: Principal, *, collection: str = "") -> tuple[int, int]:
    """How many live documents and current chunks the caller may search. Two queries, and one for the collection.

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
    try:
        visible, given = documents.order_by().values("current_version_id").query.sql_with_params()
    except EmptyResultSet:  # a caller who may see no collection at all
        return 0, 0
    searched = Chunk.objects.filter(
        chunks_of(embedding_set), version__in=RawSQL("SELECT current_version_id FROM visible", ())
    )
    chunks, limits = searched.order_by().values("pk").query.sql_with_params()
    both = f"WITH visible AS ({visible}) SELECT (SELECT count(*) FROM visible), count(*) FROM ({chunks}) AS searched"  # noqa: S608 - both are the ORM's, with their parameters apart
    with prepared_cursor() as cursor:
        cursor.execute(both, [*given, *limits])
        return tuple(cursor.fetchone())


EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/tiff": "tif",
    "image/jp2": "jp2",
    "image/emf": "emf",
    "image/wmf": "wmf",
    "image/svg+xml": "svg",
}


def list_figures(principal: Principal, document_id: str) -> QuerySet[Figure]:
    """The pictures of the version a reader sees, in document order. Raises NotFound; Conflict without text."""
    version = readable_version(get_document(principal, document_id))
    record_event(principal, "DOCUMENT_READ", f"document:{document_id}", part="figures", version=version.number)
    return Figure.objects.filter(version=version).order_by("index")


def open_figure(principal: Principal, document_id: str, figure_id: str) -> tuple[Figure, IO[bytes]]:
    """A picture of the version a reader sees, and its bytes; the caller closes the file.

    Raises NotFound for a figure of another document too, and Conflict while there is no text yet.
    """
    figure = _find_figure(get_document(principal, document_id), figure_id)
    record_event(principal, "DOCUMENT_READ", f"document:{document_id}", part="figure", figure=figure_id)
    return figure, get_blob_store().open(figure.blob_id)


def describe_figure_again(*, principal: Principal, document_id: str, figure_id: str) -> Figure:
    """Drop a picture's description, or the reason why there is none, and have a language model describe it.

    The same model is not paid twice for the same picture: it gives what it gave before.

    Raises NotFound and Forbidden; Conflict where nothing describes figures, or not those of this kind or version.
    """
    figure = _find_figure(changeable_document(principal, document_id), figure_id)
    if not describes_figures():
        raise Conflict(
            _("Figures are not described here: HUB_DESCRIBE_FIGURES is off, or no language model is configured."),
            code="figures_not_described",
        )
    if figure.version.anonymised is not None:
        raise Conflict(
            _("Personal data was replaced in this version, but not in its pictures: they are not described."),
            code="figures_of_anonymised",
        )
    if figure.media_type not in MEDIA_TYPES:
        raise Conflict(
            _("Language models take no pictures of the type {media_type}."),
            code="figure_kind_not_described",
            media_type=figure.media_type,
        )
    with transaction.atomic():
        Figure.objects.filter(pk=figure.pk).update(
            description="",
            description_model="",
            description_error="",
            description_attempts=0,
            description_not_before=Now(),
        )
        record_event(principal, "FIGURE_DESCRIBE", f"document:{document_id}")
        enqueue_on_commit("knowledge.describe_figure", figure_pk=figure.pk)
    figure.refresh_from_db()
    return figure


def _find_figure(document: Document, figure_id: str) -> Figure:
    figure = (
        Figure.objects.select_related("version").filter(version=readable_version(document), public_id=figure_id).first()
    )
    if figure is None:
        raise NotFound(
            _('The document "{document_id}" has no figure "{figure_id}".'),
            code="figure_not_found",
            document_id=document.public_id,
            figure_id=figure_id,
        )
    return figure


def figure_filename(figure: Figure) -> str:
    """A name to save a picture under."""
    return f"{figure.public_id}.{EXTENSIONS.get(figure.media_type, 'bin')}"
