"""CSV and TSV: one Markdown table."""

from __future__ import annotations

import csv
import io
from pathlib import Path, PurePath

from knowledge.backends.parsers.encoding import decode_text
from knowledge.backends.parsers.errors import corrupted, parse_error
from knowledge.backends.parsers.limits import ParseLimits
from knowledge.backends.parsers.render import MarkdownBuilder, render_table
from knowledge.types import BlockKind, ParsedDocument

_DELIMITERS = ",\t;|"
_SAMPLE_CHARACTERS = 1 << 16


class CsvParser:
    """Reads a delimited file; the first row is taken as the header."""

    formats: tuple[str, ...] = ("csv",)

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, path: Path, *, filename: str) -> ParsedDocument:
        """Parse the file. :raises ParseError: ``empty_file``, ``unknown_encoding`` or ``too_many_cells``."""
        decoded = decode_text(path.read_bytes())
        delimiter = "\t" if PurePath(filename).suffix.lower() == ".tsv" else guess_delimiter(decoded.text)
        rows = self._rows(decoded.text, delimiter)
        builder = MarkdownBuilder()
        width = max(len(row) for row in rows)
        builder.add(BlockKind.TABLE, render_table(rows), cell=f"A1:{column_name(width)}{len(rows)}")
        return ParsedDocument(
            format="csv",
            markdown=builder.markdown(),
            blocks=builder.blocks,
            metadata={"encoding": decoded.encoding, "delimiter": delimiter},
        )

    def _rows(self, text: str, delimiter: str) -> list[list[str]]:
        csv.field_size_limit(self._limits.max_output_bytes)
        rows: list[list[str]] = []
        cells = 0
        try:
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
                cells += len(row)
                if cells > self._limits.max_cells:
                    raise parse_error("too_many_cells", limit=f"{self._limits.max_cells:,}")
                rows.append(row)
        except csv.Error as error:
            raise corrupted("csv", str(error)) from error
        return rows


def guess_delimiter(text: str) -> str:
    """Choose the delimiter that cuts the first records into the most equal number of fields; a comma when in doubt."""
    sample = text[:_SAMPLE_CHARACTERS]
    return max(_DELIMITERS, key=lambda mark: (_regularity(sample, mark), -_DELIMITERS.index(mark)))


def _regularity(sample: str, delimiter: str) -> float:
    rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row][:50]
    widths = [len(row) for row in rows]
    common = max(set(widths), key=lambda width: (widths.count(width), width), default=1)
    return widths.count(common) / len(widths) if common > 1 else 0.0


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
