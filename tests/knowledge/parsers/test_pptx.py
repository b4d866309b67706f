from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

from lxml import etree
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.presentation import Presentation as PresentationType
from pptx.util import Cm, Inches, Pt

from knowledge.parsers.ooxml.package import drawing_text
from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import Parse, assert_valid, texts

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def save(presentation: PresentationType, folder: Path) -> Path:
    path = folder / "説明.pptx"
    presentation.save(str(path))
    return path


def png() -> io.BytesIO:
    """Return a picture of one grey pixel."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return io.BytesIO(
        b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(b"\0\x80")) + part(b"IEND", b"")
    )


def test_slides_are_sections_with_page_numbers_tables_and_notes(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    slide = source.slides.add_slide(source.slide_layouts[1])
    slide.shapes.title.text = "システム概要"
    body = slide.placeholders[1].text_frame
    body.text = "予約を受け付ける"
    nested = body.add_paragraph()
    nested.text, nested.level = "窓口", 1
    table = slide.shapes.add_table(2, 2, Cm(1), Cm(15), Cm(8), Cm(2)).table
    for (row, column), text in {(0, 0): "項目", (0, 1): "値", (1, 0): "応答", (1, 1): "2秒"}.items():
        table.cell(row, column).text = text
    slide.notes_slide.notes_text_frame.text = "ここで実演する。"

    document = parse(save(source, tmp_path))

    assert_valid(document)
    assert document.title == "システム概要"
    assert document.pages_count == 1
    assert {block.page for block in document.blocks} == {1}
    assert texts(document) == [
        "## システム概要",
        "- 予約を受け付ける\n  - 窓口",
        "| 項目 | 値 |\n| --- | --- |\n| 応答 | 2秒 |",
        "ノート: ここで実演する。",
    ]


def test_a_slide_with_a_picture_alone_needs_ocr_and_an_empty_one_does_not(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    source.slides.add_slide(source.slide_layouts[6]).shapes.add_picture(png(), Cm(1), Cm(1))
    source.slides.add_slide(source.slide_layouts[6])

    document = parse(save(source, tmp_path))

    assert document.pages_needing_ocr == (1,)
    assert [notice.code for notice in document.notices] == ["needs_ocr"]
    assert texts(document, BlockKind.HEADING) == ["## スライド 1", "## スライド 2"]


def test_hidden_slides_stay_out_and_keep_the_numbers_of_the_others(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    for title in ("一枚目", "予備", "三枚目"):
        source.slides.add_slide(source.slide_layouts[5]).shapes.title.text = title
    source.slides[1]._element.set("show", "0")

    document = parse(save(source, tmp_path))

    assert [(block.page, text) for block, text in zip(document.blocks, texts(document), strict=True)] == [
        (1, "## 一枚目"),
        (3, "## 三枚目"),
    ]
    assert [notice.code for notice in document.notices] == ["hidden_slides"]


def test_shapes_are_read_from_the_top_and_from_the_left(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    slide = source.slides.add_slide(source.slide_layouts[6])
    for text, left, top in [("三", 1, 8), ("二", 9, 2.1), ("一", 1, 2.2)]:
        slide.shapes.add_textbox(Cm(left), Cm(top), Cm(5), Cm(1)).text_frame.text = text

    assert texts(parse(save(source, tmp_path)))[1:] == ["一", "二", "三"]


def test_the_words_of_charts_and_diagrams_are_text(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    slide = source.slides.add_slide(source.slide_layouts[5])
    slide.shapes.title.text = "件数"
    data = CategoryChartData()
    data.categories = ["4月", "5月"]
    data.add_series("予約", (10, 20))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, Cm(3), Cm(8), Cm(6), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "月ごとの予約"

    assert texts(parse(save(source, tmp_path)), BlockKind.FIGURE) == ["![月ごとの予約 / 予約: 4月 10, 5月 20](chart)"]


def test_the_words_of_a_smart_art_part_are_joined() -> None:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    points = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in ("受付", "審査", "", "通知"))

    assert drawing_text(f'<dataModel xmlns:a="{drawing}">{points}</dataModel>'.encode()) == "受付 / 審査 / 通知"
    assert drawing_text(b"<broken") == ""


def test_a_diagram_in_a_placeholder_is_read(test_data: Path, parse: Parse) -> None:
    (path,) = (test_data / "documents").glob("GIF研修*.pptx")

    document = parse(path)

    assert any("データを扱う前提としてデータを何に使うのか" in text for text in texts(document, BlockKind.FIGURE))


def test_the_largest_line_at_the_top_titles_a_slide_without_a_title(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    slide = source.slides.add_slide(source.slide_layouts[6])
    for top, text, size in [(0.3, "2. 現状の課題", 32), (2, "窓口の待ち時間が長い。", 18)]:
        frame = slide.shapes.add_textbox(Inches(0.5), Inches(top), Inches(8), Inches(0.6)).text_frame
        frame.text = text
        frame.paragraphs[0].runs[0].font.size = Pt(size)

    assert texts(parse(save(source, tmp_path))) == ["## 2. 現状の課題", "窓口の待ち時間が長い。"]


def test_shapes_of_a_group_are_read_together_in_their_rows(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    slide = source.slides.add_slide(source.slide_layouts[6])
    group = slide.shapes.add_group_shape()
    for left, text in [(4.0, "審査"), (1.0, "受付")]:
        group.shapes.add_shape(1, Inches(left), Inches(3), Inches(1.5), Inches(0.6)).text_frame.text = text
    for left, top, text in [(5.0, 1.49, "右"), (0.5, 1.51, "左")]:
        slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.6)).text_frame.text = text

    assert texts(parse(save(source, tmp_path)))[1:] == ["左", "右", "受付", "審査"]


def test_automatic_numbers_are_written_out(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    slide = source.slides.add_slide(source.slide_layouts[1])
    frame = slide.placeholders[1].text_frame
    steps = [("受付", 0, "arabicPeriod"), ("記入", 1, "circleNumDbPlain"), ("確認", 1, "circleNumDbPlain")]
    for index, (text, level, kind) in enumerate([*steps, ("交付", 0, "arabicPeriod")]):
        paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
        properties = paragraph._p.get_or_add_pPr()
        etree.SubElement(properties, f"{{{DRAWING}}}buAutoNum", type=kind)

    assert texts(parse(save(source, tmp_path)), BlockKind.LIST) == ["1. 受付\n  ① 記入\n  ② 確認\n2. 交付"]


def test_a_slide_show_is_read_like_a_presentation(tmp_path: Path, parse: Parse) -> None:
    source = Presentation()
    source.slides.add_slide(source.slide_layouts[5]).shapes.title.text = "概要"
    path = save(source, tmp_path)
    show = tmp_path / "説明.ppsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(show, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"presentation.main+xml", b"slideshow.main+xml"))

    assert texts(parse(show)) == ["## 概要"]
