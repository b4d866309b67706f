"""Word documents as forms: boxes to tick, tables with a head in two rows, files put in whole."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import docx
from docx.document import Document as DocumentObject
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from tests.knowledge.parsers.conftest import Parse
from tests.knowledge.parsers.test_docx import save

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def insert(source: DocumentObject, name: str, content_type: str, data: bytes) -> None:
    """Put a file in whole, behind what is there."""
    part = Part(PackURI(f"/word/{name}"), content_type, data, source.part.package)
    key = source.part.relate_to(part, f"{OFFICE}/aFChunk")
    source.element.body.sectPr.addprevious(parse_xml(f"<w:altChunk {nsdecls('w', 'r')} r:id='{key}'/>"))


def test_inserted_pages_and_texts_are_part_of_the_document(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_heading("1. 帳票", level=1)
    page = "<meta charset='Shift_JIS'><h2>1.1 一覧</h2><table><tr><th>番号<th>名称</tr><tr><td>1<td>予約票</tr></table>"
    insert(source, "chunk1.html", "text/html", page.encode("cp932"))
    insert(source, "chunk2.txt", "text/plain", "控えは三年保存する。".encode())
    archived = EmailMessage()
    archived.set_content("<p>様式は別に定める。</p>", subtype="html", charset="utf-8")
    insert(source, "chunk3.mht", "message/rfc822", archived.as_bytes())
    source.add_paragraph("以上")

    document = parse(save(source, tmp_path))

    assert document.markdown == (
        "# 1. 帳票\n\n## 1.1 一覧\n\n| 番号 | 名称 |\n| --- | --- |\n| 1 | 予約票 |\n\n"
        "控えは三年保存する。\n\n様式は別に定める。\n\n以上\n"
    )
    assert document.notices == ()


def test_inserted_files_that_are_not_read_are_counted(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_paragraph("本文")
    insert(source, "chunk1.rtf", "application/rtf", b"{\\rtf1 x}")
    source.element.body.append(parse_xml(f"<w:altChunk {nsdecls('w', 'r')} r:id='rId99'/>"))

    notices = parse(save(source, tmp_path)).notices

    assert [notice.code for notice in notices] == ["inserted_files_left_out"]
    assert notices[0].en.startswith("2 ")


def test_a_head_of_two_rows_becomes_one_of_full_names(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    table = source.add_table(rows=3, cols=3)
    table.cell(0, 0).merge(table.cell(1, 0)).text = "ID"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "権限"
    for column, text in enumerate(["職員", "市民"], 1):
        table.cell(1, column).text = text
    for cell, text in zip(table.rows[2].cells, ["F-01", "○", "×"], strict=True):
        cell.text = text

    assert parse(save(source, tmp_path)).markdown == (
        "| ID | 権限 / 職員 | 権限 / 市民 |\n| --- | --- | --- |\n| F-01 | ○ | × |\n"
    )


def test_signs_of_symbol_fonts_and_boxes_of_forms_are_read(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    paragraph = source.add_paragraph()._p
    for part in (
        '<w:sym w:font="Wingdings" w:char="F0FE"/><w:t>はい</w:t>',
        '<w:sym w:font="Wingdings" w:char="F0A8"/><w:t>いいえ</w:t>',
        '<w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData></w:fldChar>',
        "<w:instrText> FORMCHECKBOX </w:instrText>",
        '<w:fldChar w:fldCharType="end"/><w:t>同意</w:t>',
    ):
        paragraph.append(parse_xml(f"<w:r {nsdecls('w')}>{part}</w:r>"))

    assert parse(save(source, tmp_path)).markdown == "☑はい□いいえ☑同意\n"
