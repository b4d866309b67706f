"""Files without anything to read: they fail with that reason instead of being ready and never found."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from openpyxl import Workbook

from knowledge.parsers.errors import ParseError
from tests.knowledge.parsers.conftest import Parse
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf


def saved(source: object) -> bytes:
    data = BytesIO()
    source.save(data)  # type: ignore[attr-defined]
    return data.getvalue()


def hidden_alone() -> Workbook:
    book = openpyxl.Workbook()
    sheet = book.create_sheet("作業用")
    sheet["A1"], sheet.sheet_state = "下書き", "hidden"
    return book


def blank_slides() -> object:
    slides = pptx.Presentation()
    slides.slides.add_slide(slides.slide_layouts[6])
    return slides


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("白紙.pdf", lambda: write_pdf([PdfPage(), PdfPage()])),
        ("空.docx", lambda: saved(docx.Document())),
        ("空.xlsx", lambda: saved(openpyxl.Workbook())),
        ("非表示.xlsx", lambda: saved(hidden_alone())),
        ("空.pptx", lambda: saved(pptx.Presentation())),
        ("白紙.pptx", lambda: saved(blank_slides())),
        ("空.csv", lambda: b",,,\n,,,\n"),
        ("空.html", lambda: b"<html><body><script>1</script></body></html>"),
    ],
)
def test_a_file_of_blank_pages_fails_with_that_reason(
    tmp_path: Path, parse: Parse, name: str, content: Callable[[], bytes]
) -> None:
    path = tmp_path / name
    path.write_bytes(content())

    with pytest.raises(ParseError) as refused:
        parse(path)

    assert refused.value.code == "no_content"


def test_blank_pages_beside_text_and_pages_that_need_ocr_do_not_fail(tmp_path: Path, parse: Parse) -> None:
    written = [PdfPage(texts=[(60, 700, 10, "予約は窓口で受け付ける。")]), PdfPage()]
    for name, pages in (("一部.pdf", written), ("画像.pdf", [PdfPage(image=True), PdfPage()])):
        (tmp_path / name).write_bytes(write_pdf(pages))

    assert parse(tmp_path / "一部.pdf").markdown == "予約は窓口で受け付ける。\n"
    assert parse(tmp_path / "画像.pdf").pages_needing_ocr == (1,)
