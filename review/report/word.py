"""The report as a Word document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO

import docx
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from docx.document import Document
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.enum.text import WD_PARAGRAPH_ALIGNMENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor
from docx.table import _Cell
from docx.text.paragraph import Paragraph

from hub.core.cells import xml_text
from review.report.facts import ReportedFinding, ReportFacts
from review.report.sheet import without_times
from review.runs.finding_schemas import suggestion_label
from review.triage.schemas import DiffOut

FONT, LATIN_FONT = "Yu Gothic", "Yu Gothic"
MUTED = RGBColor(0x5A, 0x68, 0x77)


def render_docx(facts: ReportFacts) -> bytes:
    """Write the document; its bytes depend on nothing but the facts and the language."""
    document = docx.Document()
    _set_up(document, facts)
    _head(document, facts)
    if facts.options.summary:
        _summary(document, facts)
    if facts.diff:
        _changes(document, facts.diff)
    if facts.options.details:
        document.add_heading(_("Findings"), level=1)
        for item in facts.findings:
            _finding(document, item)
        if not facts.findings:
            document.add_paragraph(_("No findings."))
        for title, items in facts.aside:
            _set_aside(document, title, items)
    target = BytesIO()
    document.save(target)
    return without_times(target.getvalue())


def _set_aside(document: Document, title: str, items: Sequence[ReportedFinding]) -> None:
    document.add_heading(title, level=1)
    document.add_paragraph(_("They do not count."))
    for item in items:
        document.add_heading(xml_text(f"{item.counter}[{item.severity}] {item.finding.message}"), level=2)
        reason = item.finding.second_opinion.reason if item.finding.second_opinion else ""
        document.add_paragraph(xml_text(f"{item.finding.check_item_id} / {_('Language model')}: {reason}"))
        for quote in item.model_quotes:
            document.add_paragraph(xml_text(quote), style="Quote")


def _set_up(document: Document, facts: ReportFacts) -> None:
    section = document.sections[0]
    section.page_width, section.page_height = Mm(210), Mm(297)
    section.left_margin = section.right_margin = Mm(22)
    section.top_margin = section.bottom_margin = Mm(20)
    for name in ("Normal", "Title", "Heading 1", "Heading 2", "List Bullet", "Quote"):
        style = document.styles[name]
        style.font.name = LATIN_FONT
        style.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), FONT)
    document.styles["Normal"].font.size = Pt(10.5)
    document.styles["Normal"].paragraph_format.space_after = Pt(4)
    document.styles["Title"].font.size = Pt(20)
    document.styles["Quote"].font.italic = False
    document.styles["Quote"].paragraph_format.left_indent = Mm(6)
    document.styles["Heading 2"].font.size = Pt(11.5)
    _page_numbers(section.footer.paragraphs[0])
    properties = document.core_properties
    properties.created = properties.modified = facts.written_at
    properties.author = properties.last_modified_by = "Hub"
    properties.title = xml_text(facts.title)[:255]
    properties.language = get_language() or "ja"
    properties.comments, properties.revision = "", 1


def _page_numbers(paragraph: Paragraph) -> None:
    paragraph.alignment = WD_PARAGRAPH_ALIGNMENT.CENTER
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), "PAGE")
    paragraph._p.append(field)


def _head(document: Document, facts: ReportFacts) -> None:
    review = facts.review
    document.add_heading(xml_text(f"{_('Review report')}: {facts.title}"), level=0)
    rows = [
        (_("Document"), f"{facts.path} (v{review.version})"),
        (_("Check list"), f"{review.checklist.code} v{review.checklist.version}"),
        (_("Verdict"), facts.verdict or "-"),
        (_("Reviewed on"), facts.day.isoformat() if facts.day else "-"),
        *([(_("Looked at"), facts.steps)] if facts.steps else []),
        (_("Review"), review.review_id),
        *((_("Signed off by"), signature.name) for signature in review.signatures),
    ]
    _table(document, (), rows, widths=(38, 128))


def _summary(document: Document, facts: ReportFacts) -> None:
    document.add_heading(_("Summary"), level=1)
    counted = [(text, str(count)) for _code, text, count in facts.by_severity]
    _table(document, (_("Severity"), _("Findings")), counted, widths=(60, 30))
    document.add_heading(_("Checks"), level=1)
    rows = [
        (
            f"{one.result.check_item_id} v{one.result.check_item_version}",
            one.result.name,
            one.verdict,
            str(one.findings),
            one.remarks,
        )
        for one in facts.results
    ]
    heads = (_("Item"), _("Name"), _("Verdict"), _("Findings"), _("Remarks"))
    _table(document, heads, rows, widths=(24, 44, 20, 20, 58))


def _changes(document: Document, diff: DiffOut) -> None:
    document.add_heading(_("Changes since the baseline"), level=1)
    document.add_paragraph(f"{_('Baseline')}: {diff.base.review_id} (v{diff.base.version})")
    kinds = ((_("fixed"), diff.fixed), (_("new"), diff.new), (_("still open"), diff.open), (_("moved"), diff.moved))
    rows = [(kind, str(len(found))) for kind, found in kinds]
    if diff.undecided:
        rows.append((_("not decided this time"), str(len(diff.undecided))))
    _table(document, (_("Change"), _("Number")), rows, widths=(60, 30))
    for kind, found in (kinds[0], kinds[1], kinds[3]):
        for one in found:
            document.add_paragraph(xml_text(f"{kind}: {one.message}"), style="List Bullet")


def _finding(document: Document, item: ReportedFinding) -> None:
    finding = item.finding
    document.add_heading(xml_text(f"{item.counter}[{item.severity}] {finding.message}"), level=2)
    facts = [f"{finding.check_item_id} {item.check_name} / {finding.rule_id}"]
    if item.place:
        facts.append(f"{_('Place')}: {item.place}")
    if finding.related_guideline:
        facts.append(f"{_('Guideline')}: {finding.related_guideline}")
    if item.searched:
        facts.append(f"{_('Looked through')}: {item.searched}")
    facts.append(f"{_('State')}: {item.triage}" + (f" ({item.triage_note})" if item.triage_note else ""))
    run = document.add_paragraph().add_run(xml_text("\n".join(facts)))
    run.font.size, run.font.color.rgb = Pt(9), MUTED
    for passage in item.shown_passages:
        unverified = "" if passage.verified else f" ({_('not verified')})"
        document.add_paragraph(xml_text(f"「{passage.quote}」{unverified}"), style="Quote")
    if item.more_passages:
        document.add_paragraph(f"(+{item.more_passages})")
    for suggestion in item.suggestions:
        paragraph = document.add_paragraph()
        paragraph.add_run(xml_text(f"{suggestion_label(suggestion)}: ")).bold = True
        paragraph.add_run(xml_text(suggestion.content))
        if suggestion.example:
            example = document.add_paragraph(xml_text(f"{_('Example')}:\n{suggestion.example}"))
            example.paragraph_format.left_indent = Mm(6)
    if finding.answer:
        paragraph = document.add_paragraph()
        paragraph.add_run(f"{_('Answer')}: ").bold = True
        paragraph.add_run(xml_text(f"{finding.answer.plan} {finding.answer.text}".strip()))


def _table(document: Document, heads: Sequence[str], rows: Iterable[Sequence[str]], *, widths: Sequence[int]) -> None:
    """Write a table; ``widths`` in millimetres. Its head is repeated on every page."""
    table = document.add_table(rows=0, cols=len(widths), style="Table Grid")
    table.alignment = WD_TABLE_ALIGNMENT.LEFT
    table.autofit = False
    if heads:
        cells = table.add_row().cells
        for cell, text in zip(cells, heads, strict=True):
            cell.paragraphs[0].add_run(text).bold = True
            _shade(cell)
        mark = OxmlElement("w:tblHeader")
        table.rows[0]._tr.get_or_add_trPr().append(mark)
    for values in rows:
        for cell, text in zip(table.add_row().cells, values, strict=True):
            run = cell.paragraphs[0].add_run(xml_text(text))
            run.font.size = Pt(9.5)
    for column, width in zip(table.columns, widths, strict=True):
        column.width = Mm(width)
    for row in table.rows:
        for cell, width in zip(row.cells, widths, strict=True):
            cell.width = Mm(width)
    document.add_paragraph()


def _shade(cell: _Cell) -> None:
    shade = OxmlElement("w:shd")
    shade.set(qn("w:val"), "clear")
    shade.set(qn("w:fill"), "E3E9EF")
    cell._tc.get_or_add_tcPr().append(shade)
