"""Numbers at the end of a column: digits side by side (縦中横), kanji numerals as high as others or squeezed."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterator
from statistics import fmean

import numpy as np
from PIL import Image

from knowledge.parsers.ocr.columns import Cell, Ink, across, as_row, ink_of, runs_of
from knowledge.parsers.ocr.lines import ImageLines, between
from knowledge.parsers.ocr.recognition import LineText
from knowledge.text import numerals
from knowledge.types.ocr import Quad

KANJI = f"{numerals.DIGITS}十百"
DIGITS = "0123456789"
OPENING, CLOSING = "（〔［【", "）〕］】"
_NUMBER = re.compile(rf"[{re.escape(OPENING)}\[]?(?:[{KANJI}]+|[0-9０-９]+)[{re.escape(CLOSING)}\]]?$")
# A zero after a kanji numeral; after 一, which is like other strokes, only before another one.
_ZERO = re.compile("(?<=[二三四五六七八九〇])[0０OＯo○◯]+|(?<=一)[0０OＯo○◯]+(?=[一二三四五六七八九〇])")
# In widths of a column: how long a number is at most, digits side by side, and a numeral at least and at most.
_LONGEST, _SIDE_BY_SIDE, _LEAST, _MOST = 4.2, 1.7, 0.36, 1.2
# How much paper parts a number from what stands before it.
_APART = 0.12
# How thin a single stroke is.
_STROKE = 0.2
# How flat, how wide and how bent a bracket is, and how much paper is before one.
_FLAT, _WIDE, _BENT, _BEFORE = 0.5, 0.4, 0.03, 0.25
# How sure a number must be read, and how far apart and how large its numerals are laid in pixels.
_SURE, _SURER, _PITCH, _SIDE = 0.6, 0.9, 1.12, 40


def with_zeros(read: LineText) -> LineText:
    """Write the zero among kanji numerals 〇, whichever of the rings and digits like it was read."""
    text = _ZERO.sub(lambda found: "〇" * len(found[0]), read.text)
    return dataclasses.replace(read, text=text) if text != read.text else read


def read_number(lines: ImageLines, quad: Quad, read: Callable[[Quad], LineText]) -> LineText:
    """Read a column that ends with a number; as ``read`` does, where no number is read for sure.

    The number may stand below other text, such as the name of who wrote what has the title.
    """
    picture = lines.picture(quad)
    ink = ink_of(np.asarray(picture))
    begin, end = across(ink)
    runs = runs_of(np.asarray(ink.any(1), np.bool_))
    if not runs or end == begin:
        return read(quad)
    width = end - begin
    found = LineText(text="", confidence=0.0)
    for top, numbers in _places(lines, picture, ink, runs, width):
        best = max(numbers, key=lambda one: one.confidence, default=found)
        if best.confidence >= _SURE:
            place = (top - 1) / picture.height
            return _below(read, quad, place, best) if top > runs[0][0] else best
    return read(quad)


Places = Iterator[tuple[int, list[LineText]]]


def _places(lines: ImageLines, picture: Image.Image, ink: Ink, runs: list[Cell], width: int) -> Places:
    """Rows at which a number begins, and its readings."""
    near = [at for at, run in enumerate(runs) if runs[-1][1] - run[0] <= _LONGEST * width]
    apart = [at for at in near[:-1] if at == 0 or runs[at][0] - runs[at - 1][1] >= _BEFORE * width]
    opening = [at for at in apart if _is_bracket(ink, runs[at], width, 1)]
    if opening and _is_bracket(ink, runs[-1], width, -1):
        first = runs[opening[-1]]
        yield first[0], _in_brackets(lines, picture, first, runs[-1], width)
        return
    # What is as short as a number is all of it.
    gaps = [(runs[at][0] - runs[at - 1][1], at) for at in near if at]
    begins = [0] if near[0] == 0 else [at for gap, at in sorted(gaps)[-1:] if gap >= _APART * width]
    for at in begins:
        top = max(0, runs[at][0] - round(_APART * width))
        yield runs[at][0], [_moved(one, top, picture) for one in _bare(lines, picture, top, runs[at:], width)]


def _in_brackets(lines: ImageLines, picture: Image.Image, opening: Cell, closing: Cell, width: int) -> list[LineText]:
    """Read what stands between two brackets as digits side by side, and as each number of numerals.

    A bracket is round where it can't be told which it is.
    """
    top, low = opening[1], closing[0]
    found = []
    if top < low < top + _SIDE_BY_SIDE * width:
        digits = lines.read_apart(picture.crop((0, top, picture.width, low)), DIGITS)
        found += [("（", digits, "）")] if len(digits.text) > 1 else []
    for places in _evenly(top, low, width):
        read = lines.read_apart(_row(picture, places, (opening, closing), width), OPENING + KANJI + CLOSING)
        has_ends = [bool(read.text) and read.text[at] in of for at, of in ((0, OPENING), (-1, CLOSING))]
        inner = _without_ends(read, *has_ends)
        if len(inner.text) == len(places) and not set(inner.text) & set(OPENING + CLOSING):
            kind = CLOSING.index(read.text[-1]) if has_ends[1] else 0
            found.append((OPENING[kind], inner, CLOSING[kind]))
    middle, height = (top + low) / 2 / picture.height, picture.height
    return [
        LineText(
            text=before + one.text + after,
            confidence=one.confidence,
            centres=(opening[0] / height, *[middle] * len(one.text), closing[1] / height),
            chances=(one.confidence, *one.chances, one.confidence),
        )
        for before, one, after in found
    ]


def _without_ends(read: LineText, first: bool, last: bool) -> LineText:
    kept = slice(int(first), len(read.text) - int(last))
    chances = read.chances[kept]
    return LineText(text=read.text[kept], confidence=fmean(chances) if chances else 0.0, chances=chances)


def _bare(lines: ImageLines, picture: Image.Image, top: int, runs: list[Cell], width: int) -> list[LineText]:
    """Read a number without brackets: digits side by side, a column of numerals, and squeezed ones."""
    low = runs[-1][1]
    part = picture.crop((0, top, picture.width, picture.height))
    row = as_row(part)
    found = [lines.read_apart(part)] if low - runs[0][0] < _SIDE_BY_SIDE * width else []
    found += [] if row is None else [lines.read_apart(row.image)]
    found = [one for one in found if _NUMBER.fullmatch(one.text)]
    if not found or max(one.confidence for one in found) < _SURER:
        found += _numerals(lines, picture, _by_strokes(runs, width), width)
    return found


def _evenly(top: int, low: int, width: int) -> Iterator[list[Cell]]:
    """Places of numerals, as many as there may be, of one height."""
    for count in range(max(1, math.ceil((low - top) / (_MOST * width))), int((low - top) / (_LEAST * width)) + 1):
        yield [(top + (low - top) * at // count, top + (low - top) * (at + 1) // count) for at in range(count)]


def _by_strokes(runs: list[Cell], width: int) -> Iterator[list[Cell]]:
    """Places of numerals, of which the first and the last may be 一: it is in the middle of its place."""
    begin, end = runs[0], runs[-1]
    first, last = (end - begin < _STROKE * width for begin, end in (begin, end))
    top = (begin[0] + begin[1]) / 2 if first else begin[0]
    low = (end[0] + end[1]) / 2 if last else end[1]
    for count in range(1, int(_LONGEST / _LEAST)):
        places = count - 0.5 * (first + last)
        height = (low - top) / places if places else width
        if _LEAST * width <= height <= _MOST * width:
            start = top - height / 2 if first else top
            yield [(max(0, round(start + height * at)), round(start + height * (at + 1))) for at in range(count)]


def _numerals(lines: ImageLines, picture: Image.Image, places: Iterator[list[Cell]], width: int) -> Iterator[LineText]:
    """Read kanji numerals at each of the places."""
    for cells in places:
        read = lines.read_apart(_row(picture, cells, (), width), KANJI)
        if len(read.text) == len(cells):
            yield read


def _row(picture: Image.Image, numerals: list[Cell], brackets: tuple[Cell, ...], width: int) -> Image.Image:
    """Numerals, each laid as wide as high, between brackets that are turned as a row has them."""
    pitch, aside = round(_PITCH * _SIDE), _SIDE // 2 if brackets else 0
    row = Image.new("L", (pitch * len(numerals) + 2 * aside, pitch), 255)
    for at, (begin, end) in enumerate(numerals):
        piece = picture.crop((0, begin, picture.width, end)).resize((_SIDE, _SIDE), Image.Resampling.BICUBIC)
        row.paste(piece, (aside + at * pitch + (pitch - _SIDE) // 2, (pitch - _SIDE) // 2))
    for at, (begin, end) in enumerate(brackets):
        piece = picture.crop((0, begin, picture.width, end)).rotate(90, expand=True, fillcolor=255)
        scale = _SIDE / picture.width
        size = max(1, round(piece.width * scale)), _SIDE
        left = row.width - aside + 2 if at else aside - size[0] - 2
        row.paste(piece.resize(size, Image.Resampling.BICUBIC), (left, (pitch - _SIDE) // 2))
    return row


def _is_bracket(ink: Ink, run: Cell, width: int, way: int) -> bool:
    """Whether a flat mark is bent at both ends: downwards (``way`` 1) as an opening bracket in a column, or upwards."""
    down, beside = np.nonzero(ink[run[0] : run[1]])
    left, right = int(beside.min()), int(beside.max()) + 1
    if run[1] - run[0] > _FLAT * width or right - left < _WIDE * width:
        return False
    third = (right - left) / 3
    parts = [down[(beside >= left + third * at) & (beside <= left + third * (at + 1))] for at in range(3)]
    if not all(len(part) for part in parts):
        return False
    return min(way * float(part.mean() - parts[1].mean()) for part in (parts[0], parts[2])) > _BENT * width


def _moved(read: LineText, top: int, picture: Image.Image) -> LineText:
    """With centres along the picture, for what was read from a row of it down."""
    share = top / picture.height
    count = len(read.text)
    return dataclasses.replace(read, centres=tuple(share + (1 - share) * (at + 0.5) / count for at in range(count)))


def _below(read: Callable[[Quad], LineText], quad: Quad, place: float, number: LineText) -> LineText:
    """What a column has above a place (0 to 1), and the number below it."""
    a, b, c, d = quad
    above = read((a, b, between(b, c, place), between(a, d, place)))
    chances = (*above.chances, *number.chances)
    return LineText(
        text=above.text + number.text,
        confidence=fmean(chances),
        centres=(*(place * centre for centre in above.centres), *number.centres),
        chances=chances,
    )
