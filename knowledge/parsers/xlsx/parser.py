"""Excel workbooks: every visible sheet a section, its regions tables or text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from knowledge.parsers.csv_table import column_name, row_ranges
from knowledge.parsers.errors import counted, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ooxml.package import embedded_notices
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.render import MarkdownBuilder, render_table, single_line
from knowledge.parsers.xlsx.drawings import Shape
from knowledge.parsers.xlsx.layout import Region, Row, regions
from knowledge.parsers.xlsx.reader import Sheet, WorkbookReader
from knowledge.text.folding import normalise
from knowledge.text.numbering import heading_number, is_caption
from knowledge.text.structure import is_contents_title
from knowledge.types.documents import BlockKind, ParsedDocument
from knowledge.types.notices import Notice

_SHEET_LEVEL = 2
_MAX_HEADING = 60
_NUMBER_ALONE = re.compile(r"[0-9０-９]{1,2}(?:[.．-][0-9０-９]{1,2})*[.．]?")
_HEADING = re.compile(r"(?P<n>[0-9]{1,2}(?:[.-][0-9]{1,2})+)(?:\.?\s*|\.?\s+[0-9]{1,3})[^\W\d_]")
_TOP_HEADING = re.compile(r"[0-9]{1,2}\.\s*[^\W\d_]")
_EXPLAINS = re.compile(r"・・|…|：|:")


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Read cell values as shown; hidden sheets, rows and columns stay out, formulas count by their stored result.

    :raises ParseError: ``corrupted``, ``too_many_cells``, or ``no_content`` of blank sheets.
    """
    pictures = PictureIntake(limits)
    reader = WorkbookReader(path, pictures, max_cells=limits.max_cells)
    builder = _written(reader.sheets())
    notices = (*_notices(reader), *embedded_notices(path), *pictures.notices())
    return builder.document("xlsx", notices=notices)


def read_workbook(path: Path, limits: ParseLimits) -> tuple[ParsedDocument, dict[str, Sheet]]:
    """Read a workbook's text as ``parse`` does, and its sheets by name, whose cells the text is of."""
    reader = WorkbookReader(path, PictureIntake(limits), max_cells=limits.max_cells)
    sheets = {sheet.name: sheet for sheet in reader.sheets()}
    return document_of("xlsx", sheets.values(), ()), sheets


def document_of(format_name: str, sheets: Iterable[Sheet], notices: tuple[Notice, ...]) -> ParsedDocument:
    """Make the document of sheets that another reader has read. :raises ParseError: ``no_content`` of blank sheets."""
    return _written(sheets).document(format_name, notices=notices)


def _written(sheets: Iterable[Sheet]) -> MarkdownBuilder:
    builder = MarkdownBuilder()
    shows_something = False
    for sheet in sheets:
        _add_sheet(builder, sheet)
        shows_something |= bool(sheet.cells or sheet.shapes)
    if not shows_something:
        raise parse_error("no_content")
    return builder


def _add_sheet(builder: MarkdownBuilder, sheet: Sheet) -> None:
    builder.add(BlockKind.HEADING, sheet.name, level=_SHEET_LEVEL, sheet=sheet.name)
    shapes = deque(sheet.shapes)
    found = list(regions(sheet.cells, sheet.merged))
    headings = _Headings(sheet.name, found)
    for region in found:
        while shapes and shapes[0].row < region.rows[0].number:
            _add_shape(builder, sheet.name, shapes.popleft())
        if region.table:
            table = render_table(region.grid())
            rows = row_ranges(region.row_numbers)
            builder.add(BlockKind.TABLE, table.text, sheet=sheet.name, cell=region.cell, rows=rows, merged=table.merged)
        else:
            _add_text(builder, sheet.name, region, headings)
    for shape in shapes:
        _add_shape(builder, sheet.name, shape)


def _add_shape(builder: MarkdownBuilder, sheet: str, shape: Shape) -> None:
    kind = BlockKind.FIGURE if shape.figure else BlockKind.PARAGRAPH
    text = f"![{shape.text}]({shape.figure})" if shape.figure else shape.text
    cell = f"{column_name(shape.column)}{shape.row}"
    builder.add(kind, text, sheet=sheet, cell=cell, pictures=shape.pictures)


def _add_text(builder: MarkdownBuilder, sheet: str, region: Region, headings: _Headings) -> None:
    for level, part in _by_heading(region, headings):
        text = "\n".join(part.lines())
        kind = BlockKind.CAPTION if is_caption(text) else BlockKind.PARAGRAPH
        if level:
            kind = BlockKind.HEADING
        builder.add(kind, text, level=level, sheet=sheet, cell=part.cell)


def _by_heading(region: Region, headings: _Headings) -> Iterator[tuple[int | None, Region]]:
    for level, rows in groupby(region.rows, key=headings.level):
        stretch = tuple(rows)
        for part in [(row,) for row in stretch] if level else [stretch]:
            yield level, Region(rows=part, table=False)


class _Headings:
    """Tells the numbered headings of one sheet from its text.

    Design documents on graph paper number their headings 2.4. or 2.4.1.; a number of one part (2.) is a heading where
    it is first after an empty row, no list goes on below it, and the sheet's own name has no number, which would
    make it a part of what that heading names.
    """

    def __init__(self, sheet: str, found: Sequence[Region]) -> None:
        self._sheet = single_line(sheet)
        self._lists_contents = is_contents_title(sheet)
        self._is_numbered_sheet = heading_number(self._sheet) is not None
        self._top = {
            region.rows[0].number
            for region in found
            if not region.table and self._is_top(region.rows[0]) and not any(map(self._is_numbered, region.rows[1:2]))
        }

    def level(self, row: Row) -> int | None:
        if self._lists_contents or not _may_be_heading(row):
            return None
        if row.number in self._top:
            return _SHEET_LEVEL + 1
        text = _row_text(row)
        match = _HEADING.match(text)
        if not match or not self._is_title(text):
            return None
        depth = len(re.split(r"[.-]", match["n"])) - (0 if self._top else 1)
        return min(_SHEET_LEVEL + depth, 6)

    def _is_title(self, text: str) -> bool:
        return len(text) <= _MAX_HEADING and not text.endswith(("。", "、")) and text != self._sheet

    def _is_top(self, row: Row) -> bool:
        if self._is_numbered_sheet or not _may_be_heading(row) or not self._is_numbered(row):
            return False
        text = _row_text(row)
        return not _EXPLAINS.search(text) and self._is_title(text)

    def _is_numbered(self, row: Row) -> bool:
        return _TOP_HEADING.match(_row_text(row)) is not None


def _row_text(row: Row) -> str:
    return normalise(single_line(" ".join(row.cells[column] for column in sorted(row.cells))))


def _may_be_heading(row: Row) -> bool:
    """Return whether a row is one cell, or a number in a cell of its own and a title."""
    first = row.cells[min(row.cells)]
    return len(row.cells) == 1 or (len(row.cells) == 2 and _NUMBER_ALONE.fullmatch(first.strip()) is not None)


def _notices(reader: WorkbookReader) -> tuple[Notice, ...]:
    return (
        *counted(reader.hidden_sheets, "hidden_sheets"),
        *counted(reader.hidden_cells, "hidden_cells"),
        *counted(reader.unresolved, "formulas_without_results"),
        *counted(reader.comments, "cell_comments_left_out", code="comments_left_out"),
    )
