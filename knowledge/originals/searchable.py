"""The service that gives a scanned document as a PDF in which the words that OCR read can be found and copied."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import Conflict, Unavailable
from hub.core.languages import shown as in_reader_language
from knowledge.documents.documents import get_document
from knowledge.documents.reading import readable_version
from knowledge.ingest.page_readings import readings_by_page
from knowledge.models import DocumentVersion, VersionContent
from knowledge.originals.annotated import BUSY, copy_limits, turn
from knowledge.parsers.errors import ParseError
from knowledge.parsers.made_files import read_made_file
from knowledge.parsers.process.isolation import HostLost, run_isolated
from knowledge.storage import get_blob_store

TASK = "knowledge.parsers.ocr.searchable:write"
_FORMATS = frozenset({"pdf", "image"})
_SUFFIX = "_検索用.pdf"


def has_read_pages(version: DocumentVersion | None) -> bool:
    """Whether OCR read pages of a version, so that there is a searchable PDF of it. One query at most."""
    if version is None or version.format not in _FORMATS or not version.ocr_pages_read:
        return False
    pages = VersionContent.objects.filter(pk=version.pk).values_list("pages", flat=True).first() or []
    return any(page.get("confidence") is not None and not page["needs_ocr"] for page in pages)


def searchable_pdf(principal: Principal, document_id: str) -> tuple[str, bytes]:
    """Return the name and the bytes of the PDF of the version that a reader sees. Written to the audit trail.

    Pages of a PDF keep their looks, those of a picture are as it is shown; what OCR read lies over them unseen.

    :raises NotFound: no such document. :raises Conflict: OCR read none of its pages, or its file can't be written.
    :raises Unavailable: too many are being made now.
    """
    document = get_document(principal, document_id)
    version = readable_version(document)
    readings = readings_by_page(version) if version.format in _FORMATS else {}
    pages = [{"page": number, "reading": reading.as_json()} for number, reading in readings.items()]
    if not pages:
        raise Conflict(_("OCR read no pages of {path}."), code="no_pages_read", path=document.path)
    content = _written(principal, version, pages)
    record_event(
        principal, "DOCUMENT_DOWNLOAD", f"document:{document_id}", version=version.number, form="searchable_pdf"
    )
    return PurePosixPath(version.filename).stem + _SUFFIX, content


def _written(principal: Principal, version: DocumentVersion, pages: list[dict[str, Any]]) -> bytes:
    def load(result: dict[str, Any], folder: Path) -> bytes:
        return read_made_file(folder / Path(result["file"]).name)

    try:
        with turn(principal), get_blob_store().local_path(version.blob_id) as path:
            limits = copy_limits(path.stat().st_size)
            return run_isolated(TASK, path, load, filename=version.filename, limits=limits, arguments={"pages": pages})
    except ParseError as error:
        reason = in_reader_language(error.text)
        raise Conflict(
            _("The searchable PDF can't be made: {reason}"), code="original_not_readable", reason=reason
        ) from error
    except HostLost as error:
        raise Unavailable(BUSY) from error
