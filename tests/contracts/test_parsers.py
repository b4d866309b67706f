"""What every parser promises (``Parser``), asked of each of them with a small file of its format."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from PIL import Image

from knowledge.parsers import ParseError, ParseLimits, parse_isolated
from knowledge.parsers.office.parser import TARGETS
from knowledge.parsers.registry import _PARSERS, load_parser, parse_file
from knowledge.types.documents import ParsedDocument
from tests.knowledge.parsers.conftest import assert_valid
from tests.knowledge.parsers.outlook_writer import Message, write_msg
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf
from tests.knowledge.parsers.scans import encoded
from tests.knowledge.parsers.test_epub import write_epub
from tests.knowledge.parsers.workbook_writers import ods_row, write_ods, write_xls, write_xlsb

TEXT = "応答時間は3秒以内とする。"
LIMITS = ParseLimits()


def written_by(save: Callable[[io.BytesIO], object]) -> bytes:
    target = io.BytesIO()
    save(target)
    return target.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.add_heading("性能", level=1)
    document.add_paragraph(TEXT)
    return written_by(document.save)


def sheet() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["項目", "内容"])
    book.active.append(["性能", TEXT])
    return written_by(book.save)


def slides() -> bytes:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "性能"
    slide.placeholders[1].text = TEXT
    return written_by(show.save)


def notebook() -> bytes:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": ["# 性能\n", "\n", TEXT]}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def book(folder: Path) -> bytes:
    chapter = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>性能</h1><p>{TEXT}</p></body></html>'
    return write_epub(folder / "made.epub", chapter=chapter).read_bytes()


MADE: dict[str, Callable[[Path], bytes]] = {
    "md": lambda _folder: f"# 性能\n\n{TEXT}\n".encode(),
    "txt": lambda _folder: f"1. 性能\n\n{TEXT}\n".encode("cp932"),
    "csv": lambda _folder: f"項目,内容\n性能,{TEXT}\n".encode("utf-8-sig"),
    "html": lambda _folder: f"<html><body><h1>性能</h1><p>{TEXT}</p></body></html>".encode(),
    "docx": lambda _folder: word(),
    "xlsx": lambda _folder: sheet(),
    "pptx": lambda _folder: slides(),
    "xls": lambda _folder: write_xls([["項目", "内容"], ["性能", TEXT]]),
    "xlsb": lambda _folder: write_xlsb([["項目", "内容"], ["性能", TEXT]]),
    "ods": lambda _folder: write_ods(
        f'<table:table table:name="要件">{ods_row("項目", "内容")}{ods_row("性能", TEXT)}</table:table>'
    ),
    "pdf": lambda _folder: write_pdf([PdfPage(texts=[(72, 700, 12, TEXT)])]),
    "image": lambda _folder: encoded(Image.effect_noise((300, 200), 40), "PNG"),
    "epub": book,
    "ipynb": lambda _folder: notebook(),
    "eml": lambda _folder: (
        f"From: a@example.jp\nSubject: 1\nContent-Type: text/plain; charset=utf-8\n\n1. 性能\n\n{TEXT}\n".encode()
    ),
    "msg": lambda _folder: write_msg(Message(text=f"1. 性能\n\n{TEXT}")),
}


@pytest.fixture(params=MADE)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"設計書.{request.param}"
    path.write_bytes(MADE[request.param](tmp_path))
    return path


def parse(path: Path) -> ParsedDocument:
    return parse_file(path, filename=path.name, limits=LIMITS)


def test_every_format_is_asked() -> None:
    # Formats that LibreOffice converts are read by the parsers of docx and pptx: test_office_formats.py.
    assert set(MADE) == set(_PARSERS) - set(TARGETS)
    for name in MADE:
        assert callable(load_parser(name))


def test_the_text_comes_with_its_structure(file: Path) -> None:
    document = parse(file)
    assert_valid(document)
    assert document.format == file.suffix.removeprefix(".")
    if document.format == "image":  # its text is what OCR reads of it
        assert document.pages_needing_ocr == (1,)
        return
    assert TEXT in document.markdown
    assert any(TEXT in document.markdown[block.start : block.end] for block in document.blocks)
    assert document.pages_needing_ocr == ()


def test_a_file_says_the_same_each_time_and_in_a_process_of_its_own(file: Path) -> None:
    assert parse(file) == parse(file) == parse_isolated(file, filename=file.name, limits=LIMITS)


def test_a_file_that_ends_early_is_refused_with_a_reason_or_read_as_far_as_it_goes(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    found = read_or_refuse(file)
    if isinstance(found, ParseError):
        assert found.code
        assert found.text.ja != found.text.en
    else:
        assert_valid(found)


def read_or_refuse(path: Path) -> ParsedDocument | ParseError:
    try:
        return parse(path)
    except ParseError as error:
        return error


def test_an_empty_file_is_refused_by_name(file: Path) -> None:
    file.write_bytes(b"")
    with pytest.raises(ParseError) as refused:
        parse(file)
    assert refused.value.code == "empty_file"


def test_a_file_beyond_the_limit_is_not_opened(file: Path) -> None:
    with pytest.raises(ParseError) as refused:
        parse_file(file, filename=file.name, limits=ParseLimits(max_input_bytes=8))
    assert refused.value.code == "too_large"


def test_reading_leaves_the_file_as_it_was(file: Path) -> None:
    before = file.read_bytes()
    parse(file)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir() if path.name != "made.epub"] == [file.name]
