"""What is read of one PDF page: lines of text with size and place, pictures, and what was written into it afterwards.

Form fields that were filled in, and text typed over pages, are kept beside the pages' own, where neither PDFium nor
pdfplumber read them. Writers take some kanji for the radical that looks the same.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium_c

from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.pictures import MIN_PIXELS
from knowledge.text.folding import normalise

# Source: Unicode's CJK Radicals Supplement (U+2E80 to U+2EFF), those that are drawn like a whole character.
_SUPPLEMENT = str.maketrans(
    "⺟⺠⻁⻄⻆⻉⻋⻑⻔⻘⻚⻛⻝⻢⻣⻤⻥⻦⻨⻩⻫⻭⻯⻲",
    "母民虎西角貝車長門青頁風食馬骨鬼魚鳥麦黄斉歯竜亀",
)
_KANGXI = {code: normalise(chr(code)) for code in range(0x2F00, 0x2FD6)}
_WHOLE: dict[int, int | str] = {**_KANGXI, **_SUPPLEMENT}


WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


def with_whole_kanji(text: str) -> str:
    """Write kanji for radicals, which no search for a word finds.

    >>> with_whole_kanji("⼊⼒と住⺠の画⾯")
    '入力と住民の画面'
    """
    return text.translate(_WHOLE)


Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What part of the page is shown and how far it is turned clockwise, in degrees; the rest in points."""

    left: float
    bottom: float
    width: float
    height: float
    rotation: int

    @classmethod
    def of_page(cls, page: pypdfium2.PdfPage) -> Frame:
        # not its crop box, which PDFium does not look for where the page has its own from the tree of pages
        left, bottom, right, top = page.get_bbox()
        return cls(
            left=left, bottom=bottom, width=right - left, height=top - bottom, rotation=page.get_rotation() % 360
        )

    def shown(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a box as (left, top, right, bottom) from the shown page's top left corner."""
        left, right, bottom, top = left - self.left, right - self.left, bottom - self.bottom, top - self.bottom
        if self.rotation == 90:
            return bottom, left, top, right
        if self.rotation == 180:
            return self.width - right, bottom, self.width - left, top
        if self.rotation == 270:
            return self.height - top, self.width - right, self.height - bottom, self.width - left
        return left, self.height - top, right, self.height - bottom


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
            width, height = right - left, bottom - top
            if min(width, height) < _MIN_SHOWN or width * height > _MAX_PAGE_SHARE * frame.width * frame.height:
                continue
            if (data := self._data(item)) is not None:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of a line between wide gaps."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text. ``size`` is the font size in points, most of its characters'; distances are in points from
    the page's top left corner. ``parts`` is empty for a line without wide gaps. ``column`` is 1 or 2 where a page
    was parted in columns, 0 elsewhere. ``ocr`` is the confidence of a line that OCR read."""

    text: str
    size: float
    left: float
    right: float
    top: float
    bottom: float
    page: int
    bold: bool = False
    ends_in_hyphen: bool = False
    parts: tuple[Part, ...] = ()
    column: int = 0
    ocr: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page's lines and size in points, how many pictures and drawn paths it has, and whether those may be a grid.

    ``written`` says that fields were filled in or text was typed over it, ``remarks`` how many notes it has.
    ``picture`` is a hash of what a page without a usable text layer looks like.
    """

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    images: int
    paths: int
    ruled: bool
    pictures: tuple[PagePicture, ...] = ()
    written: bool = False
    remarks: int = 0
    picture: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


_WRITTEN = frozenset({pdfium_c.FPDF_ANNOT_WIDGET, pdfium_c.FPDF_ANNOT_FREETEXT})


def has_written_text(page: pypdfium2.PdfPage) -> bool:
    """Return whether a page has form fields or typed text of its own kind."""
    return not _WRITTEN.isdisjoint(_kinds(page))


def between(above: str, below: str) -> str:
    """Return what joins two lines: nothing beside a Japanese character, else a blank."""
    return "" if WIDE.match(above[-1]) or WIDE.match(below[0]) else " "


def count_remarks(page: pypdfium2.PdfPage) -> int:
    """Count a page's notes, which readers open beside the text."""
    return sum(1 for kind in _kinds(page) if kind == pdfium_c.FPDF_ANNOT_TEXT)


def _kinds(page: pypdfium2.PdfPage) -> Iterator[int]:
    for index in range(pdfium_c.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, index)
        yield pdfium_c.FPDFAnnot_GetSubtype(annotation)
        pdfium_c.FPDFPage_CloseAnnot(annotation)


def with_written_text(path: Path) -> BytesIO:
    """Return a copy of a PDF in which all of that is part of its pages, as in print.

    :raises pypdfium2.PdfiumError: when PDFium can't put it there.
    """
    copy = BytesIO()
    document = pypdfium2.PdfDocument(path)
    try:
        document.init_forms()
        for index in range(len(document)):
            page = document[index]
            page.flatten()
            page.close()
        document.save(copy, flags=pdfium_c.FPDF_REMOVE_SECURITY)
    finally:
        document.close()
    copy.seek(0)
    return copy
