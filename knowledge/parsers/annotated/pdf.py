"""A copy of a PDF with highlights on words and notes that open there. Run in parser children.

What is added follows the original's bytes as an update, so that these stay as they are and signatures of them hold.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from knowledge.parsers.annotated.notes import Markup, Note, Placed, load_markup, outcome
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.pdf.page import Box
from knowledge.parsers.pdf.picture import PageText, compact_text, open_pdf, place_on_page

# Less than this share of the characters found is another place, most likely.
_LEAST_SHARE = 0.5
_INCREMENTAL = 1
_COLOURS = {False: (255, 212, 0), True: (190, 200, 205)}
_ICON = 18.0
_MOST_ICONS = 30
"""In a column; further ones are over the last."""
_MARGIN = 12.0
_TAIL_BYTES = 64
_TABLE_PLACE = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
_TABLE_STREAM = re.compile(rb"\d+ \d+ obj\s*<<")
_ID_LENGTH = 32
_FILE_IDS = re.compile(rb"/ID\s*\[\s*<([0-9A-Fa-f]{32})>\s*<([0-9A-Fa-f]{32})>\s*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Boxes (left, bottom, right, top) on a page, counted from 0, in the page's own space; none for the page."""

    page: int
    boxes: tuple[Box, ...]
    placed: Placed


def annotate(
    path: Path,
    *,
    limits: ParseLimits,
    folder: Path,
    filename: str,
    markdown: str,
    notes: Sequence[Mapping[str, Any]],
    written: str,
    list_title: str,
    words: Sequence[Sequence[Mapping[str, Any]]],
) -> str:
    """Write the copy into ``folder``. ``words`` has of each note, for each page it is on, its ``page`` from 1, the
    ``pieces`` of its text there, ``at`` how far down they begin, from 0 to 1, and where OCR ``read`` them, if it did:
    ``boxes`` (left, top, width, height) on a page of a ``size``.

    :raises ParseError: ``corrupted``, ``encrypted``: a file that needs a password to be changed is not.
    """
    markup = load_markup(markdown, notes, written, list_title)
    places = _find_all(path, markup.notes, words)
    document = open_pdf(path, 1)
    for number in sorted({place.page for of_note in places for place in of_note}):
        _write_page(document[number], number, places, markup)
    listed = [note for note, found in zip(markup.notes, places, strict=True) if not found]
    if listed:  # on the first page
        _icon(document[0], markup.listed(listed), _MOST_ICONS, markup, "hub-list")
    target = BytesIO()
    document.save(target, flags=_INCREMENTAL)
    document.close()
    data = _same_each_time(path.read_bytes(), _with_whole_table(target.getvalue()))
    return outcome("annotated.pdf", [_standing(found) for found in places], data, folder)


def _standing(places: Sequence[_Place]) -> Placed:
    if not places:
        return Placed.LISTED
    return Placed.EXACT if all(place.placed is Placed.EXACT for place in places) else Placed.NEAR


def _write_page(page: pypdfium2.PdfPage, number: int, places: Sequence[Sequence[_Place]], markup: Markup) -> None:
    icons = 0
    for index, note in enumerate(markup.notes):
        for place in places[index]:
            if place.page == number and place.boxes:
                _highlight(page, note, place.boxes, markup, f"hub-{index + 1}-{number + 1}")
            elif place.page == number:
                _icon(page, note, icons, markup, f"hub-{index + 1}-{number + 1}")
                icons += 1


def _find_all(path: Path, notes: Sequence[Note], words: Sequence[Sequence[Mapping[str, Any]]]) -> list[list[_Place]]:
    """Find the words of all notes, page by page, in a document that is not the one that is written."""
    document = open_pdf(path, 1)
    found: list[list[_Place]] = [[] for _note in notes]
    parts = [(int(part["page"]) - 1, index, part) for index, of_note in enumerate(words) for part in of_note]
    for number, group in groupby(sorted(parts, key=lambda one: one[:2]), key=lambda one: one[0]):
        if 0 <= number < len(document):
            text = PageText(document[number])
            for _number, index, part in group:
                if part["read"]:
                    found[index].append(_read_place(document[number], number, part["read"]))
                else:
                    found[index].append(_find(text, number, part, is_quote=notes[index].is_quote))
    document.close()
    return found


def _read_place(page: pypdfium2.PdfPage, number: int, read: Sequence[Mapping[str, Any]]) -> _Place:
    """Return where words stand on a page that has them as a picture only."""
    boxes = []
    for one in read:
        for left, top, width, height in one["boxes"]:
            first, last = (
                place_on_page(page, tuple(one["size"]), corner)
                for corner in ((left, top), (left + width, top + height))
            )
            boxes.append(
                (min(first[0], last[0]), min(first[1], last[1]), max(first[0], last[0]), max(first[1], last[1]))
            )
    return _Place(page=number, boxes=tuple(boxes), placed=Placed.NEAR)


def _find(text: PageText, number: int, part: Mapping[str, Any], *, is_quote: bool) -> _Place:
    wanted = [words for piece in part["pieces"] if (words := compact_text(piece))]
    spans, _rest = text.spans(wanted, at=float(part["at"]))
    total = sum(map(len, wanted))
    share = sum(last - first for first, last in spans) / total if total else 0.0
    if share < _LEAST_SHARE:
        return _Place(page=number, boxes=(), placed=Placed.NEAR)
    boxes = tuple(box for first, last in spans for box in text.own_boxes(first, last))
    is_whole = share == 1.0 and len(spans) == len(wanted)
    return _Place(page=number, boxes=boxes, placed=Placed.EXACT if is_quote and is_whole and boxes else Placed.NEAR)


def _highlight(page: pypdfium2.PdfPage, note: Note, boxes: Sequence[Box], markup: Markup, name: str) -> None:
    annotation = pdfium_c.FPDFPage_CreateAnnot(page, pdfium_c.FPDF_ANNOT_HIGHLIGHT)
    pdfium_c.FPDFAnnot_SetColor(annotation, pdfium_c.FPDFANNOT_COLORTYPE_Color, *_COLOURS[note.is_done], 255)
    for left, bottom, right, top in boxes:
        corners = pdfium_c.FS_QUADPOINTSF(left, top, right, top, left, bottom, right, bottom)
        pdfium_c.FPDFAnnot_AppendAttachmentPoints(annotation, corners)
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    around = pdfium_c.FS_RECTF(min(lefts), max(tops), max(rights), min(bottoms))
    _fill(annotation, around, note, markup, name)


def _icon(page: pypdfium2.PdfPage, note: Note, before: int, markup: Markup, name: str) -> None:
    """Put a note at the page's upper left corner, below those that are there."""
    annotation = pdfium_c.FPDFPage_CreateAnnot(page, pdfium_c.FPDF_ANNOT_TEXT)
    pdfium_c.FPDFAnnot_SetColor(annotation, pdfium_c.FPDFANNOT_COLORTYPE_Color, *_COLOURS[note.is_done], 255)
    left, _bottom, _right, top = page.get_bbox()
    top -= _MARGIN + min(before, _MOST_ICONS) * (_ICON + 4)
    around = pdfium_c.FS_RECTF(left + _MARGIN, top, left + _MARGIN + _ICON, top - _ICON)
    _fill(annotation, around, note, markup, name)


def _fill(annotation: Any, around: Any, note: Note, markup: Markup, name: str) -> None:  # noqa: ANN401 (C handles)
    pdfium_c.FPDFAnnot_SetRect(annotation, around)
    day = markup.written.strftime("D:%Y%m%d%H%M%S+00'00'")
    for key, value in (
        (b"Contents", note.text),
        (b"T", note.author),
        (b"M", day),
        (b"CreationDate", day),
        (b"NM", name),
    ):
        pdfium_c.FPDFAnnot_SetStringValue(annotation, key, _wide(value))
    pdfium_c.FPDFAnnot_SetFlags(annotation, pdfium_c.FPDF_ANNOT_FLAG_PRINT)
    pdfium_c.FPDFPage_CloseAnnot(annotation)


def _wide(text: str) -> Any:  # noqa: ANN401 (a C pointer)
    data = (text.replace("\n", "\r") + "\0").encode("utf-16-le", "replace")
    return ctypes.cast(ctypes.create_string_buffer(data, len(data)), ctypes.POINTER(ctypes.c_ushort))


def _same_each_time(original: bytes, written: bytes) -> bytes:
    """Make the ids that PDFium draws by chance, the update's and that of a file that had none, ones of the contents."""
    found = list(_FILE_IDS.finditer(written, len(original)))
    drawn = [found[-1].span(2)] if found else []
    if found and found[-1][1] not in original:
        drawn.insert(0, found[-1].span(1))
    for first, last in drawn:
        written = written[:first] + b"0" * (last - first) + written[last:]
    digest = hashlib.sha256(written).hexdigest()[:_ID_LENGTH].upper().encode()
    for first, last in drawn:
        written = written[:first] + digest + written[last:]
    return written


def _with_whole_table(written: bytes) -> bytes:
    """Complete the update's table of places where it is a stream: PDFium leaves out its type and its end.

    It is the last object, so that no place changes.
    """
    start = _TABLE_PLACE.search(written, max(len(written) - _TAIL_BYTES, 0))
    table = _TABLE_STREAM.match(written, int(start[1])) if start is not None else None
    if start is None or table is None:
        return written
    head, rest, tail = written[: table.end()], written[table.end() : start.start()], written[start.start() :]
    kind = b"" if b"/Type" in rest.partition(b"stream")[0] else b"/Type/XRef"
    end = b"" if rest.rstrip().endswith(b"endobj") else b"endobj\r\n"
    return head + kind + rest + end + tail
