"""Replacing in text files: Markdown, plain text, CSV. What is not replaced stays as it was, byte for byte."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import PurePath

from knowledge.parsers.anonymising.slots import Replacer, Slot
from knowledge.parsers.csv_table import guess_delimiter
from knowledge.parsers.encoding import decode_text
from knowledge.parsers.errors import parse_error
from knowledge.parsers.limits import CellCount, ParseLimits

_CELL_END = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s|:-]+")


def rewritten(data: bytes, rewrite: Callable[[str], str], *, declared: str | None = None) -> bytes:
    """Replace in a text file, in its encoding and with its line ends.

    :raises ParseError: it can't be read as text.
    """
    encoding = decode_text(data, declared=declared).encoding
    text = data.decode(encoding)
    after = rewrite(text)
    if after == text:
        return data
    try:
        return after.encode(encoding)
    except UnicodeEncodeError as error:
        raise parse_error("unknown_encoding") from error


def replace_in_text(text: str, replacer: Replacer) -> str:
    """Replace in Markdown or plain text: in lines, and in tables with bars or tabs by their labels."""
    done = []
    for mark, lines in groupby(text.splitlines(keepends=True), key=_mark_of):
        said = list(lines)
        done.append(_table(said, mark, replacer) if (mark and len(said) > 1) or mark == "|" else _lines(said, replacer))
    return "".join(done)


def _mark_of(line: str) -> str:
    if _CELL_END.search(line):
        return "|"
    return "\t" if "\t" in line.strip() else ""


def _lines(lines: list[str], replacer: Replacer) -> str:
    slot = Slot("".join(lines))
    replacer.line([slot])
    return slot.text


def _table(lines: list[str], mark: str, replacer: Replacer) -> str:
    split = _CELL_END.split if mark == "|" else lambda line: line.split("\t")
    rows = [[[Slot(cell)] for cell in split(line)] for line in lines]
    replacer.grid([row for row, line in zip(rows, lines, strict=True) if not _RULE.fullmatch(line)])
    return "".join(mark.join(cell[0].text for cell in row) for row in rows)


def replace_in_csv(text: str, replacer: Replacer, *, filename: str, limits: ParseLimits) -> str:
    """Replace in a delimited file; rows without anything to replace stay as they were written.

    :raises ParseError: ``too_many_cells``.
    """
    mark = "\t" if PurePath(filename).suffix.lower() == ".tsv" else guess_delimiter(text.removeprefix("\ufeff"))
    records = list(_records(text, mark, limits))
    rows = [[[Slot(cell)] for cell in cells] for _lines_of_it, cells in records]
    replacer.grid(rows, is_headed=max(map(len, rows), default=0) > 2)
    done = []
    for (lines, cells), row in zip(records, rows, strict=True):
        after = [cell[0].text for cell in row]
        done.append(lines if after == cells else _record(after, mark, lines))
    return "".join(done)


def _records(text: str, mark: str, limits: ParseLimits) -> Iterator[tuple[str, list[str]]]:
    """Yield each record as it is written, and its cells."""
    lines = list(io.StringIO(text, newline=""))
    csv.field_size_limit(limits.max_output_bytes)
    reader = csv.reader(lines, delimiter=mark)
    at, cells = 0, CellCount(limits)
    for row in reader:
        cells.take(len(row))
        yield "".join(lines[at : reader.line_num]), row
        at = reader.line_num


def _record(cells: list[str], mark: str, before: str) -> str:
    end = before[len(before.rstrip("\r\n")) :]
    written = io.StringIO()
    csv.writer(written, delimiter=mark, lineterminator=end).writerow(cells)
    return written.getvalue()
