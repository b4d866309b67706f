"""The reviewed document comes back with each finding as a comment on its words."""

from __future__ import annotations

import dataclasses
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.shared import Pt
from lxml import etree

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.access.turns import Turns
from hub.core.errors import Conflict, NotFound, TooManyAtOnce
from hub.core.processes import PerProcess
from knowledge.models import Collection
from knowledge.originals import annotated as copies_of_originals
from review.models import Review, Triage
from review.report import build_report
from review.report.annotated.references import REFERENCE, is_written_here, reference_line
from review.report.facts import ReportOptions, load_facts
from review.report.names import name_to_file_by
from review.runs import execution
from review.runs.reviews import get_review, review_facts, start_review
from review.triage.decisions import TriageChange, triage_finding
from tests.factories import principal_with, upload_file, work_through

pytestmark = pytest.mark.django_db
OPERATOR = local_operator()
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def review_file(path: Path) -> Review:
    document = work_through(upload_file(OPERATOR, path, document_type="basic_design").document)
    started = start_review(principal=OPERATOR, document_id=document.public_id)
    execution.execute(started.pk)
    return get_review(OPERATOR, started.public_id)


def design_in_word(path: Path) -> Path:
    document = docx.Document()
    document.add_heading("図書予約システム 基本設計書", 0)
    document.add_heading("1. 目的", 1)
    document.add_paragraph("本書は、予約システムの基本設計を定める。")
    document.add_heading("3. 機能", 1)
    paragraph = document.add_paragraph("検索（FR-001）は、必要に")
    paragraph.add_run("応じて").bold = True
    paragraph.add_run("適切に対応する。なお、TBD の項目は後で決める。").font.size = Pt(12)
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [*table.rows[0].cells, *table.rows[1].cells], ("項目", "内容", "応答時間", "できるだけ早く"), strict=True
    ):
        cell.text = text
    document.save(str(path))
    return path


def annotated(review: Review, language: str = "ja") -> bytes:
    return build_report(
        principal=OPERATOR, review_id=review.public_id, report_format="annotated", language=language
    ).content


def ranges(content: bytes) -> dict[str, str]:
    """The words between the marks of each comment, by its id, as another program reads them."""
    root = etree.fromstring(zipfile.ZipFile(BytesIO(content)).read("word/document.xml"))
    begun: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    for element in root.iter():
        number = element.get(f"{W}id")
        if element.tag == f"{W}commentRangeStart":
            begun[number] = []
        elif element.tag == f"{W}commentRangeEnd":
            found[number] = "".join(begun.pop(number))
        elif element.tag == f"{W}t":
            for words in begun.values():
                words.append(element.text)
    return found


def comments(content: bytes) -> Iterator[tuple[str, str, str]]:
    """Id, author and text of each comment, read by python-docx."""
    for comment in docx.Document(BytesIO(content)).comments:
        yield str(comment.comment_id), comment.author, "\n".join(one.text for one in comment.paragraphs)


@pytest.fixture(scope="module")
def word_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return design_in_word(tmp_path_factory.mktemp("word") / "図書予約_基本設計書.docx")


def test_each_finding_is_a_comment_on_its_very_words(word_file):
    review = review_file(word_file)
    content = annotated(review)
    words = ranges(content)
    texts = {number: text for number, _author, text in comments(content)}
    quoted = 0
    for finding in review_facts(review, everything=True).findings:
        own = [text for text in texts.items() if finding.id in text[1]]
        assert own, finding.message
        assert f"指摘 {finding.number}" in own[0][1]
        assert finding.message in own[0][1]
        for one in finding.evidence:
            if one.verified and "|" not in one.quote and "#" not in one.quote:
                assert one.quote in [words[number] for number, _text in own]
                quoted += 1
    assert quoted > 2


def test_nothing_but_the_comments_is_added(word_file):
    review = review_file(word_file)
    before, after = zipfile.ZipFile(word_file), zipfile.ZipFile(BytesIO(annotated(review)))
    changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
    assert changed == {"[Content_Types].xml", "word/document.xml", "word/_rels/document.xml.rels"}
    assert set(after.namelist()) - set(before.namelist()) == {"word/comments.xml", "word/commentsExtended1.xml"}
    texts = [
        [one.text for one in docx.Document(BytesIO(each)).paragraphs]
        for each in (word_file.read_bytes(), annotated(review))
    ]
    assert texts[0] == texts[1]
    assert annotated(review) == annotated(review)


def test_what_people_decided_is_in_the_comment(word_file):
    review = review_file(word_file)
    finding = review_facts(review, everything=True).findings[0]
    triage_finding(
        principal=OPERATOR,
        finding_id=finding.id,
        change=TriageChange(triage=Triage.REJECTED, reason="様式のとおり"),
    )
    content = annotated(review)
    text = next(text for _number, _author, text in comments(content) if finding.id in text)
    assert "対応しない" in text
    assert "様式のとおり" in text
    extended = etree.fromstring(zipfile.ZipFile(BytesIO(content)).read("word/commentsExtended1.xml"))
    assert [one for one in extended if one.get(f"{{{extended.nsmap['w15']}}}done") == "1"]


def test_the_copy_has_a_name_to_file_it_by_and_leaves_lines_in_the_audit_trail(word_file):
    review = review_file(word_file)
    report = build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated", language="ja")
    assert re.fullmatch(r"指摘付き文書_図書予約システム 基本設計書_v1_\d{8}\.docx", report.filename)
    assert AuditEvent.objects.filter(action="REPORT_DOWNLOAD", details__format="annotated").count() == 1
    assert AuditEvent.objects.filter(action="DOCUMENT_DOWNLOAD", details__review=review.public_id).count() == 1


def test_a_stranger_gets_nothing(word_file):
    review = review_file(word_file)
    stranger = principal_with(Role.READER, Collection.objects.create(slug="other", name="別"))
    with pytest.raises(NotFound):
        build_report(principal=stranger, review_id=review.public_id, report_format="annotated")


def test_a_version_that_is_gone_is_said(word_file):
    review = review_file(word_file)
    Review.objects.filter(pk=review.pk).update(version=None)
    with pytest.raises((Conflict, NotFound)):
        build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated")


def test_a_reference_is_of_one_finding_and_one_review():
    found = REFERENCE.search(reference_line("rev_1", "fnd_0123456789abcdef", 2))
    assert found is not None
    assert is_written_here("rev_1", found["finding"], 2, found["sign"])
    assert not is_written_here("rev_2", found["finding"], 2, found["sign"])
    assert not is_written_here("rev_1", found["finding"], 3, found["sign"])


def test_a_text_comes_back_with_marks_and_the_notes_below(review):
    report = build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated", language="ja")
    text = report.content.decode()
    assert re.fullmatch(r"指摘付き文書_.+_v1_\d{8}\.md", report.filename)
    assert report.is_text
    findings = review_facts(review, everything=True).findings
    for finding in findings:
        assert finding.id in text
    body = text.split("\n[^hub-1]:")[0]
    assert "【レビュー】" in text
    quote = next(one.evidence[0].quote for one in findings if one.evidence and "|" not in one.evidence[0].quote)
    assert f"{quote}[^hub-" in body


def test_one_persons_copies_leave_a_turn_for_others(tmp_path, monkeypatch):
    review = review_file(design_in_word(tmp_path / "設計.docx"))
    other = principal_with(Role.READER, Collection.objects.get(slug="default"))
    turns = Turns(most=copies_of_originals.AT_ONCE, most_waiting=0, wait_s=0)
    monkeypatch.setattr(copies_of_originals, "_turns", PerProcess(lambda: turns))
    with copies_of_originals.turn(OPERATOR), pytest.raises(TooManyAtOnce):
        annotated(review)
    with copies_of_originals.turn(other):
        assert annotated(review)


def test_a_title_that_is_the_name_of_a_file_goes_without_its_endings(review):
    facts = load_facts(OPERATOR, review.public_id, baseline="", options=ReportOptions())
    day = f"{facts.day:%Y%m%d}"
    for title in ("設計書.docx", "設計書.docx.docx", "設計書.PDF"):
        assert name_to_file_by("報告書", dataclasses.replace(facts, title=title)) == f"報告書_設計書_v1_{day}"
    edition = dataclasses.replace(facts, title="設計書 第1.2版")
    assert name_to_file_by("報告書", edition) == f"報告書_設計書 第1.2版_v1_{day}"
