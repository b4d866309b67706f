"""The services: a page as a picture, and where in the original a part of a document's text stands."""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound, Unavailable
from hub.core.languages import shown as in_reader_language
from knowledge.documents.documents import get_document
from knowledge.documents.reading import readable_version
from knowledge.ingest.content import blocks_of
from knowledge.ingest.stages import parse_limits
from knowledge.models import Document, DocumentVersion, PageText, VersionContent
from knowledge.originals.marking import MarkedPage, SheetWindow, mark_cells, mark_pages
from knowledge.originals.places import page_part
from knowledge.originals.read_pages import mark_reading
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.isolation import HostLost, as_it_is, run_isolated
from knowledge.storage import get_blob_store
from knowledge.types.documents import Block
from knowledge.types.ocr import PageReading

WIDTHS = (800, 1200, 1800)
SHOWN_FORMATS = frozenset({"pdf", "xlsx"})
"""Formats whose originals are shown around a place in the text: pages as pictures, sheets as tables."""
DRAW_TASK = "knowledge.parsers.pdf.picture:draw_page"
MOST_KEPT_BYTES = 64 * 1024 * 1024
# Somebody waits in one of the request threads, so that looking has to be quick and leave threads for others.
AT_ONCE, MOST_WAIT_S, MOST_CPU_S, MOST_MEMORY_BYTES = 3, 15.0, 10.0, 1024 * 1024 * 1024
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """A page, counted from 1, as PNG or JPEG."""

    data: bytes
    media_type: str
    width: int
    height: int
    pages_count: int


def has_pictures(version: DocumentVersion) -> bool:
    """Whether pages of a version can be drawn."""
    return version.format == "pdf"


def draw_page(principal: Principal, document_id: str, *, version: int, page: int, width: int) -> PagePicture:
    """Draw a page of a document that the caller may read, one of `WIDTHS` pixels wide.

    Pictures are kept in this process, and the permission is asked each time. Reading is written to the audit trail.

    :raises NotFound: no such document, version or page. :raises Conflict: the file can't be drawn.
    :raises InvalidInput: another width. :raises Unavailable: the processes that draw are gone.
    """
    if width not in WIDTHS:
        raise InvalidInput(_("{field}: expected one of {allowed}."), field="width", allowed=", ".join(map(str, WIDTHS)))
    document = get_document(principal, document_id)
    row = document.versions.select_related("blob").filter(number=version).first()
    if row is None or not has_pictures(row) or not 1 <= page <= (row.pages_count or 0):
        raise NotFound(_("{path} has no page {page} to show."), code="page_not_found", path=document.path, page=page)
    record_event(principal, "DOCUMENT_READ", f"document:{document_id}", part="page", version=version, page=page)
    key = (row.blob_id, page, width)
    if (kept := _kept.get(key)) is not None:
        return kept
    # Who asks for a picture that is being drawn waits for it instead of drawing it again.
    with _waiting(_turns[hash(key) % len(_turns)]):
        kept = _kept.get(key)
        if kept is None:
            kept = _picture(*_ask(row, _load_picture, DRAW_TASK, page=page, width=width))
            _kept.put(key, kept)
    return kept


def _picture(data: bytes, facts: dict[str, Any]) -> PagePicture:
    return PagePicture(
        data=data,
        media_type="image/png" if facts["file"].endswith(".png") else "image/jpeg",
        pages_count=facts["pages"],
        width=facts["width"],
        height=facts["height"],
    )


def original_of(
    document: Document, version: int | None, start: int, end: int
) -> tuple[list[MarkedPage], list[SheetWindow]]:
    """Find where in the original ``[start, end)`` of a version's stored text stands: pages, or parts of sheets.

    Both are empty for formats that are not shown, and where the words are not found. No permissions are applied: call
    it with a document that the caller may read. Errors as `draw_page`'s.
    """
    row = readable_version(document) if version is None else document.versions.filter(number=version).first()
    content = VersionContent.objects.filter(pk=row.pk if row else None).first()
    if row is None or content is None:
        raise NotFound(_("{path} has no text of version {version}."), path=document.path, version=version)
    if row.format not in SHOWN_FORMATS:
        return [], []
    span = (content.markdown, blocks_of(content), start, end)
    ask = partial(_ask, row, as_it_is)
    if row.format == "pdf" and (read := _marked_reading(row, content, *span)):
        return read, []
    return (mark_pages(ask, *span), []) if row.format == "pdf" else ([], mark_cells(ask, *span))


def _marked_reading(
    row: DocumentVersion, content: VersionContent, markdown: str, blocks: Sequence[Block], start: int, end: int
) -> list[MarkedPage]:
    """Mark a span on a page that OCR read; nothing when its page has a text layer."""
    part = page_part(markdown, blocks, start, end)
    known = next((page for page in content.pages if part is not None and page["number"] == part.page), None)
    if part is None or known is None or not known.get("picture"):
        return []
    stored = PageText.objects.filter(version=row, picture=known["picture"], error="").first()
    if stored is None or stored.reading is None:
        return []
    return mark_reading(part, PageReading.from_json(stored.reading))


def _load_picture(result: dict[str, Any], folder: Path) -> tuple[bytes, dict[str, Any]]:
    """Read the picture that the task drew, while its folder is there."""
    return (folder / Path(result["file"]).name).read_bytes(), result


def _ask(
    row: DocumentVersion, load: Callable[[dict[str, Any], Path], Result], task: str, /, **arguments: object
) -> Result:
    """Have a parser child look at a version's file, as one of `AT_ONCE`, within `limits_of_looking`."""
    try:
        with _waiting(_places), get_blob_store().local_path(row.blob_id) as path:
            return run_isolated(
                task, path, load, filename=row.filename, limits=limits_of_looking(), arguments=arguments
            )
    except ParseError as error:
        reason = in_reader_language(error.text)
        raise Conflict(_("The original can't be shown: {reason}"), code="original_not_shown", reason=reason) from error
    except HostLost as error:
        raise Unavailable(_("The original can't be shown now. Try again in a moment.")) from error


def limits_of_looking() -> ParseLimits:
    """The limits of a child while somebody waits for a page: a part of those of taking a document in."""
    limits = parse_limits()
    return dataclasses.replace(
        limits,
        cpu_s=min(limits.cpu_s, MOST_CPU_S),
        wall_s=min(limits.wall_s, MOST_WAIT_S),
        memory_bytes=min(limits.memory_bytes, MOST_MEMORY_BYTES),
    )


@contextmanager
def _waiting(turn: threading.Lock | threading.BoundedSemaphore) -> Iterator[None]:
    """Have a turn inside the block. :raises Unavailable: it did not come in `MOST_WAIT_S`."""
    if not turn.acquire(timeout=MOST_WAIT_S):
        raise Unavailable(_("The original can't be shown now. Try again in a moment."))
    try:
        yield
    finally:
        turn.release()


class _Pictures:
    """The pictures that were drawn last, up to a number of bytes. Safe for several threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[tuple[str, int, int], PagePicture] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[str, int, int]) -> PagePicture | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: tuple[str, int, int], picture: PagePicture) -> None:
        with self._lock:
            if key in self._kept or len(picture.data) > self._most_bytes // 4:
                return
            self._kept[key] = picture
            self._bytes += len(picture.data)
            while self._bytes > self._most_bytes:
                _key, gone = self._kept.popitem(last=False)
                self._bytes -= len(gone.data)


_kept = _Pictures(MOST_KEPT_BYTES)
_places = threading.BoundedSemaphore(AT_ONCE)
_turns = [threading.Lock() for _number in range(64)]
