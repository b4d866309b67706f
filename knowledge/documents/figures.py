"""The pictures of a document, for those who may read it."""

from __future__ import annotations

from typing import IO

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import Conflict, NotFound
from hub.core.queue import enqueue_on_commit
from knowledge.documents.documents import changeable_document, get_document
from knowledge.documents.reading import readable_version
from knowledge.ingest.figure_descriptions import MEDIA_TYPES, describes_figures
from knowledge.models import Document, Figure
from knowledge.storage import get_blob_store

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
    return Figure.objects.filter(version=version).order_by("index")


def open_figure(principal: Principal, document_id: str, figure_id: str) -> tuple[Figure, IO[bytes]]:
    """A picture of the version a reader sees, and its bytes; the caller closes the file.

    Raises NotFound for a figure of another document too, and Conflict while there is no text yet.
    """
    figure = _find_figure(get_document(principal, document_id), figure_id)
    record_event(principal=principal, action="DOCUMENT_READ", resource=f"document:{document_id}")
    return figure, get_blob_store().open(figure.blob_id)


def describe_figure_again(*, principal: Principal, document_id: str, figure_id: str) -> Figure:
    """Drop a picture's description, or the reason why there is none, and have a language model describe it.

    The same model is not paid twice for the same picture: it gives what it gave before.

    Raises NotFound and Forbidden; Conflict where nothing describes figures, or not those of this kind.
    """
    figure = _find_figure(changeable_document(principal, document_id), figure_id)
    if not describes_figures():
        raise Conflict(
            _("Figures are not described here: HUB_DESCRIBE_FIGURES is off, or no language model is configured."),
            code="figures_not_described",
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
        record_event(principal=principal, action="FIGURE_DESCRIBE", resource=f"document:{document_id}")
        enqueue_on_commit("knowledge.describe_figure", figure_pk=figure.pk)
    figure.refresh_from_db()
    return figure


def _find_figure(document: Document, figure_id: str) -> Figure:
    figure = Figure.objects.filter(version=readable_version(document), public_id=figure_id).first()
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
