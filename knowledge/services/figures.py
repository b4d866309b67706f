"""The pictures of a document, for those who may read it."""

from __future__ import annotations

from typing import IO

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import NotFound
from knowledge.backends.storage import get_blob_store
from knowledge.models import Figure
from knowledge.services.documents import get_document
from knowledge.services.reading import readable_version

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


def open_figure(principal: Principal, document_id: str, figure_id: str) -> tuple[Figure, IO[bytes]]:
    """A picture of the version a reader sees, and its bytes; the caller closes the file.

    Raises NotFound for a figure of another document too, and Conflict while there is no text yet.
    """
    document = get_document(principal, document_id)
    figure = Figure.objects.filter(version=readable_version(document), public_id=figure_id).first()
    if figure is None:
        raise NotFound(
            _('The document "{document_id}" has no figure "{figure_id}".'),
            code="figure_not_found",
            document_id=document_id,
            figure_id=figure_id,
        )
    record_event(principal=principal, action="DOCUMENT_READ", resource=f"document:{document_id}")
    return figure, get_blob_store().open(figure.blob_id)


def figure_filename(figure: Figure) -> str:
    """A name to save a picture under."""
    return f"{figure.public_id}.{EXTENSIONS.get(figure.media_type, 'bin')}"
