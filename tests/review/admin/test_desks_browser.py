"""The desks in a real browser: in both languages, wide and narrow, light and dark, nothing is broken for anybody.

With HUB_SCREENSHOTS each page is also stored in that folder as a picture.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from axe_core_python.selenium import Axe
from django.urls import reverse
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.hub.admin.test_browser import PATIENCE_S, chromium, page  # noqa: F401 (fixtures)
from tests.review.admin.test_pages_browser import RUNS_OFF, picture, resize
from tests.review.report.test_annotated import review_file

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LOOKS = [(1366, "ja", ""), (1366, "en", "dark"), (390, "ja", "dark"), (390, "en", "")]
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
    return {"desk": reverse("admin:review_review_triage", args=[review.pk])}


def broken_rules(browser: WebDriver) -> list[str]:
    """Ask axe, all of its rules."""
    violations = Axe().run(browser)["violations"]
    return [f"{one['id']} ({one['impact']}): {[node['html'][:160] for node in one['nodes'][:3]]}" for one in violations]


def test_the_desks_are_whole_in_both_languages_wide_and_narrow_light_and_dark(
    page: Any,  # noqa: F811
    desks: dict[str, str],
    live_server: Any,
) -> None:
    browser = page("admin:index")
    problems: list[tuple[object, ...]] = []
    try:
        for width, language, theme in LOOKS:
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


def test_the_cited_cells_of_a_workbook_are_shown_beside_a_finding(
    page: Any,  # noqa: F811
    desks: dict[str, str],
    live_server: Any,
) -> None:
    browser = page("admin:index")
    browser.get(live_server.url + desks["desk"])
    rows = browser.find_elements(By.CSS_SELECTOR, "[data-finding-id] .hub-triage-link")
    next(one for one in rows if "機能一覧" in one.text or "FR-" in one.text).click()
    WebDriverWait(browser, PATIENCE_S).until(lambda one: one.find_elements(By.CSS_SELECTOR, ".hub-original td.cited"))
    picture(browser, "desk-original")
