"""The 指摘管理表 goes out, people fill it in, and their answers come back."""

from __future__ import annotations

from datetime import date
from io import BytesIO

import openpyxl
import pytest
from django.utils import translation

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, InvalidInput, NotFound
from review.models import Finding, Review, Triage
from review.report import build_report
from review.report.answers import apply_answers, preview_answers
from review.runs import execution
from review.runs.reviews import get_review, review_facts, start_review
from review.triage.decisions import Answer, TriageChange, triage_finding
from tests.factories import principal_with

pytestmark = pytest.mark.django_db
OPERATOR = local_operator()
FIRST_ROW = 5
PLAN, TEXT, BY, ON, STATE, UNTIL, DUE = range(8, 15)


class Table:
    """The exported table, opened as in a spreadsheet program."""

    def __init__(self, review: Review, language: str = "ja") -> None:
        report = build_report(principal=OPERATOR, review_id=review.public_id, report_format="xlsx", language=language)
        self.book = openpyxl.load_workbook(BytesIO(report.content))
        self.sheet = self.book.worksheets[0]

    def write(self, row: int, **cells) -> Table:
        for name, value in cells.items():
            self.sheet.cell(FIRST_ROW + row, globals()[name.upper()], value)
        return self

    def number(self, row: int) -> int:
        """The number in a row: sure findings stand first, numbers count in the document's order."""
        value = self.sheet.cell(FIRST_ROW + row, 1).value
        assert isinstance(value, int)
        return value

    def bytes(self) -> bytes:
        target = BytesIO()
        self.book.save(target)
        return target.getvalue()


def in_japanese(state: str) -> str:
    with translation.override("ja"):
        return str(Triage(state).label)


def numbered(review: Review, number: int) -> Finding:
    shown = review_facts(get_review(OPERATOR, review.public_id), everything=True)
    return Finding.objects.select_related("answer").get(public_id=shown.findings[number - 1].id)


def test_answers_are_shown_first_and_then_read_in(review):
    table = Table(review)
    table.write(
        0, plan="修正する", text="第1.3版で直しました", by="山田", on="令和8年3月31日", state=in_japanese("fixed")
    )
    table.write(1, text="図1のとおり", by="山田", on=date(2026, 3, 31), state="ｆｉｘｅｄ")
    content = table.bytes()
    found = preview_answers(OPERATOR, review.public_id, content)
    assert [change.number for change in found.changes] == [table.number(0), table.number(1)]
    assert not found.errors
    assert numbered(review, table.number(0)).triage == "open"
    apply_answers(OPERATOR, review.public_id, content)
    first = numbered(review, table.number(0))
    assert (first.triage, first.triage_reason) == ("fixed", "第1.3版で直しました")
    assert (first.answer.plan, first.answer.answered_by, first.answer.answered_on) == (
        "修正する", "山田", date(2026, 3, 31),
    )  # fmt: skip
    assert numbered(review, table.number(1)).triage == "fixed"
    assert AuditEvent.objects.filter(action="ANSWERS_IMPORT").count() == 1
    assert preview_answers(OPERATOR, review.public_id, content).changes == []


def test_an_untouched_table_changes_nothing_in_either_language(review):
    triage_finding(
        principal=OPERATOR,
        finding_id=numbered(review, 1).public_id,
        change=TriageChange(triage="accepted", answer=Answer(plan="-", text="=はい")),
    )
    for language in ("ja", "en"):
        found = preview_answers(OPERATOR, review.public_id, Table(review, language).bytes())
        assert (list(found.changes), list(found.errors)) == ([], [])
        assert found.unchanged > 3


def test_sorted_rows_and_moved_columns_are_found_again(review):
    table = Table(review).write(0, text="一件目の回答")
    sheet = table.sheet
    rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=FIRST_ROW)]
    for offset, values in enumerate(reversed(rows)):
        for column, value in enumerate(values, 1):
            sheet.cell(FIRST_ROW + offset, column, value)
    sheet.insert_cols(1)
    apply_answers(OPERATOR, review.public_id, table.bytes())
    assert numbered(review, 1).answer.text == "一件目の回答"


@pytest.mark.parametrize(
    ("cells", "word"),
    [
        ({"state": "だいたい終わり"}, "だいたい終わり"),
        ({"on": "近日中"}, "近日中"),
        ({"on": "2026/2/30"}, "2026/2/30"),
        ({"state": "waived", "text": "次期で対応"}, ""),
        ({"state": "waived", "until": "2099/1/1"}, ""),
        ({"state": "waived", "until": "2020/1/1", "text": "過去"}, ""),
        ({"by": "山" * 151}, "150"),
    ],
)
def test_a_row_that_can_not_be_read_is_named_and_the_others_are_read_in(review, cells, word):
    table = Table(review).write(0, **cells).write(1, text="問題のない回答")
    found = apply_answers(OPERATOR, review.public_id, table.bytes())
    assert [error.row for error in found.errors] == [FIRST_ROW]
    assert word in found.errors[0].message
    assert numbered(review, table.number(0)).revision == 0
    assert numbered(review, table.number(1)).answer.text == "問題のない回答"


def test_a_column_that_was_taken_out_leaves_what_is_stored(review):
    first = numbered(review, 1)
    triage_finding(
        principal=OPERATOR,
        finding_id=first.public_id,
        change=TriageChange(triage="accepted", answer=Answer(plan="修正する")),
    )
    table = Table(review).write(0, text="直しました")
    table.sheet.delete_cols(STATE)
    table.sheet.delete_cols(PLAN)
    found = apply_answers(OPERATOR, review.public_id, table.bytes())
    assert [list(change.fields) for change in found.changes] == [["text"]]
    first = numbered(review, 1)
    assert (first.triage, first.answer.plan, first.answer.text) == ("accepted", "修正する", "直しました")


def test_rows_that_were_numbered_anew_are_refused_and_name_the_old_number(review):
    table = Table(review)
    rows = [[cell.value for cell in row] for row in table.sheet.iter_rows(min_row=FIRST_ROW)]
    for offset, values in enumerate(reversed(rows)):  # sorted otherwise, then numbered from 1 again
        for column, value in enumerate([offset + 1, *values[1:]], 1):
            table.sheet.cell(FIRST_ROW + offset, column, value)
    table.write(0, text="最後の指摘への回答")
    was = rows[-1][0]
    found = preview_answers(OPERATOR, review.public_id, table.bytes())
    assert not found.changes
    assert found.errors[0].row == FIRST_ROW
    assert f"No. {was}" in found.errors[0].message


def test_extra_rows_and_edited_texts_of_findings_do_no_harm(review):
    table = Table(review).write(0, text="回答")
    table.sheet.cell(FIRST_ROW, 4, "（担当者のメモを追記した指摘）")
    last = table.sheet.max_row
    table.sheet.cell(last + 1, 4, "打合せで出た別件")
    table.sheet.cell(last + 2, 1, "合計")
    found = apply_answers(OPERATOR, review.public_id, table.bytes())
    assert [error.row for error in found.errors] == [last + 1, last + 2]
    assert numbered(review, 1).answer.text == "回答"


def test_a_number_twice_or_unknown_is_told(review):
    table = Table(review)
    table.sheet.cell(FIRST_ROW + 1, 1, "１")
    table.sheet.cell(FIRST_ROW + 2, 1, 999)
    found = preview_answers(OPERATOR, review.public_id, table.bytes())
    assert [error.row for error in found.errors] == [FIRST_ROW + 1, FIRST_ROW + 2]


def test_what_was_changed_in_the_hub_meanwhile_is_not_overwritten(review):
    table = Table(review).write(0, state="rejected", text="不要").write(1, text="ほかの行")
    triage_finding(principal=OPERATOR, finding_id=numbered(review, 1).public_id, change=TriageChange(triage="accepted"))
    found = apply_answers(OPERATOR, review.public_id, table.bytes())
    assert [error.row for error in found.errors] == [FIRST_ROW]
    assert numbered(review, 1).triage == "accepted"


def test_a_waiver_comes_back_with_its_reason_and_end(review):
    table = Table(review).write(0, state="waived", text="次期更改で対応", until="2099/12/31")
    apply_answers(OPERATOR, review.public_id, table.bytes())
    finding = numbered(review, 1)
    assert (finding.triage, finding.triage_reason) == ("waived", "次期更改で対応")
    assert finding.expires_at.year == 2099
    assert preview_answers(OPERATOR, review.public_id, Table(review).bytes()).changes == []


def test_due_days_go_out_with_the_table_and_come_back(review):
    numbers = [Table(review).number(row) for row in range(3)]
    for number in numbers[:2]:
        finding_id = numbered(review, number).public_id
        triage_finding(principal=OPERATOR, finding_id=finding_id, change=TriageChange(due_on=date(2026, 12, 1)))
    table = Table(review)
    assert str(table.sheet.cell(FIRST_ROW, DUE).value).startswith("2026-12-01")
    table.write(0, due="令和8年12月15日").write(1, due="").write(2, due=date(2027, 1, 8))
    found = apply_answers(OPERATOR, review.public_id, table.bytes())
    assert not found.errors
    days = [numbered(review, number).due_on for number in numbers]
    assert days == [date(2026, 12, 15), None, date(2027, 1, 8)]


def test_files_that_are_no_such_table_are_refused(review, tmp_path):
    other = openpyxl.Workbook()
    target = BytesIO()
    other.save(target)
    table = Table(review)
    table.sheet.delete_cols(1)  # without numbers nobody knows which row is which
    for content in (b"", b"PK\x03\x04broken", "回答".encode(), target.getvalue(), table.bytes()):
        with pytest.raises(InvalidInput):
            preview_answers(OPERATOR, review.public_id, content)


def test_the_table_of_another_review_is_refused(review):
    second = start_review(principal=OPERATOR, document_id=review.document_id_text)
    execution.execute(second.pk)
    with pytest.raises(InvalidInput, match=review.public_id):
        preview_answers(OPERATOR, second.public_id, Table(review).bytes())


def test_readers_can_not_read_answers_in_and_signed_reviews_stay(review):
    content = Table(review).write(0, text="回答").bytes()
    reader = principal_with(Role.READER, review.version.document.collection)
    with pytest.raises(NotFound):
        apply_answers(reader, review.public_id, content)
    Review.objects.filter(pk=review.pk).update(signed_at=review.created_at)
    with pytest.raises(Conflict):
        apply_answers(OPERATOR, review.public_id, content)
