"""The whole way of a scan in a browser: dropped, read, reviewed, downloaded with its findings, answered, read back."""

from __future__ import annotations

import re
import time
import urllib.request
from io import BytesIO
from pathlib import Path
from typing import Any

import pdfplumber
import pypdfium2
import pypdfium2.raw as pdfium_c
import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from hub.core import temporary
from knowledge.ingest import page_readings
from knowledge.models import Document
from review.models import Finding, Review
from review.runs import execution
from review.runs.reviews import review_facts, start_review
from tests.factories import work_through
from tests.hub.admin.support import PASSWORD
from tests.hub.admin.test_browser import PATIENCE_S, chromium  # noqa: F401 (a fixture)
from tests.hub.home.test_home_browser import sign_in_as, until
from tests.knowledge.parsers.scans import FONT, page_picture, scanned_pdf
from tests.review.report.test_annotated import OPERATOR

pytestmark = [
    pytest.mark.long,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
    pytest.mark.skipif(not FONT.exists(), reason="no Japanese font is installed"),
]
LINES = (
    "基本設計書",
    "1. 目的",
    "本書は予約システムの基本設計を定める。",
    "2. 機能",
    "検索は必要に応じて適切に対応する。",
    "応答時間は TBD とする。",
)


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    if page_readings.engine_name() is None:
        pytest.skip("no OCR engine is installed")
    path = tmp_path / "基本設計書.pdf"
    path.write_bytes(scanned_pdf([page_picture(LINES)]))
    return path


def downloaded(browser: WebDriver, address: str) -> bytes:
    """What a link of the page gives, as the person who is signed in gets it."""
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in browser.get_cookies())
    with urllib.request.urlopen(urllib.request.Request(address, headers={"Cookie": cookies})) as answer:
        return bytes(answer.read())


def replied(copy: bytes, finding_id: str, text: str) -> bytes:
    """Write a reply to a note of a PDF as PDF readers do: a note of its own that names the one it answers.

    PDFium writes everything but that name, for which a value of the same length holds the place.
    """
    document = pypdfium2.PdfDocument(copy)
    page = document[0]
    name = next(name for name, contents in _notes(page) if finding_id in contents)
    note = pdfium_c.FPDFPage_CreateAnnot(page, pdfium_c.FPDF_ANNOT_TEXT)
    for key, value in ((b"Contents", text), (b"T", "山田 太郎"), (b"IRTX", "0" * 20)):
        wide = (value + "\0").encode("utf-16-le")
        pdfium_c.FPDFAnnot_SetStringValue(note, key, (pdfium_c.FPDF_WCHAR * (len(wide) // 2)).from_buffer_copy(wide))
    pdfium_c.FPDFPage_CloseAnnot(note)
    target = BytesIO()
    document.save(target)
    data = target.getvalue()
    number = next(
        number
        for number, body in re.findall(rb"(\d+) 0 obj\s*(<<.*?>>)\s*endobj", data, re.S)
        if b"/NM(" + name.encode() + b")" in body.replace(b"/NM (", b"/NM(")
    )
    place = re.search(rb"/IRTX\s*\(0{20}\)", data)
    assert place is not None
    reference = b"/IRT " + number + b" 0 R"
    return data[: place.start()] + reference.ljust(place.end() - place.start()) + data[place.end() :]


def _notes(page: pypdfium2.PdfPage) -> list[tuple[str, str]]:
    with pdfplumber.open(BytesIO(_saved(page.pdf))) as document:
        return [(note["data"]["NM"].decode(), note["contents"] or "") for note in document.pages[0].annots]


def _saved(document: pypdfium2.PdfDocument) -> bytes:
    target = BytesIO()
    document.save(target)
    return target.getvalue()


def test_a_scan_is_reviewed_and_its_answers_come_back(
    chromium: WebDriver,  # noqa: F811
    live_server: Any,
    queue: None,
    scan: Path,
    tmp_path: Path,
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")
    User.objects.create_superuser("佐藤", password=PASSWORD)
    sign_in_as(chromium, live_server.url, "佐藤")
    chromium.get(f"{live_server.url}/documents/upload/")
    chromium.find_element(By.CSS_SELECTOR, "[name=files]").send_keys(str(scan))
    until(chromium, "[data-rows-of] [data-open]")
    document = work_through(Document.objects.get())
    Document.objects.update(document_type_id="basic_design")
    assert document.latest_version.status == "ready"

    chromium.get(f"{live_server.url}/documents/{document.public_id}/")
    assert "OCR" in until(chromium, ".notice").text
    button = chromium.find_element(By.CSS_SELECTOR, "a[href$='/searchable-pdf/']")
    searchable = pypdfium2.PdfDocument(downloaded(chromium, button.get_attribute("href")))
    assert "TBD" in searchable[0].get_textpage().get_text_range()

    review = Review.objects.get(pk=start_review(principal=OPERATOR, document_id=document.public_id).pk)
    execution.execute(review.pk)
    chromium.get(f"{live_server.url}/reviews/{review.public_id}/")
    link = until(chromium, "a[href*='/report/annotated/']")
    copy = downloaded(chromium, link.get_attribute("href"))
    facts = review_facts(review, everything=True)
    finding = next(one for one in facts.findings if any("TBD" in quoted.quote for quoted in one.evidence))
    with pdfplumber.open(BytesIO(copy)) as marked:
        highlight = next(note for note in marked.pages[0].annots if finding.id in (note["contents"] or ""))
    line = LINES.index("応答時間は TBD とする。")
    assert abs(highlight["top"] - (120 + 72 * line) * 72 / 200) < 15  # on its line, and not in the page's corner
    assert highlight["data"]["Subtype"].name == "Highlight"

    answered = tmp_path / "基本設計書_指摘付き.pdf"
    answered.write_bytes(replied(copy, finding.id, "応答時間は三秒以内と決めました。"))
    chromium.get(live_server.url + reverse("admin:review_review_answers", args=[review.pk]))
    chromium.find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(str(answered))
    chromium.find_element(By.CSS_SELECTOR, ".hub-page form [type=submit]").click()
    until(chromium, "input[name=content]")
    assert "応答時間は三秒以内と決めました。" in chromium.page_source
    assert not Finding.objects.filter(answer__text__contains="三秒以内").exists()
    chromium.find_element(By.CSS_SELECTOR, ".hub-button-main").click()
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and not Finding.objects.filter(answer__text__contains="三秒以内").exists():
        time.sleep(0.2)
    stored = Finding.objects.get(public_id=finding.id)
    assert (stored.answer.answered_by, "三秒以内" in stored.answer.text) == ("山田 太郎", True)
