"""A browser whose scripts are off: people sign in and work at home, and the administration says what needs scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from hub.access.permissions import Role
from review.models import Finding, Review
from tests.browsers import open_chromium
from tests.hub.admin.support import DESIGN as OF_ANSWERS
from tests.hub.admin.support import PASSWORD, add_document, grant
from tests.hub.home.test_home_browser import QUESTION, ask, reader, until  # noqa: F401 (a fixture)
from tests.review.conftest import DESIGN, review_text

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCRIPTS_OFF = {"profile.managed_default_content_settings.javascript": 2}


@pytest.fixture(scope="module")
def chromium() -> Iterator[WebDriver]:
    opened = open_chromium(**SCRIPTS_OFF)
    yield opened
    opened.quit()


@pytest.fixture
def review(reader: User, tmp_path: Path) -> Review:  # noqa: F811
    made = review_text(tmp_path, DESIGN)
    assert made.version
    grant(reader, Role.REVIEWER, made.version.document.collection)
    return made


@pytest.fixture
def browser(chromium: WebDriver, live_server: Any, review: Review) -> Iterator[WebDriver]:
    """Signed in by the form of the page, at home."""
    chromium.get(live_server.url)
    chromium.delete_all_cookies()
    chromium.get(live_server.url)
    chromium.find_element(By.NAME, "username").send_keys("読者")
    chromium.find_element(By.NAME, "password").send_keys(PASSWORD)
    chromium.find_element(By.CSS_SELECTOR, "#login-form [type=submit]").click()
    until(chromium, "#question")
    yield chromium
    chromium.get("about:blank")


def test_a_question_is_answered_and_a_finding_decided(
    browser: WebDriver, live_server: Any, review: Review, tmp_path: Path
) -> None:
    add_document(tmp_path, text=OF_ANSWERS)
    ask(browser, QUESTION)
    until(browser, f"a[href^='{reverse('answer')}']").click()
    assert until(browser, ".sources a").is_displayed()
    finding = Finding.objects.filter(result__review=review).first()
    assert finding is not None
    browser.get(f"{live_server.url}/reviews/{review.public_id}/")
    until(browser, f"#{finding.public_id} [value=accepted]").click()
    until(browser, f"#{finding.public_id}[data-state=accepted]")  # of the page that answers
    finding.refresh_from_db()
    assert finding.triage == "accepted"


def test_the_administration_is_shown_with_its_menu_and_says_what_needs_scripts(
    browser: WebDriver,
    live_server: Any,
    review: Review,
    reader: User,  # noqa: F811
) -> None:
    reader.is_staff = True
    reader.save()
    browser.get(live_server.url + reverse("admin:review_review_changelist"))
    assert until(browser, ".hub-scriptless").is_displayed()
    assert browser.find_element(By.CSS_SELECTOR, "#logout-form button").is_displayed()
    browser.find_element(By.CSS_SELECTOR, "#nav-sidebar .hub-door").click()
    browser.get(live_server.url + reverse("admin:review_review_triage", args=[review.pk]))
    until(browser, ".hub-triage-link").click()
    until(browser, f"noscript a[href='/reviews/{review.public_id}/']").click()
    assert until(browser, ".finding [value=accepted]").is_displayed()
