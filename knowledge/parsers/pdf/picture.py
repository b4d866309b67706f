"""A page of a PDF as a picture, and where on it words stand. Run in parser children."""

from __future__ import annotations

import ctypes
import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium_c

from knowledge.parsers.errors import corrupted, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.pdf.page import Box, Frame, with_whole_kanji
from knowledge.text.folding import normalise
from knowledge.text.locating import LEAST_PART, located

PNG, JPEG = "page.png", "page.jpg"
MOST_PIXELS, MOST_HIGH = 8_000_000, 16_000
# A page of scans or photographs is many times larger as PNG, and looks the same as JPEG.
LARGE_BYTES = 700_000
_QUALITY = 85
_PNG_EFFORT = 3
# What marks a word that goes on in the next line, and is no character of it.
_JOINERS = frozenset("\u00ad\x02\ufffe\ufeff\u200b")
_VOICED = frozenset("\u3099\u309a")
# Of the size of a character: how much of it is in the line, and how far from the one before it.
_SAME_LINE, _WIDEST_GAP = 0.5, 3.0


def draw_page(path: Path, *, limits: ParseLimits, folder: Path, filename: str, page: int, width: int) -> str:
    """Draw a page, counted from 1, about ``width`` pixels wide, into ``folder``; gives the picture's name and size.

    :raises ParseError: ``corrupted``, ``encrypted``, or ``page_not_found``.
    """
    document = open_pdf(path, page)
    if document.get_formtype():
        document.init_forms()
    shown = document[page - 1]
    points_wide, points_high = shown.get_size()
    scale = min(width / points_wide, MOST_HIGH / points_high, (MOST_PIXELS / (points_wide * points_high)) ** 0.5)
    image = shown.render(scale=scale).to_pil().convert("RGB")
    name = PNG
    image.save(folder / PNG, compress_level=_PNG_EFFORT)
    if (folder / PNG).stat().st_size > LARGE_BYTES:
        name = JPEG
        image.save(folder / JPEG, quality=_QUALITY)
    facts = {"file": name, "width": image.width, "height": image.height, "pages": len(document)}
    document.close()
    return json.dumps(facts)


# PDFium turns whole numbers of a page as it is shown into places on it: this many for a point.
_FINE = 100


def place_on_page(
    page: pypdfium2.PdfPage, size: tuple[float, float], point: tuple[float, float]
) -> tuple[float, float]:
    """Turn a place on a page as it is shown, from its top left and with its ``size``, into one in its own space."""
    x, y = ctypes.c_double(), ctypes.c_double()
    across, down = (round(side * _FINE) for side in size)
    pdfium_c.FPDF_DeviceToPage(page, 0, 0, across, down, 0, round(point[0] * _FINE), round(point[1] * _FINE), x, y)
    return x.value, y.value


def find_words(
    path: Path, *, limits: ParseLimits, folder: Path, filename: str, page: int, pieces: Sequence[str], at: float
) -> str:
    """Find pieces of text on a page; the end of the last one may be on the next page.

    ``at`` is about how far down the page's text they begin, from 0 to 1: of a text that is there more than once the
    nearest is meant. Gives for each page its size in points and boxes (left, top, right, bottom), and the share of
    characters that were found.
    """
    document = open_pdf(path, page)
    wanted = compact_texts(pieces)
    total, found, pages = sum(map(len, wanted)), 0, []
    for number in (page, page + 1):
        if not wanted or number > len(document):
            break
        shown, rest = on_page(document[number - 1], wanted, at=at)
        found += shown.characters
        pages += shown.as_json(number)
        # only what goes on: a word that is not on this page may be on the next by chance
        wanted, at = ([rest] if len(rest) >= LEAST_PART else []), 0.0
    document.close()
    return json.dumps({"pages": pages, "share": found / total if total else 0.0})


def compact_texts(pieces: Sequence[str]) -> list[str]:
    """Return texts as `compact_text` does, without those that show nothing."""
    return [text for piece in pieces if (text := compact_text(piece))]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundWords:
    """The size of a page in points, the boxes of the words that were found there, and how many characters they have."""

    width: float
    height: float
    boxes: list[Box]
    characters: int

    def as_json(self, number: int) -> list[dict[str, object]]:
        """The page of that number as tasks give it; none where nothing was found."""
        return [{"page": number, "width": self.width, "height": self.height, "boxes": self.boxes}] if self.boxes else []


def open_pdf(path: Path, page: int) -> pypdfium2.PdfDocument:
    """Open a PDF that has a page. :raises ParseError: ``corrupted``, ``encrypted``, or ``page_not_found``."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        is_encrypted = "password" in str(error).lower()
        raise (parse_error("encrypted") if is_encrypted else corrupted("pdf", "PDFium")) from error
    if not 1 <= page <= len(document):
        raise parse_error("page_not_found", page=page, pages=len(document))
    return document


class PageText:
    """The characters of a page that show something, and where they stand."""

    def __init__(self, page: pypdfium2.PdfPage) -> None:
        self._page = page
        self._textpage = page.get_textpage()
        characters = list(_compact("".join(_characters(self._textpage))))
        self._text = "".join(char for char, _place in characters)
        self._places = [place for _char, place in characters]

    @property
    def text(self) -> str:
        """Its characters, compact."""
        return self._text

    def spans(self, wanted: Sequence[str], *, at: float) -> tuple[list[tuple[int, int]], str]:
        """Find some compact texts in their order; return where they are, and what is missing of the last at its end."""
        found: list[tuple[int, int]] = []
        expected, rest = round(at * len(self._text)), ""
        for piece in wanted:
            parts = list(located(self._text, piece, expected))
            found += [(first, first + length) for first, length, _from in parts]
            expected = found[-1][1] if parts else expected
            rest = piece[max((begun + length for _first, length, begun in parts), default=0) :]
        return found, rest

    def shown_boxes(self, first: int, last: int) -> Iterator[Box]:
        """The boxes of characters ``[first, last)``, line by line, from the shown page's top left corner."""
        return self._boxes(first, last, Frame.of_page(self._page).shown)

    def own_boxes(self, first: int, last: int) -> Iterator[Box]:
        """The same boxes as (left, bottom, right, top) in the page's own space, as a file has them."""
        for left, top, right, bottom in self._boxes(first, last, _turned_over):
            yield left, -bottom, right, -top

    def _boxes(self, first: int, last: int, place: Callable[[float, float, float, float], Box]) -> Iterator[Box]:
        return _boxes(self._textpage, place, self._places[first], self._places[last - 1])


def _turned_over(left: float, bottom: float, right: float, top: float) -> Box:
    """Return a box of the page's own space as lines are looked for: with its top above its bottom."""
    return left, -top, right, -bottom


def compact_text(text: str) -> str:
    """Return the characters of a text that show something, as they are looked for on pages."""
    return "".join(char for char, _place in _compact(text))


def on_page(page: pypdfium2.PdfPage, wanted: Sequence[str], *, at: float) -> tuple[FoundWords, str]:
    """What is on a page of some texts, and what is missing of the last one at its end."""
    text, frame = PageText(page), Frame.of_page(page)
    spans, rest = text.spans(wanted, at=at)
    boxes = [box for first, last in spans for box in text.shown_boxes(first, last)]
    turned = frame.rotation in (90, 270)
    width, height = (frame.height, frame.width) if turned else (frame.width, frame.height)
    return FoundWords(width=width, height=height, boxes=boxes, characters=sum(b - a for a, b in spans)), rest


def _characters(textpage: pypdfium2.PdfTextPage) -> Iterator[str]:
    """Each character of a page by its index there, one that is none of Unicode's as a blank."""
    for index in range(textpage.count_chars()):
        code = pdfium_c.FPDFText_GetUnicode(textpage, index)
        yield chr(code) if code < 0xD800 or 0xDFFF < code <= 0x10FFFF else " "


def _compact(text: str) -> Iterator[tuple[str, int]]:
    """Each character that shows something, as stored texts have it, with its place."""
    for place, char in enumerate(text):
        if char in _VOICED or char in _JOINERS or char.isspace():
            continue
        following = text[place + 1 : place + 2]
        whole = unicodedata.normalize("NFC", char + following) if following in _VOICED else char
        for one in normalise(with_whole_kanji(whole)):
            if not one.isspace():
                yield one, place


def _boxes(
    textpage: pypdfium2.PdfTextPage, placed: Callable[[float, float, float, float], Box], first: int, last: int
) -> Iterator[Box]:
    """The boxes of some characters, one for each line of them, written across or down.

    Not PDFium's own: those of text that is written down are elsewhere.
    """
    line: Box | None = None
    ways: tuple[int, ...] = (0, 1)  # across, or down; its second character says which
    for index in range(first, last + 1):
        box = placed(*textpage.get_charbox(index, loose=True))
        if box[0] >= box[2] or box[1] >= box[3]:
            continue
        if line is None:
            line = box
            continue
        ways = tuple(way for way in ways if _goes_on(line, box, along=way))[:1]
        if ways:
            line = _around(line, box)
        else:
            yield _rounded(line)
            line, ways = box, (0, 1)
    if line is not None:
        yield _rounded(line)


def _goes_on(line: Box, box: Box, *, along: int) -> bool:
    """Whether a character stands in a line that runs along x (0) or y (1): beside it, and no further than a few."""
    across = 1 - along
    overlap = min(line[across + 2], box[across + 2]) - max(line[across], box[across])
    size = min(line[across + 2] - line[across], box[across + 2] - box[across])
    gap = max(box[along] - line[along + 2], line[along] - box[along + 2])
    return overlap >= _SAME_LINE * size and gap <= _WIDEST_GAP * size


def _around(line: Box, box: Box) -> Box:
    return min(line[0], box[0]), min(line[1], box[1]), max(line[2], box[2]), max(line[3], box[3])


def _rounded(box: Box) -> Box:
    left, top, right, bottom = (round(value, 2) for value in box)
    return left, top, right, bottom
