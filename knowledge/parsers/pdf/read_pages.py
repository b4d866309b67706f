"""Pages whose text OCR read: their lines as a text layer would have them."""

from __future__ import annotations

import dataclasses
import hashlib
import unicodedata
from collections.abc import Iterator, Sequence
from statistics import median

import pypdfium2

from knowledge.parsers.ocr.order import straight_box
from knowledge.parsers.ocr.reading import turned_back
from knowledge.parsers.pdf.page import Line, Page, Part
from knowledge.types.documents import PageQuality
from knowledge.types.ocr import PageReading, ReadLine

# Fine enough that two pages of different text look different.
_DPI = 100
_MOST_PIXELS = 4_000_000
# How much higher the box of a line is than its font, and how much sizes of the same font differ.
_BOX_HEIGHT, _SAME_SIZE, _SAME_COLUMN = 1.35, 0.2, 0.4
# In heights: how far the middles of two parts of a line are apart, and what is a wide gap between them.
_SAME_ROW, _WIDE_GAP = 0.5, 0.6

Box = tuple[float, float, float, float]


def picture_of(page: pypdfium2.PdfPage) -> str:
    """A hash of what a page looks like."""
    width, height = page.get_size()
    scale = min(_DPI / 72, (_MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    digest = hashlib.sha256(f"{bitmap.width} {bitmap.height}".encode())
    digest.update(bytes(bitmap.buffer))
    return digest.hexdigest()


def quality_of(number: int, picture: str | None, reading: PageReading) -> PageQuality:
    """What is known of a page once OCR has read it: one without any text is a picture or blank."""
    confidence = reading.confidence
    return PageQuality(
        number=number,
        characters=sum(len("".join(line.text.split())) for line in reading.lines),
        needs_ocr=confidence is not None and not reading.is_usable,
        picture=picture,
        confidence=None if confidence is None else round(confidence, 4),
        uncertain=reading.is_uncertain,
    )


def page_of(page: Page, reading: PageReading) -> Page:
    """Give a page the lines of its reading, straight and the right way up."""
    turned = reading.turn in (90, 270)
    width, height = (reading.height, reading.width) if turned else (reading.width, reading.height)
    boxes = [
        straight_box(turned_back(line.quad, reading.turn, (reading.width, reading.height)), reading.skew)
        for line in reading.lines
    ]
    if _is_vertical(reading.lines):  # laid on its side, as pages of vertical text layers are
        boxes = [(top, width - right, bottom, width - left) for left, top, right, bottom in boxes]
        width, height = height, width
    pairs = list(zip(reading.lines, boxes, strict=True))
    lines = tuple(_lines(pairs, page.number))
    return dataclasses.replace(page, width=width, height=height, lines=lines, ruled=False, written=False)


def _is_vertical(lines: Sequence[ReadLine]) -> bool:
    vertical = sum(len(line.text) for line in lines if line.is_vertical)
    return 2 * vertical > sum(len(line.text) for line in lines)


def _lines(pairs: Sequence[tuple[ReadLine, Box]], number: int) -> Iterator[Line]:
    heights = [box[3] - box[1] for _line, box in pairs]
    usual = median(heights) if heights else 0.0
    # A column without any wide character is much narrower than its font.
    tolerance = _SAME_COLUMN if _is_vertical([line for line, _box in pairs]) else _SAME_SIZE
    row: list[tuple[ReadLine, Box]] = []
    for line, box in pairs:
        if row and not _goes_on(row[-1][1], box):
            yield _line(row, number, usual, tolerance)
            row = []
        row.append((line, box))
    if row:
        yield _line(row, number, usual, tolerance)


def _goes_on(before: Box, box: Box) -> bool:
    height = min(before[3] - before[1], box[3] - box[1])
    level = abs((before[1] + before[3]) - (box[1] + box[3])) / 2
    return level < _SAME_ROW * height and box[0] >= before[2] - height


def _line(row: Sequence[tuple[ReadLine, Box]], number: int, usual: float, tolerance: float) -> Line:
    height = median(box[3] - box[1] for _line, box in row)
    size = usual if abs(height - usual) <= tolerance * usual else height
    parts: list[Part] = []
    for line, box in row:
        text = _cleaned(line.text)
        if parts and box[0] - parts[-1].right <= _WIDE_GAP * height:
            parts[-1] = Part(text=parts[-1].text + text, left=parts[-1].left, right=box[2])
        else:
            parts.append(Part(text=text, left=box[0], right=box[2]))
    characters = sum(len(line.text) for line, _box in row)
    return Line(
        text=" ".join(part.text for part in parts),
        size=round(size / _BOX_HEIGHT, 1),
        left=row[0][1][0],
        right=row[-1][1][2],
        top=min(box[1] for _line, box in row),
        bottom=max(box[3] for _line, box in row),
        page=number,
        parts=tuple(parts) if len(parts) > 1 else (),
        ocr=sum(line.confidence * len(line.text) for line, _box in row) / max(characters, 1),
    )


def _cleaned(text: str) -> str:
    """Leave out what no text layer has: controls, and blanks that a reader sees between wide characters."""
    kept = []
    for at, char in enumerate(text.strip()):
        if unicodedata.category(char) in ("Cc", "Cs"):
            continue
        if char == " " and at and _is_wide(text[at - 1]) and _is_wide(text[at + 1 : at + 2]):
            continue
        kept.append(char)
    return "".join(kept)


def _is_wide(char: str) -> bool:
    return bool(char) and unicodedata.east_asian_width(char) in "WF"
