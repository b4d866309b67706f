"""Tables of Word documents: cells by place, and their texts with the numbers that Word computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from knowledge.parsers.docx.numbering import Numbering
from knowledge.parsers.docx.styles import Styles
from knowledge.parsers.docx.text import Paragraph, qn, read_paragraph
from knowledge.parsers.docx.trace import Trace
from knowledge.parsers.ooxml.package import Element
from knowledge.parsers.render import FROM_ABOVE, TableText, render_table, rows_under_one_head

_MAX_SPAN = 200

GridRow: TypeAlias = dict[int, tuple[Element, int]]
"""The cells of a row by the column where each starts, with the last column that it reaches."""

_WholeRow: TypeAlias = dict[int, tuple[Element | None, int]]


def body_elements(container: Element, *, with_files: bool = False) -> Iterator[Element]:
    """Yield paragraphs and tables in order, looking through content controls and accepted insertions.

    ``with_files`` yields the places of inserted files (``w:altChunk``) as well.
    """
    wanted = (qn("w:p"), qn("w:tbl"), qn("w:altChunk")) if with_files else (qn("w:p"), qn("w:tbl"))
    for element in container:
        if element.tag in wanted:
            yield element
        elif element.tag in (qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:customXml"), qn("w:smartTag")):
            yield from body_elements(element, with_files=with_files)


def table_grid(table: Element) -> list[GridRow]:
    """Lay cells out by row; where a merged cell continues from above there is none."""
    return [{column: cell for column, cell in row.items() if cell[0] is not None} for row in _whole_rows(table)]


def _whole_rows(table: Element) -> list[_WholeRow]:
    """Lay cells out by row, None where a merged cell continues from above."""
    rows: list[_WholeRow] = []
    for row in table.iterchildren(qn("w:tr")):
        if row.find(f"{qn('w:trPr')}/{qn('w:del')}") is not None:
            continue
        column = _span(row.find(f"{qn('w:trPr')}/{qn('w:gridBefore')}"))
        cells: _WholeRow = {}
        for cell in _row_cells(row):
            merge = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
            width = max(_span(cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}")), 1)
            continues = merge is not None and merge.get(qn("w:val"), "continue") == "continue"
            cells[column] = None if continues else cell, column + width - 1
            column += width
        rows.append(cells)
    return rows


def _span(element: Element | None) -> int:
    value = str(element.get(qn("w:val"), "0")) if element is not None else "0"
    return min(int(value), _MAX_SPAN) if value.isdecimal() else 0


def _row_cells(row: Element) -> Iterator[Element]:
    for element in row:
        if element.tag == qn("w:tc"):
            yield element
        elif element.tag in (qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:customXml")):
            yield from _row_cells(element)


def cell_paragraphs(cell: Element) -> Iterator[Paragraph]:
    """Yield the paragraphs of a cell, those of tables in it left out."""
    for element in body_elements(cell):
        if element.tag == qn("w:p"):
            yield read_paragraph(element)


class CellReader:
    """Reads cells in document order, each once: their numbered paragraphs count along with the body's."""

    def __init__(self, styles: Styles, numbering: Numbering, trace: Trace) -> None:
        self._styles = styles
        self._numbering = numbering
        self._trace = trace

    def written(self, table: Element) -> TableText:
        texts = [
            {column: (FROM_ABOVE if cell is None else self.text(cell), last) for column, (cell, last) in row.items()}
            for row in _whole_rows(table)
        ]
        return render_table(rows_under_one_head(texts))

    def text(self, cell: Element) -> str:
        """Return a cell's lines, each with its number; the rows of a table inside are lines as well."""
        lines: list[str] = []
        for element in body_elements(cell):
            if element.tag == qn("w:tbl"):
                rows = table_grid(element)
                lines.extend(" ".join(self.text(inner) for inner, _ in row.values()).strip() for row in rows)
            else:
                lines.extend(self._paragraph(element))
        return "\n".join(lines)

    def _paragraph(self, element: Element) -> Iterator[str]:
        paragraph = read_paragraph(element)
        mark = self._numbering.mark(self._styles.of_paragraph(element).numbering)
        number = "" if mark is None else mark.text or ("・" if paragraph.text.strip() else "")
        text = self._trace.marked(element, paragraph.text)
        yield f"{number} {text}" if number else text
        for box in paragraph.boxes:
            yield self.text(box)
