"""A reviewed PDF comes back with highlights on the words of findings, after its own bytes."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pdfplumber
import pytest
from pdfplumber.page import Page

from review.report import build_report
from review.runs.reviews import review_facts
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf
from tests.review.report.test_annotated import OPERATOR, review_file

pytestmark = pytest.mark.django_db
LINES = ("1. 目的", "本書は基本設計を定める。", "3. 機能", "必要に応じて適切に対応する。", "応答時間は TBD とする。")


@pytest.fixture
def pdf_file(tmp_path: Path) -> Path:
    texts = [(72.0, 760.0 - 30 * number, 11.0, line) for number, line in enumerate(LINES)]
    path = tmp_path / "基本設計書.pdf"
    path.write_bytes(write_pdf([PdfPage(texts=texts)]))
    return path


def words_under(page: Page, note: dict[str, Any]) -> str:
    """The characters whose middle is in a note's box."""
    return "".join(
        char["text"]
        for char in page.chars
        if note["x0"] <= (char["x0"] + char["x1"]) / 2 <= note["x1"]
        and note["top"] <= (char["top"] + char["bottom"]) / 2 <= note["bottom"]
    )


def test_each_finding_is_a_highlight_with_a_note(pdf_file):
    review = review_file(pdf_file)
    report = build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated", language="ja")
    assert report.content.startswith(pdf_file.read_bytes())
    assert re.fullmatch(r"指摘付き文書_.+_v1_\d{8}\.pdf", report.filename)
    with pdfplumber.open(BytesIO(report.content)) as document:
        page = document.pages[0]
        words = [(note["contents"], words_under(page, note)) for note in page.annots]
    checked = 0
    for finding in review_facts(review, everything=True).findings:
        own = [found for found in words if finding.id in found[0]]
        assert own, finding.message
        for one in finding.evidence:
            if one.quote in ("必要に応じて", "適切に", "TBD"):
                assert one.quote in [found[1].strip() for found in own]
                checked += 1
    assert checked
    again = build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated", language="ja")
    assert again.content == report.content
