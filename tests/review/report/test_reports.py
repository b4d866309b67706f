"""Reports in every form and both languages: what they show, what they leave out, the same bytes for the same input."""

from __future__ import annotations

import html
import json
import re
from io import BytesIO

import docx
import openpyxl
import pytest

from hub.access.principals import local_operator
from hub.core.errors import InvalidInput, NotFound
from review.models import Finding, Review
from review.report import RENDERERS, ReportOptions, build_report
from review.runs import execution
from review.runs.reviews import ReviewOptions, get_review, review_facts, start_review
from review.triage.decisions import Answer, TriageChange, triage_finding
from tests.review.conftest import DESIGN, review_text

pytestmark = pytest.mark.django_db
OPERATOR = local_operator()


def again(review: Review, **options) -> Review:
    """Review the same version of the same document once more."""
    started = start_review(principal=OPERATOR, document_id=review.document_id_text, options=ReviewOptions(**options))
    execution.execute(started.pk)
    return get_review(OPERATOR, started.public_id)


def content(review: Review, report_format: str, *, language: str = "ja", **more) -> bytes:
    return build_report(
        principal=OPERATOR, review_id=review.public_id, report_format=report_format, language=language, **more
    ).content


def words(raw: bytes, report_format: str) -> str:
    """All text that a reader of the file sees."""
    if report_format == "xlsx":
        sheets = [sheet for sheet in openpyxl.load_workbook(BytesIO(raw)) if sheet.sheet_state == "visible"]
        return "\n".join(str(cell) for sheet in sheets for row in sheet.values for cell in row if cell is not None)
    if report_format == "docx":
        opened = docx.Document(BytesIO(raw))
        cells = [cell.text for table in opened.tables for row in table.rows for cell in row.cells]
        return "\n".join([*(paragraph.text for paragraph in opened.paragraphs), *cells])
    return raw.decode()


@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_form_has_every_finding_in_the_language_asked_for(review, language):
    findings = list(Finding.objects.filter(result__review=review))
    assert len(findings) > 5
    for report_format in RENDERERS:
        text = html.unescape(words(content(review, report_format, language=language), report_format))
        text = text.replace("\\", "")  # what Markdown and JSON escape
        for finding in findings:
            message = finding.message_en if language == "en" else finding.message_ja
            assert message in text, report_format


def masked(raw: bytes, review: Review) -> str:
    """Without what may differ between two reviews of the same: ids of the review and the findings, times."""
    text = raw.decode().replace(review.public_id, "REVIEW")
    text = re.sub(r"(?:fnd|sug)_[0-9a-z]+", "ID", text)
    return re.sub(r'"(\w+_(?:at|ms))": (?:"[^"]*"|\d+)', r'"\1": 0', text)


def test_two_reviews_of_the_same_give_the_same_bytes(review):
    first, second = review, again(review)
    for report_format in ("json", "markdown", "html"):
        assert masked(content(first, report_format), first) == masked(content(second, report_format), second)


def test_one_review_gives_the_same_file_every_time(review):
    for report_format in RENDERERS:
        assert content(review, report_format) == content(review, report_format), report_format


def test_findings_are_numbered_in_the_order_of_the_document(review):
    findings = json.loads(content(review, "json"))["findings"]
    assert [one["number"] for one in findings] == list(range(1, len(findings) + 1))
    places = [one["location"]["start_offset"] for one in findings if one["location"]["start_offset"] is not None]
    assert places == sorted(places)


def test_a_report_has_more_findings_than_the_answer_is_limited_to(review):
    limited = again(review, max_findings=1)
    assert len(review_facts(limited).findings) == 1
    assert len(json.loads(content(limited, "json"))["findings"]) > 5


def test_html_is_one_file_without_scripts_and_the_document_s_words_are_text(review):
    page = content(review, "html").decode()
    assert "<script" not in page
    assert not re.search(r"(?:src|href)=\"(?!#)", page)
    assert page.count("<svg") == 3
    for target in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{target}"' in page, target


def test_the_quote_stands_in_its_context_in_the_html_report(review):
    page = content(review, "html").decode()
    finding = next(
        one
        for one in Finding.objects.filter(result__review=review)
        if one.rule_id == "traceability.undefined_reference"
    )
    assert f"<mark>{finding.evidence[0]['quote']}</mark>" in page
    assert "検索（FR-001）は &lt;b&gt;" in page


def test_parts_can_be_left_out(review):
    for report_format in ("markdown", "html", "xlsx", "docx"):

        def size(report_format=report_format, **options) -> int:
            raw = content(review, report_format, options=ReportOptions(**options))
            return len(words(raw, report_format))

        assert size(details=False, evidence=False) < size(evidence=False) < size()
        assert size(summary=False) < size()


def test_json_leaves_out_whole_parts(review):
    body = json.loads(content(review, "json", options=ReportOptions(summary=False, evidence=False)))
    assert "summary" not in body
    assert all(finding["evidence"] == [] for finding in body["findings"])
    assert "findings" not in json.loads(content(review, "json", options=ReportOptions(details=False)))


def test_the_baseline_tells_what_was_fixed(review, tmp_path):
    second = review_text(tmp_path, DESIGN.replace("版数: 1.2", "版数: 1.1"))
    diff = json.loads(content(second, "json", baseline=review.public_id))["diff"]
    assert [one["rule_id"] for one in diff["fixed"]] == ["document.version_mismatch"]
    assert diff["new"] == diff["moved"] == []
    for report_format in ("markdown", "html", "xlsx", "docx"):
        text = words(content(second, report_format, language="en", baseline=review.public_id), report_format)
        assert review.public_id in text


def test_a_baseline_of_another_document_is_refused(review, tmp_path):
    other = review_text(tmp_path, DESIGN, name="別.md")
    with pytest.raises(InvalidInput, match=other.public_id):
        content(review, "json", baseline=other.public_id)
    with pytest.raises(NotFound):
        content(review, "json", baseline="rev_nothing")


def test_no_text_becomes_a_formula(review):
    texts = ("=1+1", "+81", "-5", "@SUM(A1)", "\t=1")
    findings = Finding.objects.filter(result__review=review)[: len(texts)]
    for finding, text in zip(findings, texts, strict=True):
        Finding.objects.filter(pk=finding.pk).update(related_guideline=text, message_ja=text)
        answer = Answer(plan=text, text=text, answered_by=text)
        triage_finding(principal=OPERATOR, finding_id=finding.public_id, change=TriageChange(answer=answer))
    book = openpyxl.load_workbook(BytesIO(content(review, "xlsx")))
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f"
                assert not (isinstance(cell.value, str) and cell.value.startswith(("=", "+", "-", "@", "\t"))), cell


def test_control_characters_of_a_document_do_not_break_office_files(review):
    Finding.objects.filter(result__review=review).update(message_ja="制御\x0b文字\x01￿", related_guideline="\x02")
    assert "制御" in words(content(review, "xlsx"), "xlsx")
    assert "制御文字" in words(content(review, "docx"), "docx")


def test_the_table_of_findings_is_ready_to_work_with(review):
    book = openpyxl.load_workbook(BytesIO(content(review, "xlsx")))
    sheet = book.worksheets[0]
    heads = [cell.value for cell in sheet[4]]
    assert len(heads) == 14
    assert sheet.freeze_panes == "D5"
    assert sheet.auto_filter.ref.startswith("A4:N")
    assert len(sheet.data_validations.dataValidation) == 3
    assert sheet.page_setup.orientation == "landscape"
    assert sheet.print_title_rows == "$4:$4"
    assert book["_hub"].sheet_state == "veryHidden"
