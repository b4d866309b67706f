"""A curator's edits in a spreadsheet come back right, or are refused row by row with reasons."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput
from hub.rest.errors import InvalidFields
from review.curation import master_files, master_versions
from review.masters.files import write_csv
from review.masters.listing import content_of, get_checklist, item_versions_of, version_in_force
from review.masters.table import COLUMNS
from review.models import CheckItemVersion, CheckListVersion, CheckType, MasterStatus, Priority
from tests.factories import new_collection, principal_with

pytestmark = pytest.mark.django_db
COLUMN = {column.field: at for at, column in enumerate(COLUMNS, 1)}


def exported() -> Workbook:
    return load_workbook(io.BytesIO(master_files.export_checklist(local_operator(), "basic-design")))


def saved(book: Workbook) -> bytes:
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def preview(content: bytes, filename: str = "master.xlsx"):
    return master_files.preview_import(
        principal=local_operator(), code="basic-design", filename=filename, content=content
    )


def edited(edit: Callable[[Worksheet], object]) -> bytes:
    book = exported()
    edit(book.worksheets[0])
    return saved(book)


def row_of(sheet: Worksheet, code: str) -> int:
    return next(row for row in range(2, sheet.max_row + 1) if sheet.cell(row, 1).value == code)


def kinds(found) -> dict[str, str]:
    return {change.code: change.kind.value for change in found.changes}


@pytest.mark.parametrize("code", ["basic-design", "test-plan"])
@pytest.mark.parametrize("as_csv", [False, True])
def test_what_is_exported_comes_back_without_a_change(code: str, as_csv: bool) -> None:
    content = master_files.export_checklist(local_operator(), code, as_csv=as_csv)
    filename = "master.csv" if as_csv else "master.xlsx"
    found = master_files.preview_import(principal=local_operator(), code=code, filename=filename, content=content)
    assert found.problems == ()
    assert found.changes == ()
    assert len(found.items) == len(item_versions_of(version_in_force(get_checklist(code))))


def test_the_workbook_names_its_columns_and_offers_the_choices() -> None:
    sheet = exported().worksheets[0]
    assert [cell.value for cell in sheet[1]][:3] == ["項目コード", "分類", "名称（日本語）"]
    assert sheet.cell(row_of(sheet, "BD-B01"), COLUMN["priority"]).value == str(Priority.CRITICAL.label)
    assert len(sheet.data_validations.dataValidation) == 3


def test_edits_of_every_kind_come_back_as_one_draft() -> None:
    def edit(sheet: Worksheet) -> None:
        changed = row_of(sheet, "BD-C02")
        sheet.cell(changed, 1).value = " ＢＤ－Ｃ０２　"
        sheet.cell(changed, COLUMN["name_ja"]).value = "  曖昧な表現の多用 "
        sheet.cell(changed, COLUMN["terms"]).value = "サーバ、サーバ機 → サーバー"
        sheet.delete_rows(row_of(sheet, "BD-A06"))
        new = sheet.max_row + 1
        for field, value in {
            "code": "BD-Z０１",
            "name_ja": "連絡先",
            "check_type": str(CheckType.COVERAGE.label),
            "priority": "高",
            "required_elements": "連絡先 [体制|運用] = 連絡先|電話",
            "patterns": "禁止: TBD|未定\n必須: 第[0-9]+版",
            "threshold": "８０％",
        }.items():
            sheet.cell(new, COLUMN[field]).value = value

    content = edited(edit)
    found = preview(content)
    assert found.problems == ()
    assert kinds(found) == {"BD-C02": "changed", "BD-Z01": "added", "BD-A06": "removed"}
    changed = next(change for change in found.changes if change.code == "BD-C02")
    assert {each.field for each in changed.fields} == {"name_ja", "criteria.terms"}

    made = master_files.import_checklist(
        principal=local_operator(), code="basic-design", filename="m.xlsx", content=content, reason="年次見直し"
    )
    assert (made.status, made.reason) == (MasterStatus.DRAFT, "年次見直し")
    stored = {version.item.code: content_of(version) for version in item_versions_of(made)}
    assert stored["BD-C02"].name_ja == "曖昧な表現の多用"
    assert stored["BD-Z01"].criteria == {
        "required_elements": [{"name": "連絡先", "patterns": ["連絡先|電話"], "sections": ["体制|運用"]}],
        "patterns": [{"pattern": "TBD|未定", "must_occur": False}, {"pattern": "第[0-9]+版", "must_occur": True}],
        "threshold": 0.8,
    }
    assert "BD-A06" not in stored
    assert version_in_force(get_checklist("basic-design")) != made


def test_rows_and_columns_may_be_put_into_another_order() -> None:
    sheet = exported().worksheets[0]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    book = Workbook()
    for row in (rows[0], *rows[2:], rows[1]):
        book.worksheets[0].append(list(reversed(row)))
    found = preview(saved(book))
    assert found.problems == ()
    assert kinds(found) == {rows[1][0]: "moved"}


def test_a_merged_category_counts_for_each_row_and_a_merged_code_is_refused() -> None:
    def merge(column: str) -> Callable[[Worksheet], object]:
        letter = chr(ord("A") + COLUMN[column] - 1)
        return lambda sheet: sheet.merge_cells(f"{letter}2:{letter}4")

    assert preview(edited(merge("category"))).changes == ()
    refused = preview(edited(merge("code")))
    assert [problem.row for problem in refused.problems] == [3, 4]
    assert "コード" in refused.problems[0].column


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("code", "BD-A02", "3"),
        ("code", "設計-1", "設計-1"),
        ("priority", "最高", "最高"),
        ("rules", "no.such_rule", "no.such_rule"),
        ("rules", 'style.sentence_length {"max": }', "JSON"),
        ("rules", 'style.sentence_length {"most": 3}', "most"),
        ("patterns", "禁止: (a+)+b", "繰り返し"),
        ("patterns", "TBD", "必須"),
        ("terms", "サーバ", "→"),
        ("threshold", "高め", "0 から 1"),
        ("name_ja", "", "記入"),
        ("name_ja", "#REF!", "#REF!"),
    ],
)
def test_a_wrong_cell_is_refused_with_its_row_and_nothing_is_stored(field: str, value: str, said: str) -> None:
    target = "BD-B01"

    def edit(sheet: Worksheet) -> None:
        cell = sheet.cell(row_of(sheet, target), COLUMN[field])
        cell.value = value
        cell.data_type = "s"

    content = edited(edit)
    row = row_of(exported().worksheets[0], target)
    (problem,) = [each for each in preview(content).problems if each.row == row]
    assert said in f"{problem.column} {problem.message}"
    before = (CheckItemVersion.objects.count(), CheckListVersion.objects.count())
    with pytest.raises(InvalidFields) as refusal:
        master_files.import_checklist(
            principal=local_operator(), code="basic-design", filename="m.xlsx", content=content
        )
    assert refusal.value.errors[0]["field"].startswith(f"row {row}")
    assert (CheckItemVersion.objects.count(), CheckListVersion.objects.count()) == before


@pytest.mark.parametrize(
    ("filename", "content"),
    [("m.xlsx", b"no workbook"), ("m.csv", "分類,名称\nA,B\n".encode()), ("m.csv", b""), ("m.xlsx", b"PK\x03\x04")],
)
def test_files_that_are_no_check_master_are_told(filename: str, content: bytes) -> None:
    assert [problem.row for problem in preview(content, filename).problems] == [1]


def test_a_csv_from_a_japanese_excel_is_read_and_formulas_are_kept_out() -> None:
    text = master_files.export_checklist(local_operator(), "basic-design", as_csv=True).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    rows[1][COLUMN["name_ja"] - 1] = "＝版の管理"
    target = io.StringIO()
    csv.writer(target).writerows(rows)
    found = preview(target.getvalue().encode("cp932", "ignore"), "master.csv")
    assert found.problems == ()
    assert kinds(found)["BD-A01"] == "changed"


def test_a_control_character_hides_no_formula_in_a_csv() -> None:
    (item, *_) = item_versions_of(version_in_force(get_checklist("basic-design")))
    written = write_csv([replace(content_of(item), name_ja="\x01=1+1")]).decode("utf-8-sig")

    assert next(iter(csv.DictReader(io.StringIO(written))))[COLUMNS[COLUMN["name_ja"] - 1].title] == "'=1+1"


def test_importing_nothing_new_is_said_and_readers_import_nothing() -> None:
    content = saved(exported())
    with pytest.raises(InvalidInput) as refusal:
        master_files.import_checklist(
            principal=local_operator(), code="basic-design", filename="m.xlsx", content=content
        )
    assert refusal.value.error_code == "nothing_changed"
    reader = principal_with(Role.READER, new_collection())
    with pytest.raises(Forbidden):
        master_files.preview_import(principal=reader, code="basic-design", filename="m.xlsx", content=content)


def test_a_file_written_from_an_older_version_says_so() -> None:
    content = edited(lambda sheet: sheet.delete_rows(2))
    version = version_in_force(get_checklist("basic-design"))
    assert version is not None
    assert preview(content).newer is None
    newer = master_versions.copy_checklist_version(principal=local_operator(), version=version)
    assert preview(content).newer == newer.number
    given: dict[str, Any] = {
        "principal": local_operator(), "code": "basic-design", "filename": "m.xlsx", "content": content
    }  # fmt: skip
    for said in (None, version.number):
        with pytest.raises(Conflict, match=f"v{newer.number}") as refused:
            master_files.import_checklist(**given, replaces=said)
        assert refused.value.error_code == "base_overtaken"
    assert CheckListVersion.objects.latest("pk") == newer
    made = master_files.import_checklist(**given, replaces=newer.number, publish=True)
    assert version_in_force(version.checklist) == made
