from __future__ import annotations

from pathlib import Path

import docx
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.text.paragraph import Paragraph

from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import Parse, texts


def level(index: int, kind: str, pattern: str, extra: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{index}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>{extra}'
        f'<w:lvlText w:val="{pattern}"/></w:lvl>'
    )


def define(document: Document, number: int, levels: str, *, abstract: int | None = None, override: str = "") -> None:
    """Define list ``number`` with levels of its own, or as another use of an abstract list."""
    root = document.part.numbering_part.element
    if abstract is None:
        abstract = number
        xml = f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{number}">{levels}</w:abstractNum>'
        root.insert(0, parse_xml(xml))
    link = f'<w:abstractNumId w:val="{abstract}"/>'
    root.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="{number}">{link}{override}</w:num>'))


def put_in_list(paragraph: Paragraph, number: int, depth: int = 0) -> None:
    paragraph._p.get_or_add_pPr().append(
        parse_xml(f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>')
    )


def read(document: Document, folder: Path, parse: Parse) -> list[str]:
    path = folder / "設計書.docx"
    document.save(str(path))
    return texts(parse(path))


def test_chapters_in_kanji_have_sections_in_arabic_numbers(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    define(source, 900, level(0, "japaneseCounting", "第%1章") + level(1, "decimal", "%1.%2", "<w:isLgl/>"))
    for text, depth in [("総則", 0), ("目的", 1), ("設計", 0), ("構成", 1)]:
        put_in_list(source.add_heading(text, level=depth + 1), 900, depth)

    assert read(source, tmp_path, parse) == ["# 第一章 総則", "## 1.1 目的", "# 第二章 設計", "## 2.1 構成"]


def test_an_empty_numbered_paragraph_takes_a_number_unless_it_is_deleted(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    define(source, 900, level(0, "decimal", "(%1)"))
    for text in ("受付", "", "審査", "", "交付"):
        put_in_list(source.add_paragraph(text), 900)
    source.paragraphs[3]._p.get_or_add_pPr().append(parse_xml(f"<w:rPr {nsdecls('w')}><w:del/></w:rPr>"))

    assert read(source, tmp_path, parse) == ["(1) 受付\n(3) 審査\n(4) 交付"]


def test_a_column_of_automatic_numbers_is_read_and_counts_on(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    define(source, 900, level(0, "decimal", "%1"))
    table = source.add_table(rows=3, cols=2)
    for cell, text in zip(table._cells, ["No.", "項目", "", "会員番号", "", "氏名"], strict=True):
        cell.text = text
    for row in table.rows[1:]:
        put_in_list(row.cells[0].paragraphs[0], 900)
    put_in_list(source.add_paragraph("備考"), 900)

    assert read(source, tmp_path, parse) == [
        "| No. | 項目 |\n| --- | --- |\n| 1 | 会員番号 |\n| 2 | 氏名 |",
        "3 備考",
    ]


def test_a_list_takes_its_levels_from_its_list_style(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    define(source, 900, '<w:numStyleLink w:val="庁内"/>')
    define(source, 901, '<w:styleLink w:val="庁内"/>' + level(0, "decimalEnclosedParen", "%1"))
    for text in ("受付", "審査"):
        put_in_list(source.add_paragraph(text), 900)

    assert read(source, tmp_path, parse) == ["⑴ 受付\n⑵ 審査"]


def test_a_list_may_define_a_level_anew(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    define(source, 900, level(0, "decimal", "%1."))
    override = f'<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/>{level(0, "decimal", "要件%1")}</w:lvlOverride>'
    define(source, 901, "", abstract=900, override=override)
    put_in_list(source.add_paragraph("性能"), 901)

    assert read(source, tmp_path, parse) == ["要件5 性能"]


def test_a_level_that_never_restarts_counts_through(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    define(source, 900, level(0, "decimal", "%1.") + level(1, "decimal", "要件%2", '<w:lvlRestart w:val="0"/>'))
    for text, depth in [("機能", 0), ("予約", 1), ("取消", 1), ("性能", 0), ("応答", 1)]:
        put_in_list(source.add_paragraph(text), 900, depth)

    assert read(source, tmp_path, parse) == ["1. 機能\n  要件1 予約\n  要件2 取消\n2. 性能\n  要件3 応答"]


def test_a_list_of_words_without_numbers_shows_its_word(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    define(source, 900, level(0, "none", "注）"))
    put_in_list(source.add_paragraph("休館日を除く。"), 900)

    assert read(source, tmp_path, parse) == ["注） 休館日を除く。"]


def bold(document: Document, text: str, size: float | None = None) -> Paragraph:
    paragraph = document.add_paragraph()
    run = paragraph.add_run(text)
    run.bold = True
    run.font.size = docx.shared.Pt(size) if size else None
    return paragraph


def test_without_heading_styles_bold_numbered_and_large_lines_are_headings(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    define(source, 900, level(0, "decimal", "%1."))
    bold(source, "運用設計書", 20)
    bold(source, "令和6年4月1日", 20)
    put_in_list(bold(source, "目的"), 900)
    source.add_paragraph("本書は運用を定める。運用とは監視、保守及び障害への対応をいうものとする。")
    bold(source, "1.1 監視")
    source.add_paragraph("1. 電源を確認する。")
    bold(source, "注意事項")
    source.add_paragraph("夜間は連絡せず、翌営業日の朝に責任者へまとめて報告することとする。")
    source.add_paragraph("第2章　保守")

    assert [text for text in read(source, tmp_path, parse) if text.startswith("#")] == [
        "# 運用設計書",
        "# 1. 目的",
        "## 1.1 監視",
        "### 注意事項",
        "# 第2章 保守",
    ]


def test_with_heading_styles_bold_lines_stay_text(tmp_path: Path, parse: Parse) -> None:
    source = docx.Document()
    source.add_heading("目的", level=1)
    bold(source, "1.1 監視")

    path = tmp_path / "設計書.docx"
    source.save(str(path))
    assert [block.kind for block in parse(path).blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH]
