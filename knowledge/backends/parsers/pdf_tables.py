"""Tables drawn with rules, by pdfplumber, on the pages that have rules at all."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pdfplumber
from pdfminer.pdfexceptions import PDFException
from pdfplumber.utils.exceptions import PdfminerException

from knowledge.backends.parsers.pdf_cells import table_texts
from knowledge.backends.parsers.pdf_page import Line, Page
from knowledge.backends.parsers.render import render_table

# It tells of every font that it has to guess at, on a stream that is kept for the reason of a crash.
logging.getLogger("pdfminer").setLevel(logging.ERROR)

_MAX_PATHS = 3000
_MIN_FILLED = 0.4
_BROKEN = (PDFException, PdfminerException, ValueError, KeyError, TypeError, IndexError, AssertionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfTable:
    """A table as Markdown and its box in points from the page's top left corner."""

    markdown: str
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, line: Line) -> bool:
        """Tell whether the middle of a line lies in the table."""
        x, y = (line.left + line.right) / 2, (line.top + line.bottom) / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom


def find_tables(path: Path, pages: list[Page]) -> Mapping[int, tuple[PdfTable, ...]]:
    """Find ruled tables by page number; pages with no rules, or with drawings instead of tables, are not opened.

    A page that pdfplumber can't read has no tables: its text is there from PDFium all the same.
    """
    candidates = {page.number: page for page in pages if page.ruled and page.paths <= _MAX_PATHS and page.lines}
    if not candidates:
        return {}
    found: dict[int, tuple[PdfTable, ...]] = {}
    try:
        with pdfplumber.open(path, pages=sorted(candidates)) as document:
            for page in document.pages:
                found[page.page_number] = tuple(_page_tables(page, candidates[page.page_number]))
                page.close()
    except _BROKEN:
        return found
    return found


def _page_tables(page: pdfplumber.page.Page, read: Page) -> list[PdfTable]:
    # A cropped page has other coordinates in pdfplumber than in PDFium.
    if abs(page.width - read.width) > 1 or abs(page.height - read.height) > 1:
        return []
    tables = []
    for table in page.find_tables():
        rows = table_texts(table.extract(), [row.cells for row in table.rows])
        if _is_table(rows):
            left, top, right, bottom = table.bbox
            markdown = render_table(rows)
            tables.append(PdfTable(markdown=markdown, left=left, top=top, right=right, bottom=bottom))
    return tables


def _is_table(rows: list[list[str]]) -> bool:
    """Judge whether cells hold text in at least two rows and columns: frames and diagrams don't."""
    width = max((len(row) for row in rows), default=0)
    columns = sum(1 for column in range(width) if any(row[column].strip() for row in rows))
    lines = sum(1 for row in rows if any(cell.strip() for cell in row))
    filled = sum(1 for row in rows for cell in row if cell.strip())
    return columns >= 2 and lines >= 2 and filled >= _MIN_FILLED * columns * lines
