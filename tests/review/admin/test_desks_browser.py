"""The desks in a real browser: in both languages, wide and narrow, light and dark, nothing is broken for anybody.

With HUB_SCREENSHOTS each page is also stored in that folder as a picture.
"""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from django.urls import reverse
from django.utils import timezone
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from knowledge.models import Collection, OperationSample
from review.models import CheckListVersion, Finding, Review
from tests.axe import broken_rules
from tests.browsers import PATIENCE_S, WebDriverWait
from tests.hub.admin.support import add_document
from tests.review.admin.test_pages_browser import RUNS_OFF, picture, resize
from tests.review.report.test_annotated import review_file
from tests.review.triage.deciding import decide

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Each width, language and theme once; and the other two of each pair, which only ``--long`` looks at.
LOOKS = [(1366, "ja", ""), (390, "en", "dark")]
OTHER_LOOKS = [(1366, "en", "dark"), (390, "ja", "")]
DARK = "document.documentElement.classList.toggle('dark', arguments[0] === 'dark')"


def workbook(folder: Path) -> Path:
    """A list of functions in a workbook, with words that rules find."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "機能一覧"
    rows = [
        ("番号", "機能", "内容"),
        ("FR-001", "検索", "適切に対応する。"),
        ("FR-003", "予約", "FR-009 を必要に応じて呼び出す。"),
    ]
    for row in rows:
        sheet.append(row)
    written = BytesIO()
    book.save(written)
    path = folder / "機能一覧.xlsx"
    path.write_bytes(written.getvalue())
    return path


@pytest.fixture
def desks(tmp_path: Path) -> dict[str, str]:
    """The addresses of the desks by short names."""
    review = review_file(workbook(tmp_path))
    OperationSample.objects.bulk_create(
        OperationSample(
            at=timezone.now() - timedelta(minutes=9 * number), waiting=number, finished=2, failed=0, stored_bytes=10**9
        )
        for number in range(20)
    )
    return {
        "front": reverse("admin:index"),
        "own-work": reverse("admin:review_own_work"),
        "desk": reverse("admin:review_review_triage", args=[review.pk]),
        "reviews": reverse("admin:review_review_changelist"),
        "start": f"{reverse('admin:review_review_start')}?document={review.document_id_text}",
    }


@pytest.mark.parametrize("looks", [LOOKS, pytest.param(OTHER_LOOKS, marks=pytest.mark.long)], ids=["quick", "others"])
def test_the_desks_are_whole_in_both_languages_wide_and_narrow_light_and_dark(
    page: Any,
    desks: dict[str, str],
    live_server: Any,
    looks: list[tuple[int, str, str]],
) -> None:
    browser = page("admin:index")
    problems: list[tuple[object, ...]] = []
    try:
        for width, language, theme in looks:
            resize(browser, width)
            browser.add_cookie({"name": "django_language", "value": language})
            for name, address in desks.items():
                browser.get(live_server.url + address)
                browser.execute_script(DARK, theme)
                picture(browser, f"{name}-{language}-{width}-{theme or 'light'}")
                problems += [(name, width, language, theme, one) for one in browser.execute_script(RUNS_OFF)]
                problems += [(name, width, language, theme, one) for one in broken_rules(browser)]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert problems == [], "\n".join(map(str, problems))


@pytest.mark.parametrize(
    ("width", "language", "theme"), [(390, "ja", "dark"), pytest.param(1366, "en", "", marks=pytest.mark.long)]
)
def test_the_pages_that_home_leads_to_and_drafts_with_rows_break_no_rule(
    page: Any,
    tmp_path: Path,
    live_server: Any,
    width: int,
    language: str,
    theme: str,
) -> None:
    finding = Finding.objects.filter(result__review=review_file(workbook(tmp_path))).first()
    assert finding is not None
    decide(finding, triage="rejected", reason="次期の範囲")
    document = add_document(tmp_path)
    draft = CheckListVersion.objects.order_by("pk")[0]
    CheckListVersion.objects.filter(pk=draft.pk).update(status="draft")
    addresses = {
        "rejected rules": f"{reverse('admin:review_noise')}?rule={finding.rule_id}",
        "second factor": reverse("admin:hub_second_factor"),
        "sessions": reverse("admin:hub_sessions"),
        "password": reverse("admin:password_change"),
        "search": f"{reverse('admin:hub_search')}?q=応答時間",
        "document": reverse("admin:knowledge_document_change", args=[document.pk]),
        "list version": reverse("admin:review_checklistversion_change", args=[draft.pk]),
        "audit": reverse("admin:access_auditevent_changelist"),
    }
    browser = page("admin:index")
    problems: list[tuple[object, ...]] = []
    resize(browser, width)
    browser.add_cookie({"name": "django_language", "value": language})
    for name, address in addresses.items():
        browser.get(live_server.url + address)
        browser.execute_script(DARK, theme)
        picture(browser, f"{name}-{language}-{width}-{theme or 'light'}")
        problems += [(name, width, theme, one) for one in broken_rules(browser)]
    assert problems == [], "\n".join(map(str, problems))


def wait_for_text(browser: WebDriver, selector: str, text: str) -> None:
    script = "return document.querySelector(arguments[0])?.textContent || ''"
    WebDriverWait(browser, PATIENCE_S).until(lambda one: text in one.execute_script(script, selector))


def test_a_review_is_started_by_typing_names_and_choosing(
    page: Any,
    live_server: Any,
    tmp_path: Path,
) -> None:
    design = add_document(tmp_path)
    add_document(tmp_path, text="# 貸出の要件\n\n応答時間は2秒とする。\n", filename="貸出の要件.md")
    browser = page("admin:review_review_start")
    for name, words in (("id_document", design.title[:4]), ("id_related_documents", "貸出の")):
        box = browser.find_element(By.ID, f"{name}-search")
        box.send_keys(words)
        wait_for_text(browser, f"#{name}-list [data-at]", words)
        box.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    WebDriverWait(browser, PATIENCE_S).until(lambda one: one.find_elements(By.ID, "estimate"))
    assert broken_rules(browser) == []
    picture(browser, "start")
    browser.find_element(By.CSS_SELECTOR, "form[data-pickers] .hub-button-main").click()
    WebDriverWait(browser, PATIENCE_S).until(lambda _one: Review.objects.filter(related__isnull=False).exists())
    assert Review.objects.get().version.document == design


def test_a_file_that_is_chosen_on_the_list_of_reviews_is_taken_in_and_its_review_begun(
    page: Any,
    live_server: Any,
    tmp_path: Path,
) -> None:
    Collection.objects.create(slug="own", name="自分の箱")
    path = tmp_path / "新しい設計書.md"
    path.write_text("# 新しい設計書\n\n応答時間は3秒とする。\n", encoding="utf-8")
    browser = page("admin:review_review_changelist")
    browser.find_element(By.CSS_SELECTOR, "[data-file]").send_keys(str(path))
    wait_for_text(browser, "#hub-drop dialog h2", path.name)
    picture(browser, "drop")
    assert broken_rules(browser) == []
    browser.find_element(By.CSS_SELECTOR, "#hub-drop dialog [type=submit]").click()
    chip = WebDriverWait(browser, PATIENCE_S).until(lambda one: one.find_element(By.CSS_SELECTOR, ".hub-chips li"))
    assert "新しい設計書" in chip.text


def test_ctrl_k_leads_to_a_document_by_its_title_and_a_question_mark_to_the_guide(
    page: Any,
    live_server: Any,
    tmp_path: Path,
) -> None:
    design = add_document(tmp_path)
    browser = page("admin:review_review_changelist")
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "k")
    WebDriverWait(browser, PATIENCE_S).until(
        lambda one: one.switch_to.active_element.get_attribute("id") == "search-input-command"
    )
    browser.switch_to.active_element.send_keys(design.title[:4])
    wait_for_text(browser, "#command-results-list", design.title)
    picture(browser, "ctrl-k")
    assert broken_rules(browser) == []
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    WebDriverWait(browser, PATIENCE_S).until(lambda one: f"/document/{design.pk}/" in one.current_url)
    browser.find_element(By.TAG_NAME, "body").send_keys("?")
    WebDriverWait(browser, PATIENCE_S).until(lambda one: one.current_url.endswith("/guide/#documents"))
    assert browser.find_element(By.ID, "documents").text


def test_the_cited_cells_of_a_workbook_are_shown_beside_a_finding(
    page: Any,
    desks: dict[str, str],
    live_server: Any,
) -> None:
    browser = page("admin:index")
    browser.get(live_server.url + desks["desk"])
    rows = browser.find_elements(By.CSS_SELECTOR, "[data-finding-id] .hub-triage-link")
    next(one for one in rows if "機能一覧" in one.text or "FR-" in one.text).click()
    WebDriverWait(browser, PATIENCE_S).until(lambda one: one.find_elements(By.CSS_SELECTOR, ".hub-original td.cited"))
    picture(browser, "desk-original")
