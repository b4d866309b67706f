"""CSV and TSV: one Markdown table."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path, PurePath

from knowledge.parsers.encoding import decode_text
from knowledge.parsers.errors import corrupted
from knowledge.parsers.limits import CellCount, ParseLimits
from knowledge.parsers.render import MarkdownBuilder, render_table
from knowledge.types.documents import BlockKind, ParsedDocument

_DELIMITERS = ",\t;|"
_SAMPLE_CHARACTERS = 1 << 16
_MAX_TITLE_LINES = 10
_MAX_TITLE_CELLS = 2


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Read a delimited file; the first row is taken as the header, but for a title above an empty line.

    :raises ParseError: ``empty_file``, ``unknown_encoding`` or ``too_many_cells``.
    """
    decoded = decode_text(path.read_bytes())
    delimiter = "\t" if PurePath(filename).suffix.lower() == ".tsv" else guess_delimiter(decoded.text)
    rows = _rows(decoded.text, delimiter, limits)
    builder = MarkdownBuilder()
    head = _head_row(rows)
    for number, row in enumerate(rows[:head], 1):
        filled = [column for column, text in enumerate(row, 1) if text.strip()]
        if filled:
            text = " ".join(row[column - 1].strip() for column in filled)
            builder.add(BlockKind.PARAGRAPH, text, cell=f"{column_name(filled[0])}{number}")
    numbers = [number for number, row in enumerate(rows[head:], head + 1) if any(text.strip() for text in row)]
    width = max(len(row) for row in rows)
    cell = f"A{numbers[0]}:{column_name(width)}{numbers[-1]}" if numbers else None
    builder.add(BlockKind.TABLE, render_table(rows[head:]).text, cell=cell, rows=row_ranges(numbers))
    return ParsedDocument(
        format="csv",
        markdown=builder.markdown(),
        blocks=builder.blocks,
        metadata={"encoding": decoded.encoding, "delimiter": delimiter},
    )


def _rows(text: str, delimiter: str, limits: ParseLimits) -> list[list[str]]:
    csv.field_size_limit(limits.max_output_bytes)
    rows: list[list[str]] = []
    cells = CellCount(limits)
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            cells.take(len(row))
            rows.append(row)
    except csv.Error as error:
        raise corrupted("csv", str(error)) from error
    return rows


def _head_row(rows: Sequence[Sequence[str]]) -> int:
    """Return the index of the head: 0, or past the lines of a title that an empty line parts from a wider table."""
    counts = [sum(1 for text in row if text.strip()) for row in rows]
    empty = next((index for index, count in enumerate(counts[:_MAX_TITLE_LINES]) if not count), None)
    if empty is None or max(counts[:empty], default=0) > _MAX_TITLE_CELLS:
        return 0
    head = next((index for index, count in enumerate(counts) if index > empty and count), None)
    return head if head is not None and counts[head] > _MAX_TITLE_CELLS else 0


def guess_delimiter(text: str) -> str:
    """Choose the delimiter that cuts the first records into the most equal number of fields; a comma when in doubt."""
    sample = text[:_SAMPLE_CHARACTERS]
    return max(_DELIMITERS, key=lambda mark: (_regularity(sample, mark), -_DELIMITERS.index(mark)))


def _regularity(sample: str, delimiter: str) -> float:
    rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row][:50]
    widths = [len(row) for row in rows]
    common = max(set(widths), key=lambda width: (widths.count(width), width), default=1)
    return widths.count(common) / len(widths) if common > 1 else 0.0


def row_ranges(numbers: Sequence[int]) -> str | None:
    """Write ascending row numbers as ranges; None where they simply follow each other.

    >>> row_ranges([3, 5, 6, 7, 11]), row_ranges([3, 4, 5])
    ('3,5-7,11', None)
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    if len(runs) < 2:
        return None
    return ",".join(f"{first}-{last}" if first < last else f"{first}" for first, last in runs)


def column_name(number: int) -> str:
    """Name a spreadsheet column counted from 1.

    >>> column_name(1), column_name(28)
    ('A', 'AB')
    """
    name = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
