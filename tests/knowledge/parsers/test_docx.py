from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.document import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.text.paragraph import Paragraph

from knowledge.parsers.docx.numbering import format_number
from knowledge.parsers.errors import ParseError
from knowledge.text.structure import build_sections
from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import Parse, assert_valid, texts


def save(document: Document, folder: Path) -> Path:
    path = folder / "設計書.docx"
    document.save(str(path))
    return path


def numbered(document: Document, levels: list[tuple[str, str]]) -> str:
    """Define a multilevel list of (number format, pattern) and return its id."""
    root = document.part.numbering_part.element
    items = "".join(
        f'<w:lvl w:ilvl="{index}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{pattern}"/></w:lvl>'
        for index, (kind, pattern) in enumerate(levels)
    )
    root.insert(0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="900">{items}</w:abstractNum>'))
    root.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="900"><w:abstractNumId w:val="900"/></w:num>'))
    return "900"


def number(paragraph: Paragraph, list_id: str, level: int) -> None:
    properties = paragraph._p.get_or_add_pPr()
    properties.append(
        parse_xml(f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>')
    )


def test_headings_paragraphs_and_tables_keep_their_order(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_paragraph("基本設計書", style="Title")
    source.add_heading("1. 目的", level=1)
    source.add_paragraph("予約を受け付ける。")
    table = source.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["項目", "説明", "FR-001", "予約|登録\n窓口"], strict=True):
        cell.text = text
    source.add_heading("1.1 範囲", level=2)
    source.add_paragraph("図1 構成図", style="Caption")

    document = parse(save(source, tmp_path))

    assert_valid(document)
    assert document.title == "基本設計書"
    assert texts(document) == [
        "基本設計書",
        "# 1. 目的",
        "予約を受け付ける。",
        "| 項目 | 説明 |\n| --- | --- |\n| FR-001 | 予約\\|登録<br>窓口 |",
        "## 1.1 範囲",
        "図1 構成図",
    ]
    assert texts(document, BlockKind.CAPTION) == ["図1 構成図"]


def test_an_outline_level_makes_a_heading_and_body_level_unmakes_one(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    own = source.add_paragraph("独自様式の見出し")
    own._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="1"/>'))
    plain = source.add_heading("見出しの様式の本文", level=1)
    plain._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="9"/>'))

    assert texts(parse(save(source, tmp_path))) == ["## 独自様式の見出し", "見出しの様式の本文"]


def test_numbers_that_word_computes_are_written_out(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    list_id = numbered(source, [("decimal", "第%1章"), ("decimal", "%1.%2"), ("decimalEnclosedCircle", "%3")])
    for text, level in [("総則", 0), ("目的", 1), ("範囲", 1), ("設計", 0), ("構成", 1)]:
        number(source.add_heading(text, level=level + 1), list_id, level)
    for text in ("画面", "帳票"):
        number(source.add_paragraph(text), list_id, 2)

    document = parse(save(source, tmp_path))

    sections = build_sections(document.markdown, document.blocks)
    assert [section.title for section in sections] == ["第1章 総則", "1.1 目的", "1.2 範囲", "第2章 設計", "2.1 構成"]
    assert texts(document, BlockKind.LIST) == ["① 画面\n② 帳票"]


def test_bullets_become_one_list_with_depth(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    list_id = numbered(source, [("bullet", "●"), ("bullet", "○")])
    for text, level in [("窓口", 0), ("端末", 1), ("画面", 0)]:
        number(source.add_paragraph(text), list_id, level)

    assert texts(parse(save(source, tmp_path))) == ["- 窓口\n  - 端末\n- 画面"]


def test_merged_cells_show_once_and_leave_no_empty_columns(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    table = source.add_table(rows=3, cols=3)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "区分"
    table.cell(0, 2).text = "値"
    table.cell(1, 0).merge(table.cell(2, 1)).text = "性能"
    table.cell(1, 2).text = "2秒"
    table.cell(2, 2).text = "3秒"

    assert parse(save(source, tmp_path)).markdown == ("| 区分 | 値 |\n| --- | --- |\n| 性能 | 2秒 |\n|  | 3秒 |\n")


def test_a_frame_of_one_cell_is_read_as_the_text_in_it(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_table(rows=1, cols=1).cell(0, 0).text = "注意：本書は案である。"

    document = parse(save(source, tmp_path))

    assert [block.kind for block in document.blocks] == [BlockKind.PARAGRAPH]


def test_insertions_count_and_deletions_and_hidden_text_do_not(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    paragraph = source.add_paragraph("応答は")._p
    paragraph.append(parse_xml(f"<w:del {nsdecls('w')}><w:r><w:delText>3秒</w:delText></w:r></w:del>"))
    paragraph.append(parse_xml(f"<w:ins {nsdecls('w')}><w:r><w:t>2秒</w:t></w:r></w:ins>"))
    paragraph.append(parse_xml(f"<w:r {nsdecls('w')}><w:rPr><w:vanish/></w:rPr><w:t>秘密</w:t></w:r>"))
    paragraph.append(parse_xml(f"<w:r {nsdecls('w')}><w:t>とする。</w:t></w:r>"))

    assert parse(save(source, tmp_path)).markdown == "応答は2秒とする。\n"


def test_text_boxes_and_content_controls_are_read(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    box = (
        f"<w:r {nsdecls('w')} xmlns:v='urn:schemas-microsoft-com:vml'><w:pict><v:textbox><w:txbxContent>"
        "<w:p><w:r><w:t>枠の中</w:t></w:r></w:p></w:txbxContent></v:textbox></w:pict></w:r>"
    )
    source.add_paragraph("本文")._p.append(parse_xml(box))
    control = f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:r><w:t>記入欄</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    source.element.body.insert(1, parse_xml(control))

    assert texts(parse(save(source, tmp_path))) == ["本文", "枠の中", "記入欄"]


def test_a_table_of_contents_is_a_list_of_entries_with_pages(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    style = source.styles.add_style("toc 1", WD_STYLE_TYPE.PARAGRAPH)
    for text in ("1 目的\t3", "2 範囲\t4"):
        source.add_paragraph(text, style=style)

    assert texts(parse(save(source, tmp_path)), BlockKind.LIST) == ["- 1 目的 … 3\n- 2 範囲 … 4"]


def test_a_caption_in_a_heading_style_stays_a_caption(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_heading("表２－３ 応答ヘッダー", level=2)

    assert [block.kind for block in parse(save(source, tmp_path)).blocks] == [BlockKind.CAPTION]


def test_a_zip_without_a_document_is_corrupted(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    body = source.element.body
    body.getparent().remove(body)

    with pytest.raises(ParseError) as caught:
        parse(save(source, tmp_path))
    assert caught.value.code == "corrupted"
    assert "docx" in caught.value.text.ja


@pytest.mark.parametrize(
    ("value", "number_format", "expected"),
    [
        (12, "decimalFullWidth", "１２"),
        (28, "upperLetter", "BB"),
        (9, "lowerRoman", "ix"),
        (21, "japaneseCounting", "二十一"),
        (3, "iroha", "ハ"),
        (3, "hebrew1", None),
    ],
)
def test_list_numbers_are_written_as_word_does(value: int, number_format: str, expected: str | None) -> None:
    assert format_number(value, number_format) == expected


def test_the_header_row_of_deleted_table_rows_is_gone(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    table = source.add_table(rows=3, cols=2)
    for cell, text in zip(table._cells, ["項目", "値", "旧", "1", "新", "2"], strict=True):
        cell.text = text
    table.rows[1]._tr.get_or_add_trPr().append(parse_xml(f"<w:del {nsdecls('w')}/>"))

    assert "旧" not in parse(save(source, tmp_path)).markdown
    assert table.rows[1]._tr.find(qn("w:trPr")) is not None


RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def attach(source: Document, kind: str, xml: str) -> None:
    """Relate a part such as footnotes.xml to the document."""
    name = PackURI(f"/word/{kind}.xml")
    content_type = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}+xml"
    part = Part(name, content_type, f"<w:{kind} {nsdecls('w')}>{xml}</w:{kind}>".encode(), source.part.package)
    source.part.relate_to(part, f"{RELATIONS}/{kind}")


def note(kind: str, number: int, text: str) -> str:
    return f'<w:{kind} w:id="{number}"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:{kind}>'


def add_mark(paragraph: Paragraph, kind: str, number: int) -> None:
    paragraph._p.append(parse_xml(f'<w:r {nsdecls("w")}><w:{kind}Reference w:id="{number}"/></w:r>'))


def test_footnotes_end_their_section_and_endnotes_the_document(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_heading("目的", level=1)
    first = source.add_paragraph("予約を受け付ける")
    add_mark(first, "footnote", 2)
    add_mark(first, "endnote", 3)
    source.add_paragraph("窓口でも受け付ける。")
    source.add_heading("範囲", level=1)
    cell = source.add_table(rows=1, cols=2).rows[0].cells[1].paragraphs[0]
    cell.add_run("会計")
    add_mark(cell, "footnote", 4)
    source.add_paragraph("以上とする。")
    attach(source, "footnotes", note("footnote", 2, "電話を除く。") + note("footnote", 4, "別に定める。"))
    attach(source, "endnotes", note("endnote", 3, "条例による。"))

    assert texts(parse(save(source, tmp_path))) == [
        "# 目的",
        "予約を受け付ける[^2][^e3]",
        "窓口でも受け付ける。",
        "[^2]: 電話を除く。",
        "# 範囲",
        "| 会計[^4] |\n| --- |",
        "以上とする。",
        "[^4]: 別に定める。",
        "[^e3]: 条例による。",
    ]


def test_comments_and_changes_are_counted_and_kept_out(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    paragraph = source.add_paragraph("応答は")._p
    paragraph.append(parse_xml(f"<w:del {nsdecls('w')}><w:r><w:delText>3秒</w:delText></w:r></w:del>"))
    paragraph.append(parse_xml(f"<w:ins {nsdecls('w')}><w:r><w:t>2秒</w:t></w:r></w:ins>"))
    attach(source, "comments", note("comment", 0, "根拠は何か。"))

    document = parse(save(source, tmp_path))

    assert document.markdown == "応答は2秒\n"
    assert [(notice.code, notice.en[:3]) for notice in document.notices] == [
        ("comments_left_out", "1 c"),
        ("tracked_changes", "2 t"),
    ]


def test_headers_and_footers_are_no_text(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_paragraph("本文")
    source.sections[0].header.paragraphs[0].text = "社外秘"
    source.sections[0].footer.paragraphs[0].text = "1 ページ"

    assert parse(save(source, tmp_path)).markdown == "本文\n"
