"""Excel workbooks: every visible sheet a section, its regions tables or text."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from knowledge.backends.parsers.csv_table import column_name
from knowledge.backends.parsers.limits import ParseLimits
from knowledge.backends.parsers.render import MarkdownBuilder, render_table, single_line
from knowledge.backends.parsers.xlsx_drawings import Shape
from knowledge.backends.parsers.xlsx_layout import Region, Row, regions
from knowledge.backends.parsers.xlsx_reader import Sheet, WorkbookReader
from knowledge.numbering import is_caption
from knowledge.structure import is_contents_title
from knowledge.types import BlockKind, Notice, ParsedDocument

_SHEET_LEVEL = 2
_MAX_HEADING = 60
# Design documents on graph paper number their headings 2.4. or 2.4.1.; one part alone may be a list item.
_NUMBER_ALONE = re.compile(r"[0-9０-９]{1,2}(?:[.．-][0-9０-９]{1,2})+[.．]?")
_HEADING = re.compile(r"(?P<n>[0-9]{1,2}(?:[.-][0-9]{1,2})+)\.?\s*[^\W\d_]")


class XlsxParser:
    """Reads cell values as shown; hidden sheets, rows and columns stay out, formulas count by their stored result."""

    formats: tuple[str, ...] = ("xlsx",)

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, path: Path, *, filename: str) -> ParsedDocument:
        """Parse the file. :raises ParseError: ``corrupted`` or ``too_many_cells``."""
        builder = MarkdownBuilder()
        reader = WorkbookReader(path, max_cells=self._limits.max_cells)
        for sheet in reader.sheets():
            _add_sheet(builder, sheet)
        return ParsedDocument(
            format="xlsx",
            markdown=builder.markdown(),
            blocks=builder.blocks,
            notices=_notices(reader.hidden_sheets),
        )


def _add_sheet(builder: MarkdownBuilder, sheet: Sheet) -> None:
    builder.add(BlockKind.HEADING, sheet.name, level=_SHEET_LEVEL, sheet=sheet.name)
    shapes = deque(sheet.shapes)
    for region in regions(sheet.cells, sheet.merged):
        while shapes and shapes[0].row < region.rows[0].number:
            _add_shape(builder, sheet.name, shapes.popleft())
        if region.table:
            builder.add(BlockKind.TABLE, render_table(region.grid()), sheet=sheet.name, cell=region.cell)
        else:
            _add_text(builder, sheet.name, region)
    for shape in shapes:
        _add_shape(builder, sheet.name, shape)


def _add_shape(builder: MarkdownBuilder, sheet: str, shape: Shape) -> None:
    kind = BlockKind.FIGURE if shape.picture else BlockKind.PARAGRAPH
    text = f"![{shape.text}](image)" if shape.picture else shape.text
    builder.add(kind, text, sheet=sheet, cell=f"{column_name(shape.column)}{shape.row}")


def _add_text(builder: MarkdownBuilder, sheet: str, region: Region) -> None:
    for level, part in _by_heading(region, sheet):
        text = "\n".join(part.lines())
        kind = BlockKind.CAPTION if is_caption(text) else BlockKind.PARAGRAPH
        if level:
            kind = BlockKind.HEADING
        builder.add(kind, text, level=level, sheet=sheet, cell=part.cell)


def _by_heading(region: Region, sheet: str) -> Iterator[tuple[int | None, Region]]:
    """Part numbered heading lines from the text around them."""
    for level, rows in groupby(region.rows, key=lambda row: _heading_level(row, sheet)):
        stretch = tuple(rows)
        for part in [(row,) for row in stretch] if level else [stretch]:
            yield level, Region(rows=part, table=False)


def _heading_level(row: Row, sheet: str) -> int | None:
    if is_contents_title(sheet) or not _may_be_heading(row):
        return None
    text = single_line(" ".join(row.cells[column] for column in sorted(row.cells)))
    match = _HEADING.match(unicodedata.normalize("NFKC", text))
    if not match or len(text) > _MAX_HEADING or text.endswith(("。", "、")) or text == single_line(sheet):
        return None
    return min(_SHEET_LEVEL + len(re.split(r"[.-]", match["n"])) - 1, 6)


def _may_be_heading(row: Row) -> bool:
    """Tell whether a row is one cell, or a number in a cell of its own and a title."""
    first = row.cells[min(row.cells)]
    return len(row.cells) == 1 or (len(row.cells) == 2 and _NUMBER_ALONE.fullmatch(first.strip()) is not None)


def _notices(hidden_sheets: int) -> tuple[Notice, ...]:
    if not hidden_sheets:
        return ()
    return (
        Notice(
            code="hidden_sheets",
            ja=f"非表示のシート {hidden_sheets} 枚は取り込んでいません。",
            en=f"{hidden_sheets} hidden sheet(s) were left out.",
        ),
    )
