"""Word documents as forms: boxes to tick, tables with a head in two rows, files put in whole."""

from __future__ import annotations

from pathlib import Path

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from tests.knowledge.parsers.conftest import Parse
from tests.knowledge.parsers.test_docx import save


def test_files_inserted_whole_are_counted(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_paragraph("本文")
    source.element.body.insert(0, parse_xml(f"<w:altChunk {nsdecls('w', 'r')} r:id='rId99'/>"))

    assert [notice.code for notice in parse(save(source, tmp_path)).notices] == ["inserted_files_left_out"]


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
