from __future__ import annotations

import zipfile
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Border, Side
from openpyxl.workbook import Workbook

from knowledge.parsers.errors import ParseError
from knowledge.text.structure import build_sections
from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import Parse, assert_valid, texts


def save(workbook: Workbook, folder: Path) -> Path:
    path = folder / "一覧.xlsx"
    workbook.save(path)
    return path


def workbook_of(rows: Sequence[list[Any]], *, title: str = "一覧") -> Workbook:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(row)
    return workbook


def test_a_sheet_is_a_section_and_its_regions_have_cell_ranges(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["画面一覧"], [], ["ID", "名称"], ["S-01", "予約|登録"], ["S-02", "取消\n確認"]])

    document = parse(save(source, tmp_path))

    assert_valid(document)
    assert [(block.kind, block.sheet, block.cell) for block in document.blocks] == [
        (BlockKind.HEADING, "一覧", None),
        (BlockKind.PARAGRAPH, "一覧", "A1"),
        (BlockKind.TABLE, "一覧", "A3:B5"),
    ]
    assert texts(document)[2] == "| ID | 名称 |\n| --- | --- |\n| S-01 | 予約\\|登録 |\n| S-02 | 取消<br>確認 |"


def test_values_are_shown_as_excel_shows_them(tmp_path: Path, parse: Parse) -> None:
    values = [10.0, 0.1 + 0.2, 0.999, 12345, date(2024, 5, 1), datetime(2024, 5, 1, 9, 30), time(9, 30), True]  # noqa: DTZ001
    source = workbook_of([["値"] * len(values), values])
    sheet = source["一覧"]
    sheet["C2"].number_format = "0.0%"
    sheet["D2"].number_format = "#,##0"

    table = parse(save(source, tmp_path)).markdown

    assert "| 10 | 0.3 | 99.9% | 12,345 | 2024-05-01 | 2024-05-01 9:30:00 | 9:30:00 | TRUE |" in table


def test_hidden_sheets_rows_and_columns_stay_out_with_a_notice(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["項目", "社外秘", "値"], ["甲", "秘一", "1"], ["乙", "秘二", "2"]])
    source["一覧"].column_dimensions["B"].hidden = True
    source["一覧"].row_dimensions[3].hidden = True
    source.create_sheet("隠し").append(["秘三"])
    source["隠し"].sheet_state = "hidden"

    document = parse(save(source, tmp_path))

    assert "秘" not in document.markdown
    assert "乙" not in document.markdown
    assert [notice.code for notice in document.notices] == ["hidden_sheets", "hidden_cells"]


def test_merged_cells_on_graph_paper_give_narrow_tables(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([], title="方眼紙")
    sheet = source["方眼紙"]
    for row, texts_of_row in [(2, ["No.", "項目", "説明"]), (3, ["1", "会員番号", "8桁"]), (5, ["2", "氏名", "全角"])]:
        for column, text in zip((2, 5, 20), texts_of_row, strict=True):
            sheet.cell(row, column, text)
            sheet.merge_cells(start_row=row, end_row=row + (row > 2), start_column=column, end_column=column + 2)

    document = parse(save(source, tmp_path))

    assert texts(document)[1] == (
        "| No. | 項目 | 説明 |\n| --- | --- | --- |\n| 1 | 会員番号 | 8桁 |\n| 2 | 氏名 | 全角 |"
    )
    assert document.blocks[1].cell == "B2:T5"


def test_indented_single_cells_are_lines_of_text(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["(1) 受付"], [None, "窓口で受け付ける。"], [None, None, "受付票を渡す。"]])

    assert texts(parse(save(source, tmp_path)))[1:] == ["(1) 受付\n窓口で受け付ける。\n受付票を渡す。"]


def test_numbered_lines_of_a_sheet_are_headings_but_not_in_its_contents(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["2.1.", "処理概要"], ["夜間に動く。"], [], ["2.1.1. 入力"], ["ファイル"]], title="2. 処理")
    source.create_sheet("目次").append(["2.1. 処理概要"])

    document = parse(save(source, tmp_path))

    sections = build_sections(document.markdown, document.blocks)
    assert [(section.level, section.title) for section in sections] == [
        (2, "2. 処理"),
        (3, "2.1. 処理概要"),
        (4, "2.1.1. 入力"),
        (2, "目次"),
    ]


def test_a_stray_cell_in_the_last_corner_costs_nothing(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["甲"]])
    source["一覧"]["XFD1048576"] = "端"

    document = parse(save(source, tmp_path))

    assert [block.cell for block in document.blocks] == [None, "A1", "XFD1048576"]


def test_too_many_cells_are_refused_early(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([[1, 2, 3]] * 50)

    with pytest.raises(ParseError) as caught:
        parse(save(source, tmp_path), max_cells=100)
    assert caught.value.code == "too_many_cells"


def test_text_boxes_and_pictures_stand_where_they_float(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["上の文"], [], [], [], ["下の文"]])
    path = save(source, tmp_path)
    add_text_box(path, row=2, text="枠の中の文")

    document = parse(path)

    assert texts(document)[1:] == ["上の文", "枠の中の文", "下の文"]
    assert [block.cell for block in document.blocks] == [None, "A1", "B3", "A5"]


def add_text_box(path: Path, *, row: int, text: str) -> None:
    """Add a drawing with one text box to the first sheet; openpyxl can't."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/drawings/drawing1.xml"] = (
        '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:twoCellAnchor>'
        f"<xdr:from><xdr:col>1</xdr:col><xdr:row>{row}</xdr:row></xdr:from>"
        f"<xdr:sp><xdr:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
        "</xdr:twoCellAnchor></xdr:wsDr>"
    ).encode()
    parts["xl/worksheets/_rels/sheet1.xml.rels"] = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing" '
        b'Target="../drawings/drawing1.xml"/></Relationships>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_number_of_one_part_makes_a_heading_but_not_in_a_list(tmp_path: Path, parse: Parse) -> None:
    rows = [["1. 概要"], ["1.1. 1枚の場合"], ["定める。"], [], ["1. 受付"], ["2. 審査"], [], ["2. 画面：一覧を示す"]]
    source = workbook_of([*rows, [], ["2．", "入力"], ["値を入れる。"]], title="設計")

    document = parse(save(source, tmp_path))

    sections = build_sections(document.markdown, document.blocks)
    assert [(section.level, section.title) for section in sections] == [
        (2, "設計"),
        (3, "1. 概要"),
        (4, "1.1. 1枚の場合"),
        (3, "2． 入力"),
    ]


def test_cell_comments_are_counted_and_kept_out(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["応答時間"]])
    source["一覧"]["A1"].comment = Comment("根拠を確認する", "査読者")

    document = parse(save(source, tmp_path))

    assert "根拠" not in document.markdown
    assert [notice.code for notice in document.notices] == ["comments_left_out"]


def test_the_words_of_a_chart_stand_where_it_floats(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["月", "件数"], ["4月", 10], ["5月", 20]])
    sheet: Any = source["一覧"]
    chart = BarChart()
    chart.title = "月ごとの予約"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "D2")

    document = parse(save(source, tmp_path))

    (figure,) = [block for block in document.blocks if block.kind is BlockKind.FIGURE]
    assert document.markdown[figure.start : figure.end].startswith("![月ごとの予約")
    assert figure.cell == "D2"


def test_formulas_that_were_never_computed_are_kept_with_a_notice(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["単価", "数量", "金額"], [100, 3, "=A2*B2"], [200, 1, "=A3*B3"]])

    document = parse(save(source, tmp_path))

    assert "| 100 | 3 | =A2*B2 |" in document.markdown
    assert [(notice.code, notice.en[:3]) for notice in document.notices] == [("formulas_without_results", "2 f")]


def test_tables_side_by_side_are_two_tables(tmp_path: Path, parse: Parse) -> None:
    rows = [
        ["表1 画面", None, None, "表2 帳票"],
        ["ID", "名称", None, "ID", "用紙"],
        ["S-01", "登録", None, "R-01", "A4"],
    ]
    source = workbook_of([*rows, ["S-02", "取消"], [], ["※ 別紙による。"]])

    document = parse(save(source, tmp_path))

    assert [(block.kind, block.cell) for block in document.blocks[1:]] == [
        (BlockKind.CAPTION, "A1"),
        (BlockKind.TABLE, "A2:B4"),
        (BlockKind.CAPTION, "D1"),
        (BlockKind.TABLE, "D2:E3"),
        (BlockKind.PARAGRAPH, "A6"),
    ]


def test_a_comparison_with_a_free_column_stays_one_table(tmp_path: Path, parse: Parse) -> None:
    rows = [
        ["項目", "当市", None, "国", "県"],
        ["公示日", "公示日", None, None, "掲載日"],
        ["件名", "件名", None, "件名", None],
    ]

    document = parse(save(workbook_of([*rows, ["数量", "数量"]]), tmp_path))

    assert [block.cell for block in document.blocks] == [None, "A1:E4"]


def test_a_head_of_two_rows_names_each_column_from_the_top_down(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["ID", "権限", None, "備考"], [None, "職員", "市民"], ["F-01", "○", "×", "登録"]])
    for merged in ("A1:A2", "B1:C1", "D1:D2"):
        source["一覧"].merge_cells(merged)

    table = texts(parse(save(source, tmp_path)), BlockKind.TABLE)

    assert table == ["| ID | 権限 / 職員 | 権限 / 市民 | 備考 |\n| --- | --- | --- | --- |\n| F-01 | ○ | × | 登録 |"]


def test_a_form_on_graph_paper_has_no_head_of_two_rows(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([], title="様式")
    sheet = source["様式"]
    for row, cells in enumerate([{"A": "氏名", "F": "山田"}, {"A": "住所", "F": "〒100-0001", "J": "東京都"}], 1):
        for column, text in cells.items():
            sheet[f"{column}{row}"] = text
    for merged in ("A1:E1", "F1:Z1", "A2:E2", "F2:I2", "J2:Z2"):
        sheet.merge_cells(merged)

    assert "氏名 /" not in parse(save(source, tmp_path)).markdown


def test_empty_cells_with_borders_cost_less_than_filled_ones(tmp_path: Path, parse: Parse) -> None:
    source = workbook_of([["題名"]])
    sheet = source["一覧"]
    for row in range(2, 22):
        for column in range(1, 11):
            sheet.cell(row, column).border = Border(left=Side(style="thin"))

    assert texts(parse(save(source, tmp_path), max_cells=100))[1:] == ["題名"]
    with pytest.raises(ParseError):
        parse(save(source, tmp_path), max_cells=30)


def test_rows_with_few_cells_stand_under_the_names_of_their_columns(tmp_path: Path, parse: Parse) -> None:
    head = ["No", "分類", "内容", "検討事項", "難易度", "判定"]
    rows = [[1, "可用性", None, None, "高", "採用"], *([number, None, None, None, "-"] for number in range(2, 9))]
    source = workbook_of([["要件の一覧", None, "（機能面以外）"], head, *rows])

    document = parse(save(source, tmp_path))

    table = next(text for text in texts(document) if text.startswith("|"))
    assert table.splitlines()[0] == "| No | 分類 | 内容 | 検討事項 | 難易度 | 判定 |"
    assert len(table.splitlines()) == 2 + len(rows)


def test_members_below_a_merged_name_stay_in_its_table(tmp_path: Path, parse: Parse) -> None:
    members = ([None, name] for name in ("氏名", "住所", "電話", "登録日"))
    rows = [["テーブル名", "項目"], ["利用者", "番号"], *members, ["予約", "番号"]]

    document = parse(save(workbook_of(rows), tmp_path))

    assert texts(document)[1].endswith("|  | 電話 |\n|  | 登録日 |\n| 予約 | 番号 |")


def test_a_sentence_or_a_number_above_heads_no_table(tmp_path: Path, parse: Parse) -> None:
    rows = [["1", "はじめに"], [None, "本書の目的"], [None, "対象"], [None, "前提"], [None, "参考"]]

    document = parse(save(workbook_of(rows), tmp_path))

    assert all(block.kind is not BlockKind.TABLE for block in document.blocks)
