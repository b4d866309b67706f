"""Pictures leave documents with their captions, and never more of them than the limits allow."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import docx
import openpyxl
import pytest
from docx.shared import Cm
from openpyxl.drawing.image import Image as SheetImage
from pptx import Presentation

from knowledge.parsers import ParseError, ParseLimits, parse_isolated
from knowledge.parsers.pictures import data_uri_bytes, media_type_of
from knowledge.parsers.serialize import dump_document, load_document, load_result
from knowledge.types.documents import Block, BlockKind, ParsedDocument, ParsedFigure
from tests.knowledge.parsers.conftest import Parse, assert_valid, texts
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf
from tests.knowledge.parsers.pictures import data_uri, png


def shown(document: ParsedDocument) -> list[tuple[bytes, str, str]]:
    """List data, caption and alternative text, after checking that each figure's span is a block's."""
    spans = {(block.start, block.end) for block in document.blocks}
    assert {(figure.start, figure.end) for figure in document.figures} <= spans
    return [(figure.data, figure.caption, figure.alt_text) for figure in document.figures]


def word_file(folder: Path, *parts: str | bytes) -> Path:
    source = docx.Document()
    for part in parts:
        if isinstance(part, str):
            source.add_paragraph(part)
        else:
            source.add_picture(io.BytesIO(part), width=Cm(4))
    source.save(str(folder / "a.docx"))
    return folder / "a.docx"


def test_a_word_picture_has_the_caption_below_it_and_its_alternative_text(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_paragraph("構成を示す。")
    picture = source.add_picture(io.BytesIO(png()), width=Cm(4))
    picture._inline.docPr.set("descr", "三つのサーバ")
    source.add_paragraph("図1 システム構成")
    source.save(str(tmp_path / "a.docx"))

    document = parse(tmp_path / "a.docx")

    assert shown(document) == [(png(), "図1 システム構成", "三つのサーバ")]
    assert texts(document, BlockKind.FIGURE) == ["![三つのサーバ](image)"]


def test_captions_above_their_figures_are_tied_downwards(tmp_path: Path, parse: Parse) -> None:
    path = word_file(tmp_path, "図1 構成", png(10), "図2 配置", png(20), "図3 画面", png(30), "以上のとおりとする。")

    assert [(data, caption) for data, caption, _ in shown(parse(path))] == [
        (png(10), "図1 構成"),
        (png(20), "図2 配置"),
        (png(30), "図3 画面"),
    ]


def test_a_table_caption_is_no_caption_of_a_figure(tmp_path: Path, parse: Parse) -> None:
    assert shown(parse(word_file(tmp_path, png(), "表1 項目の一覧")))[0][1] == ""


def test_pictures_in_word_tables_are_found(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    cells = source.add_table(rows=1, cols=2).rows[0].cells
    cells[0].text = "画面"
    cells[1].paragraphs[0].add_run().add_picture(io.BytesIO(png()), width=Cm(2))
    source.save(str(tmp_path / "a.docx"))

    assert [data for data, _, _ in shown(parse(tmp_path / "a.docx"))] == [png()]


def test_slide_pictures_know_their_slide(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    for shade in (10, 20):
        slide = source.slides.add_slide(source.slide_layouts[5])
        slide.shapes.title.text = "構成"
        slide.shapes.add_picture(io.BytesIO(png(shade)), 0, 0)
    source.save(str(tmp_path / "a.pptx"))

    figures = parse(tmp_path / "a.pptx").figures

    assert [(figure.data, figure.page) for figure in figures] == [(png(10), 1), (png(20), 2)]


def test_sheet_pictures_know_their_sheet_and_cell(tmp_path: Path, parse: Parse) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "画面"
    sheet["A1"] = "図1 一覧画面"
    sheet.add_image(SheetImage(io.BytesIO(png())), "B3")
    book.save(tmp_path / "a.xlsx")

    (figure,) = parse(tmp_path / "a.xlsx").figures

    assert (figure.sheet, figure.cell, figure.caption) == ("画面", "B3", "図1 一覧画面")
    assert figure.media_type == "image/png"


def test_pdf_pictures_stand_where_the_page_shows_them(tmp_path: Path, parse: Parse) -> None:
    page = PdfPage(
        texts=[
            (60, 780, 11, "構成を次の図に示す。"),
            (60, 480, 11, "図1 システムの構成"),
            (60, 420, 11, "各サーバは二重化する。"),
        ],
        pictures=[(60, 520, 200, 200, 90)],
    )
    (tmp_path / "a.pdf").write_bytes(write_pdf([PdfPage(texts=[(60, 780, 11, "表紙の文です。")]), page]))

    document = parse(tmp_path / "a.pdf")

    assert_valid(document)
    assert texts(document)[1:] == [
        "構成を次の図に示す。",
        "![](image)",
        "図1 システムの構成",
        "各サーバは二重化する。",
    ]
    (figure,) = document.figures
    assert (figure.caption, figure.page, figure.media_type) == ("図1 システムの構成", 2, "image/png")


def test_pdf_icons_backgrounds_and_logos_on_every_page_are_no_figures(tmp_path: Path, parse: Parse) -> None:
    pages = [
        PdfPage(
            texts=[(60, 700 - number, 11, f"第{number}回の議事を記す。")],
            pictures=[(500, 790, 40, 40, 50), (60, 600, 8, 8, 60 + number), (0, 0, 595, 842, 70 + number)],
        )
        for number in range(1, 5)
    ]
    (tmp_path / "a.pdf").write_bytes(write_pdf(pages))

    assert parse(tmp_path / "a.pdf").figures == ()


def test_html_pictures_come_from_data_uris_alone(tmp_path: Path, parse: Parse) -> None:
    html = (
        f'<p>前文</p><figure><img src="{data_uri(png())}" alt="構成"><figcaption>図1 構成</figcaption></figure>'
        '<img src="http://127.0.0.1:9/a.png" alt="外の図"><img src="file:///etc/hostname">'
    )
    (tmp_path / "a.html").write_text(html, encoding="utf-8")

    document = parse(tmp_path / "a.html")

    assert shown(document) == [(png(), "図1 構成", "構成")]
    assert "base64" not in document.markdown


def test_markdown_keeps_its_text_and_gives_up_embedded_pictures(tmp_path: Path, parse: Parse) -> None:
    text = "# 構成\n\n![全体]({})\n\n図1 全体構成\n\n![外](画面/a.png)\n"
    (tmp_path / "a.md").write_text(text.format(data_uri(png())), encoding="utf-8")

    document = parse(tmp_path / "a.md")

    assert_valid(document)
    assert document.markdown == text.format("image")
    assert shown(document) == [(png(), "図1 全体構成", "全体")]


def test_the_same_bytes_cost_once_and_what_is_beyond_the_limits_is_counted(tmp_path: Path, parse: Parse) -> None:
    path = word_file(tmp_path, png(1), png(1), png(2), png(3))

    document = parse(path, max_figures=3)
    assert [data for data, _, _ in shown(document)] == [png(1), png(1), png(2)]
    assert [notice.code for notice in document.notices] == ["figures_left_out"]

    document = parse(path, max_figures_bytes=len(png(1)) + 5)
    assert [data for data, _, _ in shown(document)] == [png(1), png(1)]
    assert document.notices[0].en.startswith("2 picture(s)")


def test_bullets_and_unknown_kinds_are_no_figures(tmp_path: Path, parse: Parse) -> None:
    document = parse(word_file(tmp_path, png(size=(16, 16)), "本文"))

    assert document.figures == ()
    assert document.notices == ()


def test_pictures_come_back_from_the_child(tmp_path: Path) -> None:
    path = word_file(tmp_path, png(1), "図1 構成", png(2), png(1))

    document = parse_isolated(path, filename=path.name, limits=ParseLimits())

    assert [data for data, _, _ in shown(document)] == [png(1), png(2), png(1)]
    assert document.figures[0].caption == "図1 構成"


def one_figure(data: bytes) -> ParsedDocument:
    block = Block(kind=BlockKind.FIGURE, start=0, end=10)
    figure = ParsedFigure(data=data, media_type="image/png", start=0, end=10)
    return ParsedDocument(format="docx", markdown="![](image)\n", blocks=(block,), figures=(figure,))


def test_the_parent_reads_no_links_and_nothing_beyond_the_limits(tmp_path: Path) -> None:
    text = dump_document(one_figure(png()), tmp_path)
    assert load_document(load_result(text), tmp_path, ParseLimits()) == one_figure(png())

    with pytest.raises(ValueError, match="limits"):
        load_document(load_result(text), tmp_path, ParseLimits(max_figure_bytes=10))

    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    (tmp_path / "picture-0.bin").unlink()
    (tmp_path / "picture-0.bin").symlink_to(secret)
    with pytest.raises(OSError, match="symbolic"):
        load_document(load_result(text), tmp_path, ParseLimits())

    (tmp_path / "picture-0.bin").unlink()
    os.mkfifo(tmp_path / "picture-0.bin")
    with pytest.raises(ValueError, match="plain file"):
        load_document(load_result(text), tmp_path, ParseLimits())


def test_a_name_in_the_childs_answer_is_never_used(tmp_path: Path) -> None:
    answer = json.loads(dump_document(one_figure(png()), tmp_path))
    answer["document"]["figures"][0]["picture"] = "../../etc/passwd"

    with pytest.raises((ValueError, ParseError)):
        load_document(load_result(json.dumps(answer)), tmp_path, ParseLimits())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (png(), "image/png"),
        (png(size=(400, 8)), None),
        (b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
        (b"\x01\0\0\0" + bytes(36) + b" EMF" + bytes(60), "image/emf"),
        (png()[:40], None),
        (b"<script>alert(1)</script>", None),
        (b"", None),
    ],
)
def test_a_pictures_type_is_told_by_its_bytes(data: bytes, expected: str | None) -> None:
    assert media_type_of(data) == expected


def test_only_image_data_uris_are_decoded() -> None:
    assert data_uri_bytes(data_uri(b"abc")) == b"abc"
    assert data_uri_bytes("data:image/svg+xml,%3Csvg/%3E") == b"<svg/>"
    assert data_uri_bytes("data:image/png;base64,###") is None
    assert data_uri_bytes("data:text/html;base64,YQ==") is None
    assert data_uri_bytes("https://example.org/a.png") is None
