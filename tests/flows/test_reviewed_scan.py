"""The way of a scan in a browser: dropped, read, reviewed, downloaded with its findings."""

from __future__ import annotations

import urllib.request
from io import BytesIO
from pathlib import Path
from typing import Any

import pdfplumber
import pypdfium2
import pytest
from django.contrib.auth.models import User
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from hub.core import temporary
from knowledge.ingest import page_readings
from knowledge.models import Document
from review.models import Review
from review.runs import execution
from review.runs.reviews import review_facts, start_review
from tests.factories import work_through
from tests.hub.admin.support import PASSWORD
from tests.hub.admin.test_browser import chromium  # noqa: F401 (a fixture)
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


def test_a_scan_is_reviewed_and_comes_back_with_its_findings_on_the_words(
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
    finding = next(one for one in facts.findings if one.evidence and one.evidence[0].quote)
    with pdfplumber.open(BytesIO(copy)) as marked:
        note = next(one for one in marked.pages[0].annots if finding.id in (one["contents"] or ""))
    assert note["data"]["Subtype"].name == "Highlight"  # on the words, and not in the page's corner
