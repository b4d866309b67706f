"""What was written into a PDF afterwards: form fields that were filled in, and text typed over its pages.

Such text is kept beside the pages' own, where neither PDFium nor pdfplumber read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium_c

_WRITTEN = frozenset({pdfium_c.FPDF_ANNOT_WIDGET, pdfium_c.FPDF_ANNOT_FREETEXT})


def has_written_text(page: pypdfium2.PdfPage) -> bool:
    """Tell whether a page has form fields or typed text of its own kind."""
    return not _WRITTEN.isdisjoint(_kinds(page))


def count_remarks(page: pypdfium2.PdfPage) -> int:
    """Count a page's notes, which readers open beside the text."""
    return sum(1 for kind in _kinds(page) if kind == pdfium_c.FPDF_ANNOT_TEXT)


def _kinds(page: pypdfium2.PdfPage) -> Iterator[int]:
    for index in range(pdfium_c.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, index)
        yield pdfium_c.FPDFAnnot_GetSubtype(annotation)
        pdfium_c.FPDFPage_CloseAnnot(annotation)


def with_written_text(path: Path) -> BytesIO:
    """Return a copy of a PDF in which all of that is part of its pages, as in print.

    :raises pypdfium2.PdfiumError: when PDFium can't put it there.
    """
    copy = BytesIO()
    document = pypdfium2.PdfDocument(path)
    try:
        document.init_forms()
        for index in range(len(document)):
            page = document[index]
            page.flatten()
            page.close()
        document.save(copy, flags=pdfium_c.FPDF_REMOVE_SECURITY)
    finally:
        document.close()
    copy.seek(0)
    return copy
