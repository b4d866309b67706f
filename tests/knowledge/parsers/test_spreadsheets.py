"""Workbooks of the formats xls, xlsb and ods say what their xlsx twins say, in the same cells."""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest

from knowledge.parsers import ParseError, ParseLimits, parse_isolated
from knowledge.parsers.registry import parse_file
from knowledge.types.documents import BlockKind, ParsedDocument
from tests.knowledge.parsers.conftest import assert_valid, texts
from tests.knowledge.parsers.containers import write_container
from tests.knowledge.parsers.workbook_writers import CellError, ods_row, write_ods, write_xls, write_xlsb

LIMITS = ParseLimits()
WRITERS = {"xls": write_xls, "xlsb": write_xlsb}
ROWS: list[list[str | float | None]] = [
    ["機能ID", "日付", "件数"],
    ["F-001", 45383.0, 1200.0],
    ["F-002", 45384.0, None],
    ["F-003", 45385.0, 3.0],
]
# LibreOffice writes the system's own date formats out, with two digits for month and day and the day of the week.
_ZEROS, _WEEKDAY = re.compile(r"(?<=[/年月])0"), re.compile(r"（[月火水木金土日]曜日）")


def parsed(folder: Path, name: str, content: bytes, **limits: int) -> ParsedDocument:
    path = folder / name
    path.write_bytes(content)
    return parse_file(path, filename=name, limits=ParseLimits(**limits))


@pytest.mark.parametrize("format_name", WRITERS)
def test_numbers_and_dates_are_shown_as_their_formats_say(tmp_path: Path, format_name: str) -> None:
    content = WRITERS[format_name](ROWS, format_code='[$-411]ggge"年"m"月"d"日"')

    document = parsed(tmp_path, f"一覧.{format_name}", content)

    assert_valid(document)
    assert document.format == format_name
    assert "| F-001 | 令和6年4月1日 |" in document.markdown
    (table,) = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    assert (table.sheet, table.cell) == ("機能一覧", "A1:C4")


@pytest.mark.parametrize("format_name", WRITERS)
def test_merged_cells_hold_a_head_together_and_hidden_rows_stay_out(tmp_path: Path, format_name: str) -> None:
    rows = [["機能", None, "備考"], ["ID", "名称", None], ["F-1", "検索", "あり"], ["F-2", "登録", "なし"]]
    merged = [(0, 0, 0, 1), (0, 2, 1, 2)]

    document = parsed(tmp_path, f"a.{format_name}", WRITERS[format_name](rows, merged=merged, hidden_rows=[3]))

    assert "| 機能 / ID | 機能 / 名称 | 備考 |" in document.markdown
    assert "F-2" not in document.markdown
    assert [notice.code for notice in document.notices] == ["hidden_cells"]


@pytest.mark.parametrize("format_name", WRITERS)
def test_errors_are_shown_whatever_the_format_of_their_cell(tmp_path: Path, format_name: str) -> None:
    rows: list[list[str | float | CellError | None]] = [
        ["項目", "値", "割合"],
        ["検索", CellError(0x2A), CellError(0x07, is_result=True)],
        ["登録", CellError(0x17), 3.0],
    ]

    document = parsed(tmp_path, f"a.{format_name}", WRITERS[format_name](rows, format_code=";;;"))

    assert "| 検索 | #N/A | #DIV/0! |" in document.markdown
    assert "| 登録 | #REF! |" in document.markdown


def test_an_ods_shows_its_texts_with_merged_repeated_and_hidden_parts(tmp_path: Path) -> None:
    body = (
        '<table:table table:name="一覧"><table:table-column table:number-columns-repeated="2"/>'
        '<table:table-column table:visibility="collapse"/>'
        '<table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>機能</text:p></table:table-cell>'
        "<table:covered-table-cell/><table:table-cell><text:p>隠し</text:p></table:table-cell></table:table-row>"
        + ods_row("F-1", "一<text:s text:c='2'/>二")
        + ods_row("F-2", "あり", attributes='table:number-rows-repeated="2"')
        + ods_row(attributes='table:number-rows-repeated="1048570"')
        + "</table:table>"
    )

    document = parsed(tmp_path, "a.ods", write_ods(body))

    assert_valid(document)
    assert texts(document, BlockKind.TABLE)[0].splitlines()[-2:] == ["| F-2 | あり |"] * 2
    assert "一 二" in document.markdown
    assert [notice.code for notice in document.notices] == ["hidden_cells"]


@pytest.mark.parametrize("repeated", ['rows-repeated="1048576"', 'columns-repeated="16384"'])
def test_a_cell_that_is_repeated_without_end_is_refused(tmp_path: Path, repeated: str) -> None:
    row = f"<table:table-row table:number-{repeated}>" if repeated.startswith("rows") else "<table:table-row>"
    cell = f"<table:table-cell table:number-{repeated}>" if repeated.startswith("columns") else "<table:table-cell>"
    body = f'<table:table table:name="a">{row}{cell}<text:p>あ</text:p></table:table-cell></table:table-row>'
    with pytest.raises(ParseError, match="too_many_cells"):
        parsed(tmp_path, "a.ods", write_ods(body + "</table:table>"), max_cells=10_000)


@pytest.mark.parametrize("format_name", WRITERS)
def test_too_many_cells_are_refused(tmp_path: Path, format_name: str) -> None:
    with pytest.raises(ParseError, match="too_many_cells"):
        parsed(tmp_path, f"a.{format_name}", WRITERS[format_name]([["あ"] * 20] * 20), max_cells=100)


def test_a_container_that_only_has_the_name_of_a_workbook_ends_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.xls"
    for content in (b"\x09\x08\x10\x00\x00\x06" + bytes(40), bytes(range(256)) * 40):
        path.write_bytes(write_container({"Workbook": content}))
        with pytest.raises(ParseError) as refused:
            parse_isolated(path, filename="a.xls", limits=LIMITS)
        assert refused.value.code in {"corrupted", "no_content", "parser_crashed"}


def sample_workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "機能一覧"
    sheet.append(["機能", None, "金額", "公開日", "比率"])
    sheet.append(["ID", "名称", None, None, None])
    sheet.merge_cells("A1:B1")
    formats = ("#,##0", "yyyy/m/d", "0.0%")
    for number in range(1, 41):
        day = datetime.date(2024, 4, 1) + datetime.timedelta(days=number)
        sheet.append([f"F-{number:03d}", f"機能{number}", number * 1234, day, number / 100])
        for column, code in zip("CDE", formats, strict=True):
            sheet[f"{column}{number + 2}"].number_format = code
    sheet.row_dimensions[10].hidden = True
    other = book.create_sheet("画面")
    other["B2"], other["C2"], other["B3"], other["C3"] = "項目", "内容", "対応", True
    book.create_sheet("控え").sheet_state = "hidden"
    book.save(path)


_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Setup/L10N">
<prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>ja-JP</value></prop></item></oor:items>"""


def converted(paths: list[Path], target: str, folder: Path) -> list[Path]:
    profile = folder / "profile" / "user"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "registrymodifications.xcu").write_text(_PROFILE)
    command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", target]
    subprocess.run([*command, "--outdir", str(folder), *map(str, paths)], check=True, capture_output=True, timeout=300)
    return [folder / f"{path.stem}.{target}" for path in paths]


needs_libreoffice = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")


@needs_libreoffice
@pytest.mark.parametrize("target", ["xls", "ods"])
def test_a_twin_has_the_same_text_in_the_same_cells(tmp_path: Path, target: str) -> None:
    original = tmp_path / "一覧.xlsx"
    sample_workbook(original)
    (twin,) = converted([original], target, tmp_path)

    first, second = (parse_file(path, filename=path.name, limits=LIMITS) for path in (original, twin))

    assert second.markdown == first.markdown
    assert list(cited(second)) == list(cited(first))
    assert {notice.code for notice in second.notices} == {notice.code for notice in first.notices}


def workbook_of_formulas(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "判定"
    for row in (
        ["項目", "式", "値"],
        ["公開", '=IF(C2>0,"公開可能","公開不可")', 3],
        ["空", '=IF(C2>9,"公開","")', "なし"],
        ["金額", "=C2*1234.5", 1],
        ["期限", "=C5+1", datetime.date(2024, 4, 1)],
        ["開始", datetime.time(9, 30), datetime.datetime(2024, 12, 31, 18, 5)],  # noqa: DTZ001
        ["誤り", "=NA()", "#N/A"],
        ["割合", "=C2/0", "#DIV/0!"],
        ["対象", "=C2>9", True],
        ["長文", '=REPT("設計",200)', "第一行\n第二行"],
        ["書式", 12345, 0.1234],
        ["区分", "結合", None],
    ):
        sheet.append(row)
    sheet.merge_cells("B12:C13")
    for place, code in {
        "B4": "#,##0.0",
        "B5": 'yyyy"年"m"月"d"日"',
        "C5": '[$-411]ggge"年"m"月"d"日"',
        "B6": "h:mm",
        "C6": "yyyy-mm-dd hh:mm",
        "B11": '#,##0"円"',
        "C11": "0.0%",
    }.items():
        sheet[place].number_format = code
    book.save(path)


@needs_libreoffice
def test_each_cell_of_a_twin_is_the_same_with_formulas_and_errors(tmp_path: Path) -> None:
    formulas = tmp_path / "formulas"
    formulas.mkdir()
    workbook_of_formulas(formulas / "判定.xlsx")
    (original,) = converted([formulas / "判定.xlsx"], "xlsx", tmp_path)  # with the results of the formulas
    (twin,) = converted([formulas / "判定.xlsx"], "xls", tmp_path)

    first, second = (parse_file(path, filename=path.name, limits=LIMITS) for path in (original, twin))

    assert second.markdown == first.markdown
    assert list(cited(second)) == list(cited(first))
    for shown in (
        "公開可能",
        "3,703.5",
        "2024年4月2日",
        "令和6年4月1日",
        "#N/A",
        "#DIV/0!",
        "FALSE",
        "設計" * 200,
        "12,345円",
    ):
        assert shown in second.markdown


def cited(document: ParsedDocument) -> Iterator[tuple[str | None, str | None, str | None, str]]:
    """Where each block is, and what it says apart from how LibreOffice writes the system's date formats."""
    for block in document.blocks:
        text = _WEEKDAY.sub("", _ZEROS.sub("", document.markdown[block.start : block.end]))
        yield block.sheet, block.cell, block.rows, text


@needs_libreoffice
@pytest.mark.long
def test_the_cells_of_real_workbooks_are_those_of_their_twins(tmp_path: Path, test_data: Path) -> None:
    paths = sorted((test_data / "documents").glob("*.xlsx"))
    originals = {path.stem: list(cited(parse_file(path, filename=path.name, limits=LIMITS))) for path in paths}
    compared = 0
    for twin in converted(paths, "ods", tmp_path):
        found = list(cited(parse_file(twin, filename=twin.name, limits=LIMITS)))
        # Shapes of an ods are counted, not read.
        wanted = [row for row in originals[twin.stem] if row in set(found)]
        assert [row for row in found if row not in set(originals[twin.stem])] == [], twin.name
        compared += len(wanted)
    assert compared >= 300
