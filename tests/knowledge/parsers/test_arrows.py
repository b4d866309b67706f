"""The lines of drawn figures are text: what they join, in which direction, and the labels beside them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
from docx.oxml import parse_xml
from lxml import etree
from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.util import Cm, Emu

from knowledge.chunkers import chunk_document
from knowledge.parsers.ooxml.arrows import arrow_text
from knowledge.types.chunks import ChunkOptions
from knowledge.types.documents import BlockKind
from tests.knowledge.chunkers.conftest import count_tokens
from tests.knowledge.parsers.conftest import Parse, assert_valid, texts

CM = 360_000
NAMES = (
    'xmlns:x="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def frame(left: float, top: float, width: float, height: float, attributes: str = "") -> str:
    """The place of a shape, in centimetres."""
    off, ext = (round(left * CM), round(top * CM)), (round(width * CM), round(height * CM))
    return f'<a:xfrm {attributes}><a:off x="{off[0]}" y="{off[1]}"/><a:ext cx="{ext[0]}" cy="{ext[1]}"/></a:xfrm>'


def box(number: int, text: str, left: float, top: float, *, is_label: bool = False) -> str:
    outline = "<a:ln><a:noFill/></a:ln>" if is_label else '<a:ln w="9525"/>'
    width, height = (2, 0.6) if is_label else (4, 1)
    return (
        f'<x:sp><x:nvSpPr><x:cNvPr id="{number}" name=""/><x:cNvSpPr/></x:nvSpPr>'
        f'<x:spPr>{frame(left, top, width, height)}<a:prstGeom prst="rect"/>{outline}</x:spPr>'
        f"<x:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></x:txBody></x:sp>"
    )


def line(place: str, *, glue: str = "", heads: str = '<a:tailEnd type="triangle"/>', shape: str = "line") -> str:
    return (
        f'<x:cxnSp><x:nvCxnSpPr><x:cNvPr id="90" name=""/><x:cNvCxnSpPr>{glue}</x:cNvCxnSpPr></x:nvCxnSpPr>'
        f'<x:spPr>{place}<a:prstGeom prst="{shape}"/><a:ln>{heads}</a:ln></x:spPr></x:cxnSp>'
    )


def drawn(*shapes: str) -> str:
    return arrow_text(etree.fromstring(f"<x:wsDr {NAMES}>{''.join(shapes)}</x:wsDr>"))


def test_a_glued_line_joins_its_shapes_in_the_direction_of_its_head() -> None:
    boxes = [box(1, "受付", 0, 0), box(2, "審査", 20, 8)]
    glue = '<a:stCxn id="1" idx="3"/><a:endCxn id="2" idx="1"/>'
    place = frame(9, 9, 1, 1)
    assert drawn(*boxes, line(place, glue=glue)) == "受付 → 審査"
    assert drawn(*boxes, line(place, glue=glue, heads='<a:headEnd type="arrow"/>')) == "審査 → 受付"
    assert drawn(*boxes, line(place, glue=glue, heads="")) == "受付 — 審査"
    both = '<a:headEnd type="arrow"/><a:tailEnd type="arrow"/>'
    assert drawn(*boxes, line(place, glue=glue, heads=both)) == "受付 ↔ 審査"


def test_a_line_that_is_glued_to_nothing_joins_the_shapes_at_whose_edges_it_ends() -> None:
    boxes = [box(1, "受付", 0, 0), box(2, "審査", 10, 0), box(3, "区画", 20, 6)]
    assert drawn(*boxes, line(frame(4.1, 0.5, 5.8, 0))) == "受付 → 審査"
    assert drawn(*boxes, line(frame(4.1, 0.5, 5.8, 0, 'flipH="1"'))) == "審査 → 受付"
    assert drawn(*boxes, line(frame(4.1, 3, 5.8, 0))) == ""


def test_labels_belong_to_the_line_that_passes_them_and_boxes_are_none() -> None:
    shapes = [
        box(1, "審査", 0, 0),
        box(2, "交付", 10, 0),
        box(3, "差戻し", 0, 6),
        line(frame(4, 0.5, 6, 0)),
        line(frame(2, 1, 0, 5)),
        box(4, "はい", 6, 0, is_label=True),
        box(5, "いいえ", 1.5, 3, is_label=True),
        box(6, "別の枠", 5, 0.7),
        box(7, "図の題名", 9, 9, is_label=True),
        box(8, "SAMPLE", 0, 0, is_label=True).replace(frame(0, 0, 2, 0.6), frame(0, 0, 12, 8)),
    ]
    assert drawn(*shapes) == "審査 → 交付 (はい) / 審査 → 差戻し (いいえ)"


def test_a_bent_line_that_is_turned_ends_where_it_is_drawn() -> None:
    # Turned by a quarter about its middle: drawn from (2, 1) down to (12, 5), first down, then across, then down.
    shapes = [box(1, "申請", 0, 0), box(2, "台帳", 10, 5)]
    turned = frame(5, -2, 4, 10, 'rot="16200000" flipH="1"')
    assert drawn(*shapes, line(turned, shape="bentConnector3")) == "申請 → 台帳"


def test_shapes_in_a_group_are_where_the_group_puts_them() -> None:
    group = (
        '<x:grpSp><x:grpSpPr><a:xfrm><a:off x="3600000" y="0"/><a:ext cx="3600000" cy="360000"/>'
        '<a:chOff x="0" y="0"/><a:chExt cx="36000000" cy="3600000"/></a:xfrm></x:grpSpPr>'
        f"{box(2, '群の中', 0, 0).replace(frame(0, 0, 4, 1), frame(0, 0, 40, 10))}</x:grpSp>"
    )
    assert drawn(box(1, "外", 0, 0), group, line(frame(4, 0.5, 6, 0))) == "外 → 群の中"


def test_the_lines_of_a_slide_are_a_figure_that_search_finds(tmp_path: Path, parse: Parse) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    shapes = slide.shapes
    first = shapes.add_shape(MSO_SHAPE.RECTANGLE, Cm(1), Cm(2), Cm(4), Cm(2))
    second = shapes.add_shape(MSO_SHAPE.RECTANGLE, Cm(12), Cm(2), Cm(4), Cm(2))
    first.text_frame.text, second.text_frame.text = "窓口端末", "予約管理サーバ"
    connector = shapes.add_connector(MSO_CONNECTOR.STRAIGHT, Emu(0), Emu(0), Emu(0), Emu(0))
    connector.begin_connect(first, 3)
    connector.end_connect(second, 1)
    connector.line.fill.solid()
    connector.line._get_or_add_ln().append(parse_xml(f'<a:tailEnd {NAMES} type="triangle"/>'))
    shapes.add_textbox(Cm(7), Cm(2), Cm(3), Cm(1)).text_frame.text = "HTTPS"
    path = tmp_path / "構成.pptx"
    deck.save(str(path))

    document = parse(path)

    assert_valid(document)
    assert texts(document, BlockKind.FIGURE) == ["![窓口端末 → 予約管理サーバ (HTTPS)](diagram)"]
    (chunk,) = chunk_document(document.markdown, document.blocks, (), ChunkOptions(), count_tokens)
    assert chunk.has_figure


def test_the_lines_of_a_sheet_are_a_figure_at_their_cell(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "流れ.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["処理の流れ"])
    book.save(path)
    anchors = "".join(
        f"<x:twoCellAnchor><x:from><x:col>{column}</x:col><x:row>4</x:row></x:from>{shape}</x:twoCellAnchor>"
        for column, shape in enumerate(
            [box(1, "受付", 0, 0), box(2, "審査", 10, 0), line(frame(4, 0.5, 6, 0))], start=1
        )
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing" '
        'Target="../drawings/drawing1.xml"/></Relationships>'
    )
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/drawings/drawing1.xml", f"<x:wsDr {NAMES}>{anchors}</x:wsDr>")
        archive.writestr("xl/worksheets/_rels/sheet1.xml.rels", relations)

    document = parse(path)

    (figure,) = [block for block in document.blocks if block.kind is BlockKind.FIGURE]
    assert document.markdown[figure.start : figure.end] == "![受付 → 審査](diagram)"
    assert figure.cell == "D5"


WORD = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:wpg="http://schemas.microsoft.com/office/word/2010/wordprocessingGroup"'
)


def word_box(number: int, text: str, left: float) -> str:
    return (
        f'<wps:wsp><wps:cNvPr id="{number}" name=""/><wps:cNvSpPr/><wps:spPr>{frame(left, 0, 4, 1)}'
        f'<a:prstGeom prst="rect"/></wps:spPr><wps:txbx><w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p>'
        "</w:txbxContent></wps:txbx></wps:wsp>"
    )


def test_the_lines_of_a_group_in_word_follow_its_words(tmp_path: Path, parse: Parse) -> None:
    connector = (
        '<wps:wsp><wps:cNvPr id="9" name=""/><wps:cNvCnPr><a:stCxn id="1" idx="3"/><a:endCxn id="2" idx="1"/>'
        f'</wps:cNvCnPr><wps:spPr>{frame(4, 0.5, 6, 0)}<a:prstGeom prst="straightConnector1"/>'
        '<a:ln><a:tailEnd type="triangle"/></a:ln></wps:spPr></wps:wsp>'
    )
    drawing = (
        f'<w:drawing {WORD}><wp:inline><wp:extent cx="1" cy="1"/><wp:docPr id="5" name=""/><a:graphic><a:graphicData>'
        f"<wpg:wgp><wpg:grpSpPr/>{word_box(1, '申請者', 0)}{word_box(2, '受付係', 10)}{connector}</wpg:wgp>"
        "</a:graphicData></a:graphic></wp:inline></w:drawing>"
    )
    document = docx.Document()
    document.add_paragraph("流れを示す。").add_run()._r.append(parse_xml(drawing))
    path = tmp_path / "流れ.docx"
    document.save(str(path))

    parsed = parse(path)

    assert texts(parsed) == ["流れを示す。", "申請者", "受付係", "![申請者 → 受付係](diagram)"]
