"""The child's task: a scanned document as a PDF whose pages have what OCR read as text that is not seen."""

from __future__ import annotations

import ctypes
import json
import unicodedata
import warnings
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c
from PIL import Image

from knowledge.parsers.errors import corrupted, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ocr.blank_font import FULL, HALF, blank_font
from knowledge.parsers.ocr.task import BROKEN_PICTURE, DPI, MOST_PIXELS, PICTURE_FORMATS, upright
from knowledge.parsers.pdf.picture import open_pdf, place_on_page
from knowledge.types.ocr import PageReading, Point, ReadLine

NAME = "searchable.pdf"
_CODES_AT_ONCE = 100
_BELOW_LINE = 0.2
_QUALITY = 90


def write(path: Path, *, limits: ParseLimits, folder: Path, filename: str, pages: Sequence[Mapping[str, Any]]) -> str:
    """Write the PDF into ``folder``; ``pages`` are readings as JSON, each with the ``page`` that it is of, from 1.

    The pages of a PDF are kept as they are; the frames of a picture become pages.

    :raises ParseError: ``corrupted``, ``encrypted``, ``too_many_pages``, ``too_many_pixels``.
    """
    readings = {int(page["page"]): PageReading.from_json(page["reading"]) for page in pages}
    with path.open("rb") as stream:
        is_pdf = b"%PDF-" in stream.read(1024)
    document = open_pdf(path, 1) if is_pdf else _pages_of_picture(path, limits)
    layer = _TextLayer(document, (char for one in readings.values() for line in one.lines for char in line.text))
    for number, reading in sorted(readings.items()):
        if number <= len(document):
            layer.write(document[number - 1], reading)
    target = BytesIO()
    document.save(target)
    document.close()
    (folder / NAME).write_bytes(target.getvalue())
    return json.dumps({"file": NAME})


def _pages_of_picture(path: Path, limits: ParseLimits) -> pypdfium2.PdfDocument:
    document = pypdfium2.PdfDocument.new()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=PICTURE_FORMATS) as image:
                # Animated pictures show one page.
                count = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
                if count > limits.max_pages:
                    raise parse_error("too_many_pages", size=count, limit=limits.max_pages)
                for frame in range(count):
                    image.seek(frame)
                    _add_page(document, image)
    except Image.DecompressionBombError as error:
        raise parse_error("too_many_pixels", limit=f"{MOST_PIXELS:,}") from error
    except BROKEN_PICTURE as error:
        raise corrupted("image", type(error).__name__) from error
    return document


def _add_page(document: pypdfium2.PdfDocument, image: Image.Image) -> None:
    if image.width * image.height > MOST_PIXELS:
        raise parse_error("too_many_pixels", limit=f"{MOST_PIXELS:,}")
    shown = upright(image)
    page = BytesIO()
    shown = shown if shown.mode in ("1", "L", "RGB") else shown.convert("RGB")
    shown.save(page, "PDF", resolution=float(image.info.get("dpi", (DPI,))[0]) or DPI, quality=_QUALITY)
    with pypdfium2.PdfDocument(page.getvalue()) as one:
        document.import_pages(one)


class _TextLayer:
    """Writes lines of a document with a font that has no shapes; each character is a code of that font."""

    def __init__(self, document: pypdfium2.PdfDocument, characters: Iterable[str]) -> None:
        self._document = document
        self._codes = {char: code for code, char in enumerate(sorted(set(characters)), 1)}
        font = blank_font()
        glyphs = b"\0\0" + b"".join((FULL if _is_wide(char) else HALF).to_bytes(2, "big") for char in self._codes)
        self._font = pdfium_c.FPDFText_LoadCidType2Font(
            document, _bytes(font), len(font), _unicode_map(self._codes), _bytes(glyphs), len(glyphs)
        )
        if not self._font:
            raise corrupted("pdf", "no font can be added")

    def write(self, page: pypdfium2.PdfPage, reading: PageReading) -> None:
        for line in reading.lines:
            if line.text.strip():
                self._write_line(page, reading, line)
        pdfium_c.FPDFPage_GenerateContent(page)

    def _write_line(self, page: pypdfium2.PdfPage, reading: PageReading, line: ReadLine) -> None:
        origin, along, up = _directions(line)
        start, end, top = (
            place_on_page(page, (reading.width, reading.height), (origin[0] + move[0], origin[1] + move[1]))
            for move in ((0.0, 0.0), along, up)
        )
        ems = sum(1.0 if _is_wide(char) else 0.5 for char in line.text)
        across = ((end[0] - start[0]) / ems, (end[1] - start[1]) / ems)
        upward = (top[0] - start[0], top[1] - start[1])
        item = pdfium_c.FPDFPageObj_CreateTextObj(self._document, self._font, 1.0)
        codes = [self._codes[char] for char in line.text]
        pdfium_c.FPDFText_SetCharcodes(item, (ctypes.c_uint32 * len(codes))(*codes), len(codes))
        pdfium_c.FPDFTextObj_SetTextRenderMode(item, pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE)
        base = (start[0] + _BELOW_LINE * upward[0], start[1] + _BELOW_LINE * upward[1])
        pdfium_c.FPDFPageObj_SetMatrix(item, pdfium_c.FS_MATRIX(*across, *upward, *base))
        pdfium_c.FPDFPage_InsertObject(page, item)


def _directions(line: ReadLine) -> tuple[Point, Point, Point]:
    """Return where the bottom of a line begins, and from there the ways along its text and up, as the page is shown.

    The characters of vertical text lie on their side: it is read downwards all the same.
    """
    a, b, _c, d = line.quad
    origin, end, top = (a, d, b) if line.is_vertical else (d, line.quad[2], a)
    return origin, (end[0] - origin[0], end[1] - origin[1]), (top[0] - origin[0], top[1] - origin[1])


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WFA"


def _unicode_map(codes: Mapping[str, int]) -> bytes:
    """Say which character each code is, so that what is copied is the text."""
    pairs = [f"<{code:04X}> <{char.encode('utf-16-be').hex().upper()}>" for char, code in codes.items()]
    blocks = [pairs[first : first + _CODES_AT_ONCE] for first in range(0, len(pairs), _CODES_AT_ONCE)]
    maps = "".join(f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar\n" for block in blocks)
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
        "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
        f"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n{maps}"
        "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    ).encode()


def _bytes(data: bytes) -> ctypes.Array[ctypes.c_uint8]:
    return (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
