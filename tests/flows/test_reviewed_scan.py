"""The whole way in a browser: a scan or a Word file is dropped, reviewed, downloaded, answered in and handed back."""

from __future__ import annotations

import urllib.request
from io import BytesIO
from pathlib import Path
from typing import Any

import pdfplumber
import pypdfium2
import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from hub.core import temporary
from knowledge.ingest import page_readings
from knowledge.models import Document
from review.models import Finding, Review
from review.report import build_report
from review.runs import execution
from review.runs.reviews import review_facts, start_review
from tests.browsers import PATIENCE_S, WebDriverWait
from tests.factories import work_through
from tests.hub.admin.support import PASSWORD
from tests.hub.home.test_home_browser import sign_in_as, until
from tests.knowledge.parsers.scans import FONT, page_picture, scanned_pdf
from tests.review.report.pdf_answers import AnsweredPdf
from tests.review.report.test_annotated import OPERATOR, design_in_word
from tests.review.report.test_returned import Copy, quoting

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


def dropped(browser: WebDriver, url: str, file: Path) -> None:
    browser.get(f"{url}/documents/upload/")
    browser.find_element(By.CSS_SELECTOR, "[name=files]").send_keys(str(file))
    until(browser, "[data-rows-of] [data-open]")


def handed_back(browser: WebDriver, url: str, review: Review, file: Path, *, next_version: bool = False) -> str:
    """Give a copy to the page that reads answers in, and confirm what it shows; returns that."""
    browser.get(url + reverse("admin:review_review_answers", args=[review.pk]))
    browser.find_element(By.NAME, "file").send_keys(str(file))
    browser.find_element(By.CSS_SELECTOR, ".hub-page-narrow [type=submit]").click()
    shown: str = until(browser, "[aria-labelledby=hub-preview]").text
    if next_version:
        browser.find_element(By.NAME, "next_version").click()
    browser.find_element(By.CSS_SELECTOR, "[aria-labelledby=hub-preview] [type=submit]").click()
    WebDriverWait(browser, PATIENCE_S).until(lambda one: one.current_url.endswith("/triage/"))
    return shown


def decided(finding_id: str) -> tuple[str, str]:
    """The state of a finding and its answer."""
    found = Finding.objects.select_related("answer").get(public_id=finding_id)
    return found.triage, found.answer.text if hasattr(found, "answer") else ""


def test_a_scan_is_reviewed_and_comes_back_with_its_findings_on_the_words(
    chromium: WebDriver,
    live_server: Any,
    queue: None,
    scan: Path,
    tmp_path: Path,
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")
    User.objects.create_superuser("佐藤", password=PASSWORD)
    sign_in_as(chromium, live_server.url, "佐藤")
    dropped(chromium, live_server.url, scan)
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
    assert finding.location.ocr_confidence is not None
    html = build_report(principal=OPERATOR, review_id=review.public_id, report_format="html", language="ja").content
    assert f"OCR で読み取り（信頼度 {finding.location.ocr_confidence:.0%}）" in html.decode()
    with pdfplumber.open(BytesIO(copy)) as marked:
        note = next(one for one in marked.pages[0].annots if finding.id in (one["contents"] or ""))
    assert note["data"]["Subtype"].name == "Highlight"  # on the words, and not in the page's corner

    answered = AnsweredPdf(copy)
    answered.reply(answered.note_of(finding), "山田 太郎", "第2章に条件を書きました。")
    answered.state(answered.note_of(finding), "山田 太郎", "Completed")
    (tmp_path / "返信.pdf").write_bytes(answered.bytes())
    assert "第2章に条件を書きました。" in handed_back(chromium, live_server.url, review, tmp_path / "返信.pdf")
    assert decided(finding.id) == ("fixed", "第2章に条件を書きました。")


def test_a_word_file_is_dropped_answered_and_becomes_the_next_version(
    chromium: WebDriver,
    live_server: Any,
    queue: None,
    tmp_path: Path,
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")
    User.objects.create_superuser("佐藤", password=PASSWORD)
    sign_in_as(chromium, live_server.url, "佐藤")
    dropped(chromium, live_server.url, design_in_word(tmp_path / "設計.docx"))
    document = work_through(Document.objects.get())
    Document.objects.update(document_type_id="basic_design")
    review = Review.objects.get(pk=start_review(principal=OPERATOR, document_id=document.public_id).pk)
    execution.execute(review.pk)
    chromium.get(f"{live_server.url}/reviews/{review.public_id}/")
    link = until(chromium, "a[href*='/report/annotated/']")
    copy = Copy(downloaded(chromium, link.get_attribute("href")))
    replied, resolved = quoting(review, "必要に応じ"), quoting(review, "FR-001")
    copy.reply(replied, "山田 太郎", "条件を第3章に書きました。")
    copy.resolve(resolved)
    (tmp_path / "返信.docx").write_bytes(copy.bytes())
    shown = handed_back(chromium, live_server.url, review, tmp_path / "返信.docx", next_version=True)
    assert "条件を第3章に書きました。" in shown
    assert decided(replied.id) == ("open", "条件を第3章に書きました。")
    assert decided(resolved.id)[0] == "fixed"
    following = Review.objects.exclude(pk=review.pk).select_related("version").get()
    assert following.version is not None
    assert (following.version.document_id, following.version.number) == (document.pk, 2)
    work_through(document)
    execution.execute(following.pk)
    chromium.get(f"{live_server.url}/reviews/{following.public_id}/")
    assert until(chromium, "a[href*='/report/annotated/']")
