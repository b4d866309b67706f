"""The lines of an entry of a contents page: its title and its number read each as it is set, its notes line by line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import fmean

from knowledge.parsers.ocr.column_reading import read_column
from knowledge.parsers.ocr.engine import FoundLine
from knowledge.parsers.ocr.entries import Entry, Piece
from knowledge.parsers.ocr.leaders import Part
from knowledge.parsers.ocr.lines import ImageLines, size_of
from knowledge.parsers.ocr.numerals import read_number
from knowledge.parsers.ocr.recognition import LineText
from knowledge.types.ocr import Quad

# What stands for leaders, however long they are.
_LEADERS = "……"
_TALL = 1.5


def lines_of(lines: ImageLines, entry: Entry, number: int) -> list[FoundLine]:
    """Read an entry; its lines follow each other as they are here, and have its ``number``.

    A title with its leaders and what these go to is one line, as far as no note in two lines stands between.
    """
    parts = _without_false_notes(lines, entry)
    found = []
    for is_note, pieces in groupby(parts, key=lambda piece: piece.part is Part.NOTE):
        for of in [[piece] for piece in pieces] if is_note else [list(pieces)]:
            line = _line(lines, of, number)
            if line.text.strip(_LEADERS):
                found.append(line)
    return found


def _without_false_notes(lines: ImageLines, entry: Entry) -> Entry:
    """Two narrow lines that are read less surely than what they were cut from are strokes of one line."""
    found: Entry = []
    at = 0
    while at < len(entry):
        piece = entry[at]
        if piece.part is Part.NOTE:
            right, left = entry[at], entry[at + 1]
            whole = Piece(Part.TEXT, (left.quad[0], right.quad[1], right.quad[2], left.quad[3]))
            if (
                fmean(lines.read(one.quad, 90).confidence for one in (right, left))
                > lines.read(whole.quad, 90).confidence
            ):
                found += [right, left]
            else:
                found = _with(found, whole)
            at += 2
        else:
            found = _with(found, piece)
            at += 1
    return found


def _with(entry: Entry, piece: Piece) -> Entry:
    if entry and entry[-1].part is Part.TEXT is piece.part:
        return [*entry[:-1], Piece(Part.TEXT, _from_to(entry[-1].quad, piece.quad))]
    return [*entry, piece]


def _from_to(first: Quad, last: Quad) -> Quad:
    return first[0], first[1], last[2], last[3]


def _line(lines: ImageLines, pieces: Sequence[Piece], number: int) -> FoundLine:
    quad = _from_to(pieces[0].quad, pieces[-1].quad)
    top, height = quad[0][1], max(1.0, quad[3][1] - quad[0][1])
    text = ""
    centres: list[float] = []
    chances: list[float] = []
    for at, piece in enumerate(pieces):
        begin, end = (piece.quad[0][1] - top) / height, (piece.quad[3][1] - top) / height
        if piece.part is Part.LEADERS:
            text += _LEADERS
            centres += [begin + (end - begin) / 4, end - (end - begin) / 4]
            continue
        is_led = at > 0 and pieces[at - 1].part is Part.LEADERS
        read = _read(lines, piece.quad, is_last=is_led and at == len(pieces) - 1)
        text += read.text
        centres += [begin + (end - begin) * centre for centre in read.centres]
        chances += read.chances
    return FoundLine(
        text=text,
        confidence=fmean(chances) if chances else 0.0,
        quad=quad,
        centres=tuple(sorted(centres)),
        is_vertical=True,
        column=number,
    )


def _read(lines: ImageLines, quad: Quad, *, is_last: bool) -> LineText:
    if is_last:
        return read_number(lines, quad, lambda part: read_column(lines, part))
    read = read_column(lines, quad)
    width, height = size_of(quad)
    row = lines.read_row(quad) if height < _TALL * width else None
    return row if row is not None and row.confidence > read.confidence else read
