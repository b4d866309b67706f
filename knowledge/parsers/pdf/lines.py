"""The text lines of a PDF page with their size and place, in reading order as PDFium gives it.

Only of pages in two columns whose lines a PDF draws from left to right across both is the order another one.
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import pypdfium2
import pypdfium2.raw as pdfium_c

from knowledge.parsers.pdf.page import (
    Box,
    Frame,
    Line,
    Page,
    Part,
    PictureExtractor,
    count_remarks,
    has_written_text,
    with_whole_kanji,
)

_MIN_LINES = 4
_MIN_FILLED_SHARE = 0.6
_MIN_CHARACTERS = 8.0
# In font sizes: how near to its column's right edge a line of running text ends.
_NEAR_EDGE = 2.0


def in_columns(lines: Sequence[Line]) -> list[Line]:
    """Part lines at the gutter and put each stretch's left column before its right one.

    Lines across the gutter, such as titles, stay where they are. Rows of tables are no columns: their left parts are
    short or end anywhere, while those of running text reach the gutter.
    """
    gutter = _gutter(lines)
    if gutter is None:
        return list(lines)
    ordered: list[Line] = []
    for across, stretch in groupby(lines, key=lambda line: _crosses(line, gutter)):
        if across:
            ordered.extend(stretch)
            continue
        parts = [part for line in stretch for part in _parted(line, gutter)]
        ordered.extend(dataclasses.replace(part, column=1) for part in parts if part.right <= gutter)
        ordered.extend(dataclasses.replace(part, column=2) for part in parts if part.right > gutter)
    return ordered


def _gutter(lines: Sequence[Line]) -> float | None:
    """Find the x that most gaps of the page contain, if what it parts is running text on both sides."""
    gaps = [(before.right, after.left) for line in lines for before, after in pairwise(line.parts)]
    best = max(
        ((left + right) / 2 for left, right in gaps),
        key=lambda x: sum(1 for left, right in gaps if left < x < right),
        default=None,
    )
    if best is None:
        return None
    pairs = [parts for line in lines if len(parts := list(_parted(line, best))) > 1]
    if len(pairs) < _MIN_LINES:
        return None
    columns = [parts[0] for parts in pairs], [parts[1] for parts in pairs[:-1]]
    return best if all(map(_is_running_text, columns)) else None


def _is_running_text(column: Sequence[Line]) -> bool:
    edge = max(line.right for line in column)
    filled = sum(1 for line in column if edge - line.right <= _NEAR_EDGE * line.size)
    characters = sum(len(line.text) for line in column) / len(column)
    return filled >= _MIN_FILLED_SHARE * len(column) and characters >= _MIN_CHARACTERS


def _crosses(line: Line, gutter: float) -> bool:
    return line.left < gutter < line.right and len(list(_parted(line, gutter))) == 1


def _parted(line: Line, gutter: float) -> Iterator[Line]:
    """Yield the line in two where one of its gaps holds the gutter, else whole."""
    for index, (before, after) in enumerate(pairwise(line.parts), 1):
        if before.right < gutter < after.left:
            left, right = line.parts[:index], line.parts[index:]
            yield _joined(line, left)
            yield _joined(line, right)
            return
    yield line


def _joined(line: Line, parts: Sequence[Part]) -> Line:
    text = " ".join(part.text for part in parts)
    return dataclasses.replace(line, text=text, left=parts[0].left, right=parts[-1].right, parts=tuple(parts))


_LINE_ENDS = frozenset({10, 13})
# PDFium marks a hyphen that only breaks a word at a line's end with U+FFFE (older versions U+0002).
_SOFT_HYPHENS = frozenset({0x02, 0xFFFE})

_MAX_FORM_DEPTH = 3
# In points: what is thinner than the one and longer than the other is a rule of a table.
_MAX_THICKNESS = 3.0
_MIN_RULE = 20.0
_MIN_BOX_HEIGHT = 8.0
_BACKGROUND_SHARE = 0.9
_MEASURED_CHARACTERS = 8
_BOLD_WEIGHT = 600
_BOLD_NAME = re.compile(rb"Bold|Heavy|Black|-(?:W[6-9]|[DEUH]B)\b")
_MAX_FONT_NAME = 128
# In font sizes: no blank between words is as wide, the gutter between two columns is.
_WIDE_GAP = 1.2
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_page(page: pypdfium2.PdfPage, number: int, extractor: PictureExtractor) -> Page:
    width, height = page.get_size()
    frame = Frame.of_page(page)
    objects = list(page.get_objects(max_depth=_MAX_FORM_DEPTH))
    kinds = Counter(found.type for found in objects)
    text_page = page.get_textpage()
    try:
        in_parts = kinds[pdfium_c.FPDF_PAGEOBJ_FORM] > 1
        lines = _LineCollector(text_page, number, frame, in_parts=in_parts).lines()
    finally:
        text_page.close()
    vertical = _is_vertical(lines)
    read = Page(
        number=number,
        width=width,
        height=height,
        lines=tuple(lines if vertical else in_columns(lines)),
        images=kinds[pdfium_c.FPDF_PAGEOBJ_IMAGE],
        paths=kinds[pdfium_c.FPDF_PAGEOBJ_PATH],
        ruled=_is_ruled(objects, width * height),
        pictures=extractor.pictures(objects, frame),
        written=has_written_text(page),
        remarks=count_remarks(page),
    )
    return _turned(read) if vertical else read


def _is_vertical(lines: list[Line]) -> bool:
    """Return whether most of the text runs from top to bottom (縦書き)."""
    upright = sum(len(line.text) for line in lines if line.bottom - line.top > 2 * (line.right - line.left))
    return upright * 2 > sum(len(line.text) for line in lines)


def _turned(page: Page) -> Page:
    """Lay a page of vertical lines on its side, so that they read like horizontal ones from right to left."""
    turned = (
        dataclasses.replace(
            line, left=line.top, right=line.bottom, top=page.width - line.right, bottom=page.width - line.left
        )
        for line in page.lines
    )
    ordered = tuple(sorted(turned, key=lambda line: (line.top, line.left)))
    pictures = tuple(
        dataclasses.replace(
            found, left=found.top, right=found.bottom, top=page.width - found.right, bottom=page.width - found.left
        )
        for found in page.pictures
    )
    return dataclasses.replace(
        page, width=page.height, height=page.width, lines=ordered, ruled=False, pictures=pictures
    )


def _is_ruled(objects: list[pypdfium2.PdfObject], page_area: float) -> bool:
    """Return whether a page has crossing rules or boxes; underlines and a background alone are no table."""
    across = down = 0
    for found in objects:
        if found.type != pdfium_c.FPDF_PAGEOBJ_PATH:
            continue
        left, bottom, right, top = found.get_bounds()
        width, height = right - left, top - bottom
        if width > _MIN_RULE and height > _MIN_BOX_HEIGHT and width * height < _BACKGROUND_SHARE * page_area:
            return True
        across += width > _MIN_RULE and height < _MAX_THICKNESS
        down += height > _MIN_BOX_HEIGHT and width < _MAX_THICKNESS
    return across >= 2 and down >= 2


def _paired(text: str) -> str:
    """Join the halves of characters beyond U+FFFF, a half alone becoming U+FFFD, and write radicals as kanji."""
    if _SURROGATE.search(text) is not None:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return with_whole_kanji(text)


class _LineCollector:
    """Walks the characters of a text page. Each question to PDFium costs microseconds, so that size, weight and place
    are asked of a line's first characters and its last only, into reused C doubles."""

    def __init__(self, text_page: pypdfium2.PdfTextPage, number: int, frame: Frame, *, in_parts: bool) -> None:
        self._page = text_page.raw
        self._count = text_page.count_chars()
        self._number = number
        self._frame = frame
        self._in_parts = in_parts
        self._left, self._right, self._bottom, self._top = (ctypes.c_double() for _ in range(4))
        self._matrix = pdfium_c.FS_MATRIX()
        self._name = ctypes.create_string_buffer(_MAX_FONT_NAME)
        self._lines: list[Line] = []
        self._reset()

    def _reset(self) -> None:
        self._chars: list[str] = []
        self._sizes: Counter[float] = Counter()
        self._bold = 0
        self._box = [float("inf"), float("inf"), float("-inf"), float("-inf")]
        self._hyphen = False
        self._scale = 0.0
        self._last_visible = 0
        self._after_blank = False
        self._gaps: list[tuple[int, float, float]] = []

    def lines(self) -> list[Line]:
        for index in range(self._count):
            code = pdfium_c.FPDFText_GetUnicode(self._page, index)
            if code in _LINE_ENDS:
                self._finish()
            elif code in _SOFT_HYPHENS:
                self._hyphen = True
            else:
                self._add(index, code)
        self._finish()
        return self._lines

    def _add(self, index: int, code: int) -> None:
        char = chr(code)
        if self._after_blank and not char.isspace() and self._is_elsewhere(index):
            self._finish()
        self._chars.append(char)
        self._hyphen = False
        if char.isspace():
            self._after_blank = bool(self._sizes)
            return
        if self._after_blank:
            self._note_gap(index)
        self._last_visible = index
        if self._sizes.total() < _MEASURED_CHARACTERS:
            self._scale = self._scale or self._text_scale(index)
            self._sizes[round(pdfium_c.FPDFText_GetFontSize(self._page, index), 1)] += 1
            self._bold += self._is_bold(index)
            self._widen(index)

    def _is_bold(self, index: int) -> bool:
        """Tell by the weight, or by the font's name: subsets of fonts often come without a weight."""
        if pdfium_c.FPDFText_GetFontWeight(self._page, index) >= _BOLD_WEIGHT:
            return True
        if self._sizes.total() > 1:  # a line's first character speaks for its font
            return self._bold > 0
        pdfium_c.FPDFText_GetFontInfo(self._page, index, self._name, len(self._name), None)
        return _BOLD_NAME.search(self._name.value) is not None

    def _is_elsewhere(self, index: int) -> bool:
        """Return whether a character is on another line: PDFium joins what is written alike in parts of its own."""
        if not self._in_parts:
            return False
        _, top, _, bottom = self._box_of(self._last_visible)
        _, other_top, _, other_bottom = self._box_of(index)
        return other_top > bottom or other_bottom < top

    def _note_gap(self, index: int) -> None:
        """Remember where a wide gap before this character lies, and where it is in the line."""
        self._after_blank = False
        right = self._box_of(self._last_visible)[2]
        left = self._box_of(index)[0]
        if left - right > _WIDE_GAP * max(self._sizes) * self._scale:
            self._gaps.append((len(self._chars) - 1, right, left))

    def _box_of(self, index: int) -> Box:
        pdfium_c.FPDFText_GetCharBox(self._page, index, self._left, self._right, self._bottom, self._top)
        return self._frame.shown(self._left.value, self._bottom.value, self._right.value, self._top.value)

    def _parts(self, left: float, right: float) -> tuple[Part, ...]:
        if not self._gaps:
            return ()
        starts = [0, *(at for at, _, _ in self._gaps)]
        ends = [*starts[1:], len(self._chars)]
        lefts = [left, *(edge for _, _, edge in self._gaps)]
        rights = [*(edge for _, edge, _ in self._gaps), right]
        texts = (_paired("".join(self._chars[start:end])).strip() for start, end in zip(starts, ends, strict=True))
        return tuple(
            Part(text=text, left=begin, right=end) for text, begin, end in zip(texts, lefts, rights, strict=True)
        )

    def _widen(self, index: int) -> None:
        box = self._box
        left, top, right, bottom = self._box_of(index)
        self._box = [min(box[0], left), min(box[1], top), max(box[2], right), max(box[3], bottom)]

    def _text_scale(self, index: int) -> float:
        """Return how much the text matrix enlarges the font: some writers set size 1 and scale."""
        if not pdfium_c.FPDFText_GetMatrix(self._page, index, self._matrix):
            return 1.0
        return math.hypot(self._matrix.c, self._matrix.d) or 1.0

    def _finish(self) -> None:
        text = _paired("".join(self._chars)).strip()
        if text and self._sizes:
            self._widen(self._last_visible)
            left, top, right, bottom = self._box
            size, _ = max(self._sizes.items(), key=lambda item: (item[1], item[0]))
            self._lines.append(
                Line(
                    text=text,
                    size=round(size * self._scale, 1),
                    left=left,
                    right=right,
                    top=top,
                    bottom=bottom,
                    page=self._number,
                    bold=self._bold * 2 > self._sizes.total(),
                    ends_in_hyphen=self._hyphen,
                    parts=self._parts(left, right),
                )
            )
        self._reset()
