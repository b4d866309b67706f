"""Where the words of a span stand on a page that OCR read: in its lines, by where each character is. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from knowledge.originals.marking import LEAST_SHARE, MarkedPage
from knowledge.originals.places import PagePart
from knowledge.text.folding import fold_compact
from knowledge.text.locating import located
from knowledge.types.ocr import PageReading, Quad, ReadLine

Box = tuple[float, float, float, float]


def mark_reading(part: PagePart, reading: PageReading) -> list[MarkedPage]:
    """Box the pieces of a span on their page; nothing where less than `LEAST_SHARE` of them is found."""
    characters = list(_characters(reading.lines))
    text = "".join(char for char, _line, _place in characters)
    wanted = [folded for piece in part.pieces if (folded := fold_compact(piece))]
    expected = round(part.at * len(text))
    spans: list[tuple[int, int]] = []
    for piece in wanted:
        for first, length, _begun in located(text, piece, expected):
            spans.append((first, first + length))
            expected = first + length
    found, total = sum(end - start for start, end in spans), sum(map(len, wanted))
    if not total or found < LEAST_SHARE * total:
        return []
    boxes = []
    for start, end in spans:
        for line, places in groupby(characters[start:end], key=lambda one: one[1]):
            at = [place for _char, _line, place in places]
            boxes.append(_box(reading.lines[line], min(at), max(at)))
    return [MarkedPage(page=part.page, width=reading.width, height=reading.height, boxes=tuple(boxes))]


def _characters(lines: Sequence[ReadLine]) -> Iterator[tuple[str, int, int]]:
    """Each character as stored texts are compared, with its line and its place there."""
    for number, line in enumerate(lines):
        for place, char in enumerate(line.text):
            for one in fold_compact(char):
                yield one, number, place


def _box(line: ReadLine, first: int, last: int) -> Box:
    """The upright box (left, top, width, height) of some characters of a line."""
    half = 0.5 / len(line.text)
    begin, end = max(line.centres[first] - half, 0.0), min(line.centres[last] + half, 1.0)
    corners = _part(line.quad, begin, end, down=line.is_vertical)
    xs, ys = [x for x, _y in corners], [y for _x, y in corners]
    left, top = min(xs), min(ys)
    return round(left, 2), round(top, 2), round(max(xs) - left, 2), round(max(ys) - top, 2)


def _part(quad: Quad, begin: float, end: float, *, down: bool) -> Quad:
    """A part of a line along the way that its text runs."""
    a, b, c, d = quad
    if down:
        return _between(a, d, begin), _between(b, c, begin), _between(b, c, end), _between(a, d, end)
    return _between(a, b, begin), _between(a, b, end), _between(d, c, end), _between(d, c, begin)


def _between(one: tuple[float, float], other: tuple[float, float], share: float) -> tuple[float, float]:
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share
