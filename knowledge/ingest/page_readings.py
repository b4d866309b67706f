"""Reading the pictures of a version with OCR, page by page: what is left to read, and a bounded time's worth of it.

What was read is a row of its own, by a hash of the picture, so that a worker that dies loses one page and a new version
with the same pages has them read already. A page that can't be read is noted as that and not tried again until
somebody asks for it.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from hub.core import bus
from hub.core.lease import Lease
from hub.core.texts import Text
from knowledge.models import DocumentStatus, DocumentVersion, Figure, PageText, VersionContent
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ocr import engine as ocr_engine
from knowledge.parsers.ocr.ppocr import NAME as PPOCR_NAME
from knowledge.parsers.ocr.ppocr import verified, weights_of
from knowledge.parsers.ocr.tesseract import languages
from knowledge.parsers.ocr.tesseract import version as tesseract_version
from knowledge.parsers.process.isolation import as_it_is, run_isolated
from knowledge.storage import get_blob_store
from knowledge.types.notices import text_of
from knowledge.types.ocr import PageReading

READ_TASK = "knowledge.parsers.ocr.task:read_page"
SLICE_S = 10.0
MOST_FIGURES = 200
# Raster pictures that Pillow opens; drawings (EMF, WMF, SVG) are not drawn by the hub.
_MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff")
# A child that hangs is ended after as many times its processor seconds.
_WALL_PER_CPU = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A picture to read: a page of the version's file, or a figure's bytes. ``picture`` is its hash."""

    picture: str
    blob_id: str
    page: int = 1


def engine_name() -> str | None:
    """Which engine reads: ``ppocr``, ``tesseract``, or None where OCR is switched off or nothing is installed."""
    chosen = settings.CONFIG.hub_ocr_engine
    found = [name for name in ("ppocr", "tesseract") if chosen in (name, "auto") and why_missing(name) is None]
    return found[0] if found else None


@cache
def why_missing(name: str) -> str | None:
    """Why an engine can't be used; None when it can. Looked at once a process."""
    if name == "tesseract":
        return None if "jpn" in languages() else "tesseract with Japanese data (tesseract-ocr-jpn) is not installed"
    try:
        for path in weights_of().values():
            verified(path)
    except ocr_engine.OcrUnavailable as error:
        return str(error)
    return None


def engine_edition(name: str) -> str:
    return PPOCR_NAME if name == "ppocr" else tesseract_version()


def sources_of(version: DocumentVersion) -> tuple[list[Source], int]:
    """What OCR could read of a version that was parsed, each picture once; and how many pictures are too many."""
    found: dict[str, Source] = {}
    pages = VersionContent.objects.filter(pk=version.pk).values_list("pages", flat=True).first() or []
    for page in pages:
        picture = page.get("picture")
        if picture and (page["needs_ocr"] or page.get("confidence") is not None):
            found.setdefault(picture, Source(picture=picture, blob_id=version.blob_id, page=page["number"]))
    figures = Figure.objects.filter(version=version, media_type__in=_MEDIA_TYPES).order_by("index")
    pictures = list(dict.fromkeys(figures.values_list("blob_id", flat=True)))
    # Nobody replaced in pictures what was taken out of the texts around them.
    if not settings.CONFIG.hub_ocr_figures or version.anonymised is not None:
        pictures = []
    for blob_id in pictures[:MOST_FIGURES]:
        found.setdefault(blob_id, Source(picture=blob_id, blob_id=blob_id))
    return list(found.values()), max(len(pictures) - MOST_FIGURES, 0)


def unread(version: DocumentVersion) -> list[Source]:
    """What is left to read, in order; nothing when reading was cancelled or no engine is there."""
    if version.ocr_cancelled or engine_name() is None:
        return []
    sources, _too_many = sources_of(version)
    known = set(PageText.objects.filter(version=version).values_list("picture", flat=True))
    return [source for source in sources if source.picture not in known]


def take_over_readings(version: DocumentVersion) -> None:
    """Copy what was read of the same pictures in other versions of the document."""
    edition = engine_edition(engine_name() or "")
    wanted = [source.picture for source in unread(version)]
    others = PageText.objects.filter(
        version__document=version.document_id, picture__in=wanted, engine=edition, error=""
    ).exclude(version=version)
    copies = {
        row.picture: PageText(
            version=version, picture=row.picture, engine=row.engine, reading=row.reading, seconds=row.seconds
        )
        for row in others.order_by("pk")
    }
    PageText.objects.bulk_create(copies.values(), ignore_conflicts=True)


def has_all(version: DocumentVersion, readings: Mapping[str, PageReading]) -> bool:
    """Whether ``readings`` are all that there is of a version."""
    rows = PageText.objects.filter(version=version, error="").values_list("picture", flat=True)
    return set(rows) <= readings.keys()


def advice(version: DocumentVersion) -> Text:
    """What to do about pages that could not be read."""
    if version.ocr_cancelled:
        return text_of("left_out", "ocr_cancelled")
    return text_of("left_out", "ocr_unusable" if engine_name() else "ocr_missing")


def readings_of(version: DocumentVersion) -> dict[str, PageReading]:
    """What OCR read of a version, by the hash of the picture."""
    rows = PageText.objects.filter(version=version, error="").values_list("picture", "reading")
    return {picture: PageReading.from_json(reading) for picture, reading in rows if reading is not None}


def readings_by_page(version: DocumentVersion) -> dict[int, PageReading]:
    """What OCR read of the pages of a version's file, by page from 1, of those that it read well enough to be text.

    Two queries, none where it read nothing.
    """
    if not version.ocr_pages_read:
        return {}
    pages = VersionContent.objects.filter(pk=version.pk).values_list("pages", flat=True).first() or []
    readings = readings_of(version)
    return {
        page["number"]: readings[page["picture"]]
        for page in pages
        if page.get("confidence") is not None and not page["needs_ocr"] and page.get("picture") in readings
    }


def forget_readings(version_id: int) -> None:
    """Forget what could not be read and what another engine read: asked again, all of it is tried again."""
    rows = PageText.objects.filter(version=version_id)
    name = engine_name()
    rows = rows.exclude(engine=engine_edition(name), error="") if name else rows.exclude(error="")
    rows.delete()


def read_some(version: DocumentVersion, lease: Lease) -> DocumentStatus:
    """Read pictures for a bounded time, each noted as soon as it is read; then the file is parsed with them."""
    waiting = unread(version)
    name = engine_name()
    if name is None or not waiting:
        return DocumentStatus.PARSING
    total = len(waiting) + PageText.objects.filter(version=version).count()
    done = total - len(waiting)
    deadline = time.monotonic() + SLICE_S
    for source in waiting:
        row = _read(version, source, name, lease)
        done += 1
        with transaction.atomic():
            lease.change(
                ocr_pages=total,
                ocr_pages_read=done,
                ocr_started_at=version.ocr_started_at or timezone.now(),
                progress=2 + int(7 * done / max(total, 1)),
            )
            PageText.objects.bulk_create([row], ignore_conflicts=True)
        _publish(version, done, total)
        if DocumentVersion.objects.filter(pk=version.pk, ocr_cancelled=True).exists():
            return DocumentStatus.PARSING
        if time.monotonic() > deadline:
            break
    return DocumentStatus.READING if done < total else DocumentStatus.PARSING


def _read(version: DocumentVersion, source: Source, name: str, lease: Lease) -> PageText:
    started = time.monotonic()
    row = PageText(version=version, picture=source.picture, engine=engine_edition(name), error="")
    try:
        with get_blob_store().local_path(source.blob_id) as path:
            found = run_isolated(
                READ_TASK,
                path,
                as_it_is,
                filename=version.filename,
                limits=page_limits(),
                arguments={"page": source.page, "engine": name},
                heartbeat=lease.renew,
            )
        row.reading = PageReading.from_json(found["reading"]).as_json()
    except ParseError as error:
        row.error = error.code
    except (KeyError, TypeError, ValueError):  # a hijacked child may write anything
        row.error = "parser_crashed"
    row.seconds = round(time.monotonic() - started, 2)
    return row


def page_limits() -> ParseLimits:
    """The limits under which one page is read."""
    config = settings.CONFIG
    return dataclasses.replace(
        ParseLimits(),
        cpu_s=config.hub_ocr_page_s,
        wall_s=_WALL_PER_CPU * config.hub_ocr_page_s,
        memory_bytes=config.hub_parse_memory_bytes,
        max_input_bytes=config.hub_max_upload_bytes,
    )


def _publish(version: DocumentVersion, done: int, total: int) -> None:
    document_id = version.document.public_id
    event = {"document_id": document_id, "status": "reading", "progress": 2 + int(7 * done / max(total, 1))}
    bus.publish(f"document:{document_id}", {**event, "pages_read": done, "pages": total})


def seconds_left(version: DocumentVersion) -> float | None:
    """About how long reading still takes, by how long it took so far; None when nothing is read now."""
    if version.status != DocumentStatus.READING or not version.ocr_pages or version.ocr_started_at is None:
        return None
    read = version.ocr_pages_read or 0
    if not read:
        return None
    spent = (timezone.now() - version.ocr_started_at).total_seconds()
    return round(max(spent, 0.0) / read * (version.ocr_pages - read), 1)
