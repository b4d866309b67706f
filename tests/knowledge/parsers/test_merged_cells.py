"""Cells that are merged downwards are known to the rows below, in every format that says so."""

from __future__ import annotations

from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Inches

from knowledge.chunkers import chunk_document
from knowledge.parsers.render import FROM_ABOVE, render_table
from knowledge.types.chunks import ChunkOptions
from knowledge.types.documents import BlockKind
from tests.knowledge.chunkers.conftest import count_tokens
from tests.knowledge.parsers.conftest import Parse

ROWS = [
    ("分類", "番号", "要件"),
    ("認証", "F-1", "職員番号で利用者を確かめる。" * 3),
    ("", "F-2", "三回の失敗で使えなくする。" * 3),
    ("", "F-3", "失敗を監査証跡に残す。" * 3),
    ("帳票", "F-4", "許可書を印刷する。" * 3),
    ("", "F-5", "控えを綴じ込む様式にする。" * 3),
]
MERGED = "0:1-3,0:4-5"


def write_docx(path: Path) -> None:
    document = docx.Document()
    table = document.add_table(rows=len(ROWS), cols=3)
    for row, texts in zip(table.rows, ROWS, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    table.cell(1, 0).merge(table.cell(3, 0))
    table.cell(4, 0).merge(table.cell(5, 0))
    document.save(str(path))


def write_xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in ROWS:
        sheet.append([text or None for text in row])
    sheet.merge_cells("A2:A4")
    sheet.merge_cells("A5:A6")
    book.save(path)


def write_pptx(path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(len(ROWS), 3, Inches(1), Inches(1), Inches(6), Inches(4)).table
    for at, texts in enumerate(ROWS):
        for column, text in enumerate(texts):
            table.cell(at, column).text = text
    table.cell(1, 0).merge(table.cell(3, 0))
    table.cell(4, 0).merge(table.cell(5, 0))
    deck.save(str(path))


def write_html(path: Path) -> None:
    spans = {1: 3, 4: 2}
    lines = []
    for at, (category, *rest) in enumerate(ROWS):
        first = f'<td rowspan="{spans.get(at, 1)}">{category}</td>' if category else ""
        lines.append(f"<tr>{first}{''.join(f'<td>{text}</td>' for text in rest)}</tr>")
    path.write_text(f"<table>{''.join(lines)}</table>", encoding="utf-8")


WRITERS = {"docx": write_docx, "xlsx": write_xlsx, "pptx": write_pptx, "html": write_html, "md": write_html}


@pytest.mark.parametrize("format_name", ["docx", "xlsx", "pptx", "html"])
def test_a_later_passage_names_the_merged_cell_that_its_first_row_belongs_to(
    tmp_path: Path, parse: Parse, format_name: str
) -> None:
    path = tmp_path / f"要件.{format_name}"
    WRITERS[format_name](path)
    document = parse(path)
    (table,) = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    assert table.merged == MERGED
    chunks = chunk_document(document.markdown, [table], (), ChunkOptions(size=90, overlap=0), count_tokens)
    begins = {document.markdown[chunk.start :].split(" | ")[1]: chunk.context_prefix for chunk in chunks[1:]}
    head = "| 分類 | 番号 | 要件 |\n| --- | --- | --- |\n"
    categories = {"F-2": "認証", "F-3": "認証", "F-5": "帳票"}
    assert {"F-3", "F-5"} <= begins.keys()
    assert begins == {number: f"{head}| {categories[number]} |  |  |\n" for number in begins}


def test_merged_cells_are_counted_in_lines_that_are_written() -> None:
    rows = [["名", "値"], ["甲", "1"], [FROM_ABOVE, ""], [FROM_ABOVE, "2"], ["", "3"], [FROM_ABOVE, "4"]]
    table = render_table(rows)
    assert table.text.split("\n")[2:] == ["| 甲 | 1 |", "|  | 2 |", "|  | 3 |", "|  | 4 |"]
    assert table.merged == "0:1-2"


def test_a_header_that_reaches_down_names_no_rows() -> None:
    assert render_table([["名", "値"], [FROM_ABOVE, "1"], ["甲", "2"]]).merged is None
