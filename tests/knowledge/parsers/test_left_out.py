"""Nothing is lost silently: what is not read of an Office file is counted, and what other programs miss is read."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docx
import openpyxl
from lxml import etree
from openpyxl.chart import BarChart, Reference
from openpyxl.drawing.spreadsheet_drawing import AbsoluteAnchor
from openpyxl.drawing.xdr import XDRPoint2D, XDRPositiveSize2D
from openpyxl.utils.units import cm_to_EMU
from pptx import Presentation
from pptx.util import Cm

from knowledge.parsers.ooxml.package import drawing_text
from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import Parse, texts

COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
EXTENDED = "http://schemas.microsoft.com/office/drawing/2014/chartex"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
TEXT_2010 = "http://schemas.microsoft.com/office/drawing/2010/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
SPREADSHEET = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"


def with_parts(path: Path, parts: Mapping[str, bytes]) -> Path:
    """Write parts into a file as they are, without naming them anywhere."""
    with zipfile.ZipFile(path, "a") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def codes(parse: Parse, path: Path) -> dict[str, str]:
    return {notice.code: notice.en.split()[0] for notice in parse(path).notices}


def test_cells_in_hidden_rows_and_columns_are_counted(tmp_path: Path, parse: Parse) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["ID", "名称", "担当"], ["F-1", "予約", "窓口"], ["F-2", "取消", "窓口"]):
        sheet.append(row)
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    path = tmp_path / "機能一覧.xlsx"
    book.save(path)

    (notice,) = parse(path).notices

    assert (notice.code, notice.en.split()[0]) == ("hidden_cells", "5")


def test_hidden_text_of_word_is_counted(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_paragraph("公開する。").add_run("内部の注記").font.hidden = True
    path = tmp_path / "設計書.docx"
    source.save(str(path))

    document = parse(path)

    assert document.markdown == "公開する。\n"
    assert [notice.code for notice in document.notices] == ["hidden_text"]


def test_embedded_files_and_comments_on_slides_are_counted(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_paragraph("別表による。")
    word, slides = tmp_path / "設計書.docx", tmp_path / "説明.pptx"
    source.save(str(word))
    show = Presentation()
    show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = "予約の流れ"
    show.save(str(slides))
    comment = f'<p:cmLst xmlns:p="{SLIDE}"><p:cm/><p:cm/></p:cmLst>'.encode()

    assert codes(parse, with_parts(word, {"word/embeddings/oleObject1.bin": b"x"})) == {"embedded_files_left_out": "1"}
    assert codes(parse, with_parts(slides, {"ppt/comments/comment1.xml": comment})) == {"comments_left_out": "2"}


def test_a_chart_tells_its_values_as_their_formats_show_them() -> None:
    points = {"cat": (("4月", None), ("5月", None)), "val": (("0.125", "0.0%"), ("0.3", None))}
    groups = "".join(
        f"<c:{name}><c:cache><c:formatCode>0%</c:formatCode>"
        + "".join(
            f'<c:pt idx="{index}"' + (f' formatCode="{code}"' if code else "") + f"><c:v>{value}</c:v></c:pt>"
            for index, (value, code) in enumerate(found)
        )
        + f"</c:cache></c:{name}>"
        for name, found in points.items()
    )
    part = f'<c:chartSpace xmlns:c="{CHART}"><c:ser><c:tx><c:v>利用率</c:v></c:tx>{groups}</c:ser></c:chartSpace>'

    assert drawing_text(part.encode()) == "利用率: 4月 12.5%, 5月 30%"


def test_the_newer_kinds_of_charts_are_read() -> None:
    data = (
        '<cx:data id="0"><cx:strDim><cx:lvl><cx:pt idx="0">受付</cx:pt><cx:pt idx="1">審査</cx:pt></cx:lvl></cx:strDim>'
        '<cx:numDim><cx:lvl><cx:pt idx="0">120</cx:pt><cx:pt idx="1">80</cx:pt></cx:lvl></cx:numDim></cx:data>'
    )
    series = "<cx:series><cx:tx><cx:txData><cx:v>件数</cx:v></cx:txData></cx:tx><cx:dataId val='0'/></cx:series>"
    part = f'<cx:chartSpace xmlns:cx="{EXTENDED}"><cx:chartData>{data}</cx:chartData>{series}</cx:chartSpace>'

    assert drawing_text(part.encode()) == "件数: 受付 120, 審査 80"


def test_a_chart_on_a_sheet_of_its_own_or_placed_by_measure_is_read(tmp_path: Path, parse: Parse) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["月", "件数"])
    sheet.append(["4月", 10])
    for title, holder in (("月ごとの予約", book.create_chartsheet("グラフ")), ("窓口の予約", sheet)):
        chart = BarChart()
        chart.title = title
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=2), titles_from_data=True)
        if holder is sheet:
            size = XDRPositiveSize2D(cm_to_EMU(8), cm_to_EMU(5))
            chart.anchor = AbsoluteAnchor(pos=XDRPoint2D(0, 0), ext=size)  # type: ignore[assignment]  # or its top left cell
        holder.add_chart(chart)
    path = tmp_path / "集計.xlsx"
    book.save(path)

    document = parse(path)

    figures = [text.partition(" /")[0] for text in texts(document, BlockKind.FIGURE)]
    assert [figure.removesuffix("](chart)") for figure in figures] == ["![窓口の予約", "![月ごとの予約"]
    assert "## グラフ" in document.markdown


def test_check_boxes_tell_whether_they_are_ticked_and_words_for_older_programs_are_no_text(
    tmp_path: Path, parse: Parse
) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet["A1"] = "集計"
    sheet.add_chart(BarChart(), "C3")
    path = tmp_path / "集計.xlsx"
    book.save(path)
    said = (
        "<xdr:sp><xdr:nvSpPr><xdr:cNvPr id='1025' name='c'/></xdr:nvSpPr>"
        "<xdr:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
    )
    names = f'xmlns:mc="{COMPATIBILITY}" xmlns:xdr="{SHEET_DRAWING}" xmlns:a="{DRAWING}"'
    anchor = (
        f"<xdr:oneCellAnchor {names}><xdr:from><xdr:col>1</xdr:col><xdr:row>1</xdr:row></xdr:from><mc:AlternateContent>"
        f"<mc:Choice Requires='a14'>{said.format('該当する')}</mc:Choice>"
        f"<mc:Fallback>{said.format('この図形は表示できません')}</mc:Fallback>"
        "</mc:AlternateContent></xdr:oneCellAnchor>"
    )
    changed = tmp_path / "様式.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/drawings/drawing1.xml":
                root = etree.fromstring(data)
                root.append(etree.fromstring(anchor))
                data = etree.tostring(root)
            elif name == "xl/worksheets/sheet1.xml":
                control = b'<controls><control shapeId="1025" r:id="rId9" name="c"/></controls></worksheet>'
                named = f'<worksheet xmlns:r="{RELATIONS}" '.encode()
                data = data.replace(b"<worksheet ", named, 1).replace(b"</worksheet>", control)
            elif name == "xl/worksheets/_rels/sheet1.xml.rels":
                to_state = f'<Relationship Id="rId9" Type="{RELATIONS}/ctrlProp" Target="../ctrlProps/ctrlProp1.xml"/>'
                data = data.replace(b"</Relationships>", to_state.encode() + b"</Relationships>")
            new.writestr(name, data)
        state = f'<formControlPr xmlns="{SPREADSHEET}" objectType="CheckBox" checked="Checked"/>'
        new.writestr("xl/ctrlProps/ctrlProp1.xml", state)

    shown = parse(changed).markdown

    assert "☑ 該当する" in shown
    assert "表示できません" not in shown


def test_a_text_box_with_an_equation_is_read(tmp_path: Path, parse: Parse) -> None:
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    box = slide.shapes.add_textbox(Cm(1), Cm(1), Cm(8), Cm(2))
    box.text_frame.text = "稼働率は "
    equation = (
        f'<a14:m xmlns:a14="{TEXT_2010}" xmlns:m="{MATH}"><m:oMath><m:r><m:t>A=MTBF/T</m:t></m:r></m:oMath></a14:m>'
    )
    box.text_frame.paragraphs[0]._p.append(etree.fromstring(equation))
    tree = slide.shapes._spTree
    wrapped = etree.SubElement(tree, f"{{{COMPATIBILITY}}}AlternateContent")
    etree.SubElement(wrapped, f"{{{COMPATIBILITY}}}Choice", Requires="a14").append(box._element)
    etree.SubElement(wrapped, f"{{{COMPATIBILITY}}}Fallback")
    path = tmp_path / "説明.pptx"
    show.save(str(path))

    assert texts(parse(path))[1:] == ["稼働率は A=MTBF/T"]
