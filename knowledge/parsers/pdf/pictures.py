"""The pictures on a PDF's pages: which are worth keeping, their bytes and where they stand."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium_c

from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.pdf.frame import Frame
from knowledge.parsers.pictures import MIN_PIXELS

_MAX_PIXELS = 40_000_000
# In points, as shown: smaller ones are icons and bullets.
_MIN_SHOWN = 24.0
# Larger ones are scans behind a text layer, or backgrounds.
_MAX_PAGE_SHARE = 0.85
_DECORATION_SHARE = 0.5
_MIN_PAGES_OF_DECORATION = 3
_PNG_EFFORT = 3
_UNREADABLE = (pypdfium2.PdfiumError, OSError, ValueError, NotImplementedError, KeyError)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """A picture's bytes and its box in points from the page's top left corner."""

    data: bytes
    left: float
    right: float
    top: float
    bottom: float


class PictureExtractor:
    """Extracts pictures page by page; the same bytes are kept once, and altogether no more than the limits allow."""

    def __init__(self, limits: ParseLimits) -> None:
        self._room = limits.max_figures_bytes
        self._kept: dict[bytes, bytes] = {}

    def pictures(self, objects: Iterable[pypdfium2.PdfObject], frame: Frame) -> tuple[PagePicture, ...]:
        """Return the pictures of one page from top to bottom; what can't be decoded is left out."""
        found = []
        for item in objects:
            if item.type != pdfium_c.FPDF_PAGEOBJ_IMAGE:
                continue
            left, top, right, bottom = frame.shown(*item.get_bounds())
            if not _is_shown_well(right - left, bottom - top, page_area=frame.width * frame.height):
                continue
            data = self._data(item)
            if data is not None:
                found.append(PagePicture(data=data, left=left, right=right, top=top, bottom=bottom))
        return tuple(sorted(found, key=lambda picture: (picture.top, picture.left)))

    def _data(self, image: pypdfium2.PdfImage) -> bytes | None:
        try:
            data = _encoded(image)
        except _UNREADABLE:
            return None
        key = hashlib.sha256(data).digest()
        if key not in self._kept:
            if len(data) > self._room:
                return data  # The intake refuses and counts it; nothing holds on to it then.
            self._room -= len(data)
            self._kept[key] = data
        return self._kept[key] or None


def _is_shown_well(width: float, height: float, *, page_area: float) -> bool:
    return min(width, height) >= _MIN_SHOWN and width * height <= _MAX_PAGE_SHARE * page_area


def _encoded(image: pypdfium2.PdfImage) -> bytes:
    """Return JPEG data as they are, and other pictures as PNG with their mask applied; empty for tiny and huge ones."""
    width, height = image.get_px_size()
    if min(width, height) < MIN_PIXELS or width * height > _MAX_PIXELS:
        return b""
    stream = io.BytesIO()
    if image.get_filters()[-1:] == ["DCTDecode"]:
        image.extract(stream)
    else:
        # PDFium frees the bitmap with its last reference; the picture shares its memory until then.
        image.get_bitmap(render=True).to_pil().save(stream, format="PNG", compress_level=_PNG_EFFORT)
    return stream.getvalue()


def without_decoration(pages: Sequence[Sequence[PagePicture]]) -> list[list[PagePicture]]:
    """Drop pictures that recur on most pages, such as logos in a header."""
    counts = Counter(key for pictures in pages for key in {picture.data for picture in pictures})
    needed = max(_MIN_PAGES_OF_DECORATION, _DECORATION_SHARE * len(pages))
    return [[picture for picture in pictures if counts[picture.data] < needed] for pictures in pages]
