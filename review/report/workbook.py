"""The report as a workbook: an overview, and the 指摘管理表 whose answers can be read back."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable, Sequence
from datetime import date
from io import BytesIO
from unicodedata import east_asian_width

from django.utils.translation import get_language
from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet
from openpyxl.writer.excel import ExcelWriter

from hub.core.cells import safe_text
from review.models import Triage
from review.report.facts import ReportedFinding, ReportFacts, local_day
from review.report.sheet import (
    COLUMNS,
    DAY_FIELDS,
    FORMAT_NAME,
    HEADER_ROW,
    HIDDEN_SHEET,
    Column,
    mark_of,
    without_times,
)
from review.runs.finding_schemas import SuggestionOut, suggestion_label
from review.triage.schemas import DiffOut

FONT = "Yu Gothic"
_THIN = Side(style="thin", color="C3CBD4")
BORDER = Border(left=_THIN, right=_THIN, top=_THIN, bottom=_THIN)
HEAD_FILL = PatternFill("solid", fgColor="24425F")
ANSWER_HEAD_FILL = PatternFill("solid", fgColor="15703C")
ANSWER_FILL = PatternFill("solid", fgColor="F3FAF5")
SEVERITY_FILLS = {
    "critical": PatternFill("solid", fgColor="F6C7C3"),
    "major": PatternFill("solid", fgColor="FBE0BF"),
    "minor": PatternFill("solid", fgColor="D8E6F7"),
    "info": PatternFill("solid", fgColor="E7EBEF"),
}
Value = str | int | date | None
"""What a cell holds."""
LINE_HEIGHT, MAX_ROW_HEIGHT = 14.5, 409
"""In points. Source of the limit: Excel specifications. Programs that print do not all fit rows by themselves."""


def render_xlsx(facts: ReportFacts) -> bytes:
    """Write the workbook; its bytes depend on nothing but the facts and the language."""
    book = Workbook()
    _write_overview(book.worksheets[0], facts)
    if facts.options.details:
        findings = book.create_sheet(_("Findings"))
        _write_findings(findings, facts)
        _write_hidden(book.create_sheet(HIDDEN_SHEET), facts)
        book.move_sheet(findings, offset=-1)
        book.active = 0
    if facts.options.details and facts.aside:
        _write_set_aside(book.create_sheet(_("Not counted")), facts)
    if facts.diff:
        _write_changes(book.create_sheet(_("Changes")), facts, facts.diff)
    book.properties.creator = "Hub"
    book.properties.title = safe_text(facts.title)
    book.properties.created = book.properties.modified = facts.written_at
    return _packed(book)


def _packed(book: Workbook) -> bytes:
    """As ``Workbook.save``, which would write the time of now."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        ExcelWriter(book, archive).save()
    return without_times(target.getvalue())


def _write_findings(sheet: Worksheet, facts: ReportFacts) -> None:
    _title(sheet, _("Table of findings"), facts)
    for index, column in enumerate(COLUMNS, 1):
        cell = sheet.cell(HEADER_ROW, index, str(column.title))
        cell.font = Font(name=FONT, size=10, bold=True, color="FFFFFF")
        cell.fill = ANSWER_HEAD_FILL if column.is_answer else HEAD_FILL
        cell.alignment = Alignment(horizontal="center", vertical="center", wrap_text=True)
        cell.border = BORDER
        sheet.column_dimensions[get_column_letter(index)].width = column.width
    sheet.row_dimensions[HEADER_ROW].height = 30
    for offset, item in enumerate(facts.findings, 1):
        _write_row(sheet, HEADER_ROW + offset, item)
    last = HEADER_ROW + max(len(facts.findings), 1)
    sheet.freeze_panes = f"D{HEADER_ROW + 1}"
    sheet.auto_filter.ref = f"A{HEADER_ROW}:{get_column_letter(len(COLUMNS))}{last}"
    _validate(sheet, last)
    _set_up_print(sheet, sheet.PAPERSIZE_A3)
    sheet.print_title_rows = f"{HEADER_ROW}:{HEADER_ROW}"


def _title(sheet: Worksheet, text: str, facts: ReportFacts) -> None:
    review = facts.review
    sheet.cell(1, 1, text).font = Font(name=FONT, size=14, bold=True)
    day = facts.day.isoformat() if facts.day else "-"
    subtitles = (
        f"{facts.title} (v{review.version}) / {review.checklist.code} v{review.checklist.version}",
        f"{_('Verdict')}: {facts.verdict or '-'} / {_('Reviewed on')}: {day} / {_('Review')}: {review.review_id}",
    )
    for row, line in enumerate(subtitles, 2):
        sheet.cell(row, 1, safe_text(line)).font = Font(name=FONT, size=10, color="5A6877")


def _write_row(sheet: Worksheet, row: int, item: ReportedFinding) -> None:
    for index, column in enumerate(COLUMNS, 1):
        value = _value(item, column)
        cell = sheet.cell(row, index, safe_text(value) if isinstance(value, str) else value)
        if isinstance(value, str):
            cell.data_type = "s"
        cell.font = Font(name=FONT, size=10)
        cell.border = BORDER
        centred = column.field in {"number", "severity", "triage", *DAY_FIELDS}
        cell.alignment = Alignment(vertical="top", wrap_text=True, horizontal="center" if centred else None)
        if column.is_answer:
            cell.fill = ANSWER_FILL
        if column.field in DAY_FIELDS:
            cell.number_format = "yyyy/mm/dd"
    sheet.cell(row, 2).fill = SEVERITY_FILLS.get(item.finding.severity, SEVERITY_FILLS["info"])
    lines = max(_lines(str(_value(item, column) or ""), column.width) for column in COLUMNS)
    sheet.row_dimensions[row].height = min(lines * LINE_HEIGHT + 4, MAX_ROW_HEIGHT)


def _lines(text: str, width: float) -> int:
    """How many lines a text takes in a column; full-width characters take two places."""
    room = max(width - 2, 1)
    return sum(
        max(1, math.ceil(sum(2 if east_asian_width(sign) in "WFA" else 1 for sign in line) / room))
        for line in text.split("\n")
    )


def _value(item: ReportedFinding, column: Column) -> Value:
    finding = item.finding
    answer = finding.answer
    values: dict[str, Value] = {
        "number": finding.number,
        "severity": item.severity,
        "place": item.place or (f"{_('Looked through')}: {item.searched}" if item.searched else ""),
        "message": f"{finding.message}\n[{finding.check_item_id} {item.check_name}]",
        "quotes": _quotes(item),
        "suggestion": "\n\n".join(map(_suggestion, item.suggestions)),
        "guideline": finding.related_guideline or "",
        "plan": answer.plan if answer else "",
        "text": answer.text if answer else "",
        "answered_by": answer.answered_by if answer else "",
        "answered_on": answer.answered_on if answer else None,
        "triage": item.triage,
        "expires_at": local_day(finding.expires_at),
        "due_on": finding.due_on,
    }
    return values[column.field]


def _quotes(item: ReportedFinding) -> str:
    more = [f"(+{item.more_passages})"] if item.more_passages else []
    return "\n".join([*(f"「{passage.quote}」" for passage in item.shown_passages), *more])


def _suggestion(suggestion: SuggestionOut) -> str:
    source = f"[{suggestion_label(suggestion)}] " if suggestion.made_by != "rules" else ""
    example = f"\n{_('Example')}:\n{suggestion.example}" if suggestion.example else ""
    return f"{source}{suggestion.content}{example}"


def _validate(sheet: Worksheet, last: int) -> None:
    """Offer the states, propose actions, and ask for real dates."""
    plans = (_("correct"), _("correct in the next version"), _("leave as it is"), _("under examination"))
    states = DataValidation(
        type="list", formula1=_list_of(str(text) for text in Triage.labels), allow_blank=False, showErrorMessage=True
    )
    states.errorTitle, states.error = _("State"), _("Choose one from the list.")
    plan = DataValidation(type="list", formula1=_list_of(plans), allow_blank=True, showErrorMessage=False)
    days = DataValidation(
        type="date", operator="greaterThan", formula1="36526", allow_blank=True, showErrorMessage=True
    )
    days.errorTitle, days.error = _("Date"), _("Enter a date such as 2026/3/31.")
    by_field = {"triage": states, "plan": plan, **dict.fromkeys(DAY_FIELDS, days)}
    for validation in (states, plan, days):
        sheet.add_data_validation(validation)
    for index, column in enumerate(COLUMNS, 1):
        if column.field in by_field:
            letter = get_column_letter(index)
            by_field[column.field].add(f"{letter}{HEADER_ROW + 1}:{letter}{last}")


def _list_of(texts: Iterable[str]) -> str:
    return '"{}"'.format(",".join(text.replace(",", " ").replace('"', "") for text in texts))


def _set_up_print(sheet: Worksheet, paper: str) -> None:
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = paper
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.page_margins.left = sheet.page_margins.right = 0.4
    sheet.page_margins.top = sheet.page_margins.bottom = 0.5
    if sheet.oddFooter is not None and sheet.oddFooter.center is not None:  # they always are; the types don't know
        sheet.oddFooter.center.text = "&P / &N"


def _write_hidden(sheet: Worksheet, facts: ReportFacts) -> None:
    """What the import needs: which row is which finding, and what the answers were when the file was written."""
    sheet.sheet_state = "veryHidden"
    sheet.append([FORMAT_NAME, facts.review.review_id, get_language() or "ja"])
    sheet.append(["number", "finding_id", "fingerprint", *(c.field for c in COLUMNS if c.is_answer), "mark"])
    shown = {column.field: column for column in COLUMNS}
    for item in facts.findings:
        answers = [_value(item, column) for column in COLUMNS if column.is_answer and column.field != "triage"]
        answers.insert(4, item.finding.triage)
        mark = mark_of(*(safe_text(_value(item, shown[name])) for name in ("place", "message")))
        row = [item.number, item.finding.id, item.finding.fingerprint, *answers, mark]
        sheet.append([safe_text(value) if isinstance(value, str) else value for value in row])


def _write_overview(sheet: Worksheet, facts: ReportFacts) -> None:
    sheet.title = _("Overview")
    _title(sheet, _("Review report"), facts)
    row = 5
    if facts.options.summary:
        row = _table(sheet, row, (_("Severity"), _("Findings")), [(text, n) for _code, text, n in facts.by_severity])
        row = _table(sheet, row, (_("State"), _("Findings")), [(text, n) for _code, text, n in facts.by_triage])
        checks = [
            (
                f"{one.result.check_item_id} v{one.result.check_item_version}",
                one.findings,
                one.result.name,
                one.verdict,
                one.method,
                one.remarks,
            )
            for one in facts.results
        ]
        heads = (_("Item"), _("Findings"), _("Name"), _("Verdict"), _("Decided by"), _("Remarks"))
        row = _table(sheet, row, heads, checks)
        if facts.steps:
            sheet.cell(row, 1, safe_text(f"{_('Looked at')}: {facts.steps}")).font = Font(name=FONT, size=10)
    for letter, width in zip("ABCDEF", (16, 10, 34, 11, 14, 60), strict=True):
        sheet.column_dimensions[letter].width = width
    _set_up_print(sheet, sheet.PAPERSIZE_A4)


def _write_set_aside(sheet: Worksheet, facts: ReportFacts) -> None:
    _title(sheet, _("Findings that do not count"), facts)
    rows = [
        (
            title,
            item.finding.check_item_id,
            item.finding.message,
            item.place,
            item.finding.second_opinion.reason if item.finding.second_opinion else "",
            " / ".join(item.model_quotes),
        )
        for title, items in facts.aside
        for item in items
    ]
    heads = (_("Why"), _("Item"), _("Finding"), _("Place"), _("Language model"), _("Evidence"))
    _table(sheet, 5, heads, rows)
    for letter, width in zip("ABCDEF", (20, 12, 60, 30, 50, 60), strict=True):
        sheet.column_dimensions[letter].width = width
    _set_up_print(sheet, sheet.PAPERSIZE_A4)


def _write_changes(sheet: Worksheet, facts: ReportFacts, diff: DiffOut) -> None:
    _title(sheet, _("Changes since the baseline"), facts)
    baseline = sheet.cell(4, 1, f"{_('Baseline')}: {diff.base.review_id} (v{diff.base.version})")
    baseline.font = Font(name=FONT, size=10, color="5A6877")
    kinds = (
        (_("fixed"), diff.fixed),
        (_("new"), diff.new),
        (_("moved"), diff.moved),
        (_("still open"), diff.open),
        (_("not decided this time"), diff.undecided),
    )
    rows = [
        (kind, one.check_item_id, one.message, " > ".join(one.location.section_path))
        for kind, found in kinds
        for one in found
    ]
    _table(sheet, 6, (_("Change"), _("Item"), _("Finding"), _("Place")), rows)
    for letter, width in zip("ABCD", (16, 12, 80, 40), strict=True):
        sheet.column_dimensions[letter].width = width
    _set_up_print(sheet, sheet.PAPERSIZE_A4)


def _table(sheet: Worksheet, row: int, heads: Sequence[str], rows: Iterable[Sequence[Value]]) -> int:
    """Write a table and return the row after the empty one that follows it."""
    for index, head in enumerate(heads, 1):
        cell = sheet.cell(row, index, head)
        cell.font, cell.fill, cell.border = Font(name=FONT, size=10, bold=True, color="FFFFFF"), HEAD_FILL, BORDER
    for values in rows:
        row += 1
        for index, value in enumerate(values, 1):
            cell = sheet.cell(row, index, safe_text(value) if isinstance(value, str) else value)
            cell.font, cell.border = Font(name=FONT, size=10), BORDER
            cell.alignment = Alignment(vertical="top", wrap_text=True)
    return row + 2
