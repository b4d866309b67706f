"""A reviewed workbook comes back with notes on its cells, and otherwise as it was."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import Path

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment

from review.report import build_report
from review.runs.reviews import review_facts
from tests.review.report.test_annotated import OPERATOR, review_file

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def workbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "機能一覧"
    sheet.append(["要件ID", "機能", "応答時間"])
    sheet.append(["FR-001", "検索 | 必要に応じて適切に対応する。", "できるだけ早く"])
    sheet.append(["FR-002", "予約は TBD とする。\n必要に応じて見直す。", "できるだけ早く"])
    sheet["B2"].comment = Comment("田中: 確認済み", "田中")
    other = book.create_sheet("性能")
    other.append(["項目", "値"])
    other.append(["件数", 3])
    chart = BarChart()
    chart.add_data(Reference(other, min_col=2, min_row=2, max_row=2))
    other.add_chart(chart, "D5")
    path = tmp_path_factory.mktemp("book") / "機能設計.xlsx"
    book.save(path)
    return path


def test_each_finding_is_a_note_on_the_cell_with_its_words(workbook):
    review = review_file(workbook)
    report = build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated", language="ja")
    book = openpyxl.load_workbook(BytesIO(report.content))
    notes = [
        (str(cell.value or ""), cell.comment.text)
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.comment
    ]
    checked = 0
    for finding in review_facts(review, everything=True).findings:
        own = [(value, text) for value, text in notes if finding.id in text]
        assert own, finding.message
        for one in finding.evidence:
            if one.verified and one.quote in ("必要に応じて", "できるだけ", "TBD", "適切に"):
                assert [value for value, _text in own if one.quote in value]
                checked += 1
    assert checked
    assert re.fullmatch(r"指摘付き文書_.+_v1_\d{8}\.xlsx", report.filename)


def test_own_notes_charts_and_cells_stay(workbook):
    review = review_file(workbook)
    content = build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated").content
    before, after = zipfile.ZipFile(workbook), zipfile.ZipFile(BytesIO(content))
    changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
    assert not {name for name in changed if "chart" in name or "sharedStrings" in name or "styles" in name}
    note = openpyxl.load_workbook(BytesIO(content))["機能一覧"]["B2"].comment
    assert note.text.startswith("田中: 確認済み\n\n【指摘")
    books = [openpyxl.load_workbook(source) for source in (workbook, BytesIO(content))]
    values = [[[list(row) for row in sheet.values] for sheet in book] for book in books]
    assert values[0] == values[1]
    again = build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated").content
    assert again == content
