"""Word, Excel and PowerPoint files without what was chosen: readable by their libraries, other parts as they were."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from openpyxl.comments import Comment

from knowledge.parsers.anonymising.task import RESULT, anonymise
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.registry import parse_file
from knowledge.types.anonymising import KINDS


def rewritten(path: Path, *fields: str) -> tuple[Path, str]:
    """The file that would be stored, and what was replaced."""
    folder = path.parent / "out"
    folder.mkdir(exist_ok=True)
    said = anonymise(
        path, limits=ParseLimits(), folder=folder, filename=path.name, kinds=list(KINDS), fields=list(fields)
    )
    return (folder / RESULT).rename(folder / path.name), said


def changed_parts(before: Path, after: Path) -> set[str]:
    with zipfile.ZipFile(before) as old, zipfile.ZipFile(after) as new:
        assert old.namelist() == new.namelist()
        return {name for name in old.namelist() if old.read(name) != new.read(name)}


def holds(path: Path, *texts: str) -> list[str]:
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name).decode() for name in package.namelist() if name.endswith((".xml", ".rels"))}
    return [f"{name}: {text}" for name, part in parts.items() for text in texts if text in part]


def test_a_word_file_loses_them_across_runs_in_tables_headers_and_properties(tmp_path):
    path = tmp_path / "届出.docx"
    document = docx.Document()
    paragraph = document.add_paragraph("電話 03-")
    paragraph.add_run("1234").bold = True
    paragraph.add_run("-5678、yama")
    paragraph.add_run("da@example.jp まで")
    document.add_paragraph("氏名：山田 太郎")
    rows = [["氏名", "電話番号", "部署"], ["佐藤 花子", "0312345678", "総務部"], ["鈴木", "0398765432", "営業部"]]
    table = document.add_table(3, 3)
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    document.sections[0].header.paragraphs[0].text = "連絡先 office@example.jp"
    document.core_properties.author = "yamada@example.jp"
    document.save(path)
    after, said = rewritten(path, "氏名")
    assert said == '{"replaced": {"email": 3, "field": 3, "phone": 3}}'
    assert holds(after, "example.jp", "5678", "山田", "佐藤", "鈴木", "0312345678") == []
    assert changed_parts(path, after) == {
        *("word/document.xml", "word/header1.xml", "docProps/core.xml"),
        "docProps/thumbnail.jpeg",  # it may show the first page
    }
    again = docx.Document(str(after))
    assert [run.text for run in again.paragraphs[0].runs] == ["電話 [PHONE-3]", "", "、[EMAIL-1]", " まで"]
    assert again.tables[0].cell(1, 2).text == "総務部"
    assert "| [FIELD-1] | [PHONE-1] | 総務部 |" in parse_file(after, filename="a.docx", limits=ParseLimits()).markdown


def test_a_workbook_loses_them_in_cells_formulas_comments_and_links(tmp_path):
    path = tmp_path / "名簿.xlsx"
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.append(["氏名", "フリガナ", "部署", "口座番号", "個人番号"])
    sheet.append(["山田 太郎", "ヤマダ", "総務", 1234567, 123456789018])
    sheet.append(["佐藤", "サトウ", "営業", 7654321, None])
    sheet["A6"] = '="x@example.jp"&""'
    sheet["A7"] = "=SUM(D2:D3)"
    sheet["G8"] = "電話 03-1234-5678"
    sheet["C2"].comment = Comment("c@example.jp に連絡", "係")
    sheet["H1"].hyperlink = "mailto:h@example.jp"
    sheet["B9"] = "様式"
    workbook.create_sheet("別表")["A1"] = "変わらない"
    workbook.save(path)
    after, said = rewritten(path, "氏名", "フリガナ")
    assert said == '{"replaced": {"account": 2, "email": 4, "field": 4, "my_number": 1, "phone": 1}}'
    assert holds(after, "example.jp", "123456789018", "1234567", "山田", "ヤマダ", "佐藤", "5678") == []
    assert "xl/worksheets/sheet2.xml" not in changed_parts(path, after)
    cells = openpyxl.load_workbook(after).worksheets[0]
    assert [cell.value for cell in cells[1]][:5] == ["氏名", "フリガナ", "部署", "口座番号", "個人番号"]
    assert [cell.value for cell in cells[2]][:5] == [
        *("[FIELD-1]", "[FIELD-3]", "総務", "[BANK_ACCOUNT-1]", "[MY_NUMBER-1]")
    ]
    assert (cells["A7"].value, cells["B9"].value) == ("=SUM(D2:D3)", "様式")


def test_slides_lose_them_in_titles_tables_and_notes(tmp_path):
    path = tmp_path / "説明.pptx"
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "連絡 z@example.jp"
    table = slide.shapes.add_table(2, 2, 0, 0, 9_000_000, 900_000).table
    for column, text in enumerate(("氏名", "山田")):
        table.cell(0, column).text = text
    slide.notes_slide.notes_text_frame.text = "氏名：高橋"
    show.save(path)
    after, said = rewritten(path, "氏名")
    assert said == '{"replaced": {"email": 1, "field": 2}}'
    assert holds(after, "example.jp", "山田", "高橋") == []
    assert len(pptx.Presentation(str(after)).slides) == 1


def test_a_file_with_nothing_to_replace_keeps_every_part(tmp_path):
    path = tmp_path / "設計書.docx"
    document = docx.Document()
    document.add_paragraph("本書は設計を定める。")
    document.save(path)
    after, said = rewritten(path, "氏名")
    assert said == '{"replaced": {}}'
    assert changed_parts(path, after) == set()


@pytest.mark.parametrize("part", ["word/embeddings/oleObject1.bin", "word/vbaProject.bin", "word/media/sound.wav"])
def test_files_and_programs_inside_the_file_are_refused_with_their_names(tmp_path, part):
    path = tmp_path / "a.docx"
    docx.Document().save(path)
    with zipfile.ZipFile(path, "a") as package:
        package.writestr(part, b"yamada@example.jp")
    with pytest.raises(ParseError, match=re.escape(part)) as refused:
        rewritten(path)
    assert refused.value.code == "holds_files"


def test_a_shared_formula_that_would_lose_its_first_cell_is_refused(tmp_path):
    path = tmp_path / "a.xlsx"
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = '="x@example.jp"&B1'
    workbook.save(path)
    data = {}
    with zipfile.ZipFile(path) as package:
        data = {name: package.read(name) for name in package.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    data[sheet] = data[sheet].replace(b"<f>", b'<f t="shared" ref="A1:A9" si="0">')
    with zipfile.ZipFile(path, "w") as package:
        for name, content in data.items():
            package.writestr(name, content)
    with pytest.raises(ParseError) as refused:
        rewritten(path)
    assert refused.value.code == "holds_files"
