"""The desks of reviewer, curator and operator walked to the end with the keyboard alone, and with the pointer alone.

Each in Japanese and in English, wide and narrow, light and dark. Text is typed either way.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import pytest
from django.urls import reverse
from django.utils import timezone
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import Select

from hub.access.principals import local_operator
from knowledge.models import DocumentVersion, OperationSample
from review.masters.listing import list_check_items
from review.models import Review
from tests.axe import broken_rules
from tests.factories import upload_file, work_through
from tests.hub.admin.support import add_document
from tests.review.admin.test_desks_browser import DARK
from tests.review.admin.test_pages_browser import RUNS_OFF, resize
from tests.review.conftest import review_text
from tests.review.finishing import ADMIN, WHOLE, Presses, design, finish_by_keys, wait

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]
LOOKS = [(1366, "ja", ""), (1366, "en", "dark"), (390, "ja", "dark"), (390, "en", "")]
MOST_TABS = 250
TITLES = ("運用設計書", "移行設計書", "試験計画書")
OPTION = "#id_documents-list [role=option]"


class Hand(Protocol):
    """How somebody works at a page: what is pressed, written into and chosen from is named by a selector."""

    def press(self, selector: str) -> None: ...

    def write(self, selector: str, text: str) -> None: ...

    def choose(self, selector: str, value: str) -> None: ...

    def pick(self, option: str) -> None: ...


class Keyboard:
    def __init__(self, browser: WebDriver) -> None:
        self._browser = browser

    def press(self, selector: str) -> None:
        self._go_to(selector).send_keys(Keys.ENTER)

    def write(self, selector: str, text: str) -> None:
        self._go_to(selector).send_keys(text)

    def choose(self, selector: str, value: str) -> None:
        field = self._go_to(selector, step=Keys.SHIFT + Keys.TAB)
        for _option in Select(field).options:
            if field.get_attribute("value") != value:
                field.send_keys(Keys.ARROW_DOWN)
        assert field.get_attribute("value") == value

    def pick(self, option: str) -> None:
        """Take the only option that the field with the focus offers."""
        self._browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN, Keys.ENTER)

    def _go_to(self, selector: str, step: str = Keys.TAB) -> Any:
        """Go on by the Tab key to what a selector names, unless it has the focus, and return it."""
        for _tab in range(MOST_TABS):
            if self._browser.execute_script("return document.activeElement.matches(arguments[0])", selector):
                return self._browser.switch_to.active_element
            self._browser.switch_to.active_element.send_keys(step)
        raise AssertionError(f"no way to {selector} by the Tab key")


class Pointer:
    def __init__(self, browser: WebDriver) -> None:
        self._browser = browser

    def press(self, selector: str) -> None:
        self._browser.find_element(By.CSS_SELECTOR, selector).click()

    def write(self, selector: str, text: str) -> None:
        self.press(selector)
        self._browser.switch_to.active_element.send_keys(text)

    def choose(self, selector: str, value: str) -> None:
        field = self._browser.find_element(By.CSS_SELECTOR, selector)
        Select(field).select_by_value(value)
        # what browsers tell the page when a person chooses, and the driver does not
        self._browser.execute_script("arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", field)

    def pick(self, option: str) -> None:
        self.press(option)


@pytest.fixture
def browser(page: Any) -> WebDriver:
    opened: WebDriver = page("admin:index")
    return opened


def open_in(browser: WebDriver, address: str, look: tuple[int, str, str]) -> None:
    width, language, theme = look
    resize(browser, width)
    browser.add_cookie({"name": "django_language", "value": language})
    browser.get(address)
    browser.execute_script(DARK, theme)


def assert_whole(browser: WebDriver) -> None:
    assert browser.execute_script(RUNS_OFF) == []
    assert broken_rules(browser) == []


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("by_keys", [True, False])
def test_a_review_is_finished_at_the_reviewers_desk(
    browser: WebDriver, live_server: Any, tmp_path: Path, look: tuple[int, str, str], by_keys: bool
) -> None:
    review = review_text(tmp_path, design())
    WHOLE.leave(review)
    open_in(browser, live_server.url + reverse("admin:review_review_triage", args=[review.pk]), look)
    presses = Presses(browser, ADMIN)
    wait(browser, lambda _one: presses.current())
    if by_keys:
        finish_by_keys(presses, review, WHOLE)
    else:
        finish_by_pointer(presses, review)
    assert_whole(browser)


def finish_by_pointer(presses: Presses, review: Review) -> None:
    """Decide every finding by its buttons, the checks all at once, and sign off."""
    browser = presses.browser
    shown = lambda one: one.find_element(By.ID, "hub-triage-detail").get_attribute("data-shown")  # noqa: E731
    for number in range(WHOLE.findings):
        wait(browser, lambda one: shown(one) == presses.current())
        presses.click(f"#hub-triage-detail [data-triage-key={'arf'[number % 3]}]")
        presses.wait_until_left(WHOLE.total - number - 1)
    presses.click("[data-all-of=check]")
    presses.click(".hub-triage-bulk [value=not_applicable]")
    presses.wait_until_left(0)
    wait(browser, lambda one: one.find_elements(By.CSS_SELECTOR, "[data-sign-off]"))
    presses.click("[data-sign-off]")
    presses.click("#hub-sign-off-ask [value=ok]")
    presses.wait_until_signed(review)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("hand_of", [Keyboard, Pointer])
def test_a_pattern_is_tried_on_three_documents_and_published_at_the_curators_workbench(
    browser: WebDriver, live_server: Any, tmp_path: Path, look: tuple[int, str, str], hand_of: type[Keyboard | Pointer]
) -> None:
    code = review_text(tmp_path, "# 設計書\n\n## 1. 目的\n\n目標は未定とする。\n").checklist_version.checklist.code
    for number, title in enumerate(TITLES):
        body = f"# {title}\n\n## 1. 体制\n\n体制を示す。\n\n" + "この値は未定とする。\n\n" * number
        add_document(tmp_path, filename=f"{title}.md", text=body)
    open_in(browser, f"{live_server.url}{reverse('admin:review_workbench')}?checklist={code}", look)
    browser.execute_script("window.isTheSamePage = true")
    hand = hand_of(browser)
    hand.write("#id_code", "X-77")
    hand.write("#id_name_ja", "未定の語を使わない")
    hand.press("[data-lines=patterns] .hub-line-add")
    hand.write("[data-lines=patterns] li input", "未定")
    hand.choose("[data-lines=patterns] li select", "禁止")
    for title in TITLES:
        choose_document(browser, hand, title)
    trials = wait(browser, lambda one: len(one.find_elements(By.CSS_SELECTOR, ".hub-trial")) == 3 and one)
    quotes = [
        len(one.find_elements(By.CSS_SELECTOR, ".hub-trial-quote"))
        for one in trials.find_elements(By.CSS_SELECTOR, ".hub-trial")
    ]
    assert [number > 0 for number in quotes] == [False, True, True]
    hand.press("[data-compare]")
    wait(browser, lambda one: one.find_element(By.ID, "hub-verdicts-told").text)
    assert_whole(browser)
    assert browser.execute_script("return window.isTheSamePage")
    hand.press("[name=publish]")
    wait(browser, lambda one: not one.execute_script("return window.isTheSamePage"))
    in_force = list_check_items(local_operator(), checklist=code, code="X-77")
    assert [version.criteria["patterns"] for _list, version in in_force] == [[{"pattern": "未定", "must_occur": False}]]


def choose_document(browser: WebDriver, hand: Hand, title: str) -> None:
    """Choose a document by its whole title."""
    hand.write("#id_documents-search", title)
    offered = lambda one: [each.text.split("\n")[0] for each in one.find_elements(By.CSS_SELECTOR, OPTION)]  # noqa: E731
    wait(browser, lambda one: offered(one) == [title])
    hand.pick(OPTION)
    wait(browser, lambda one: title in one.find_element(By.CSS_SELECTOR, ".hub-chips").text)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("hand_of", [Keyboard, Pointer])
def test_failures_are_seen_over_a_week_and_begun_again_at_the_operators_desk(
    browser: WebDriver, live_server: Any, tmp_path: Path, look: tuple[int, str, str], hand_of: type[Keyboard | Pointer]
) -> None:
    broken = tmp_path / "壊れた.pdf"
    broken.write_bytes(b"%PDF-1.7 broken")
    failed = work_through(upload_file(local_operator(), broken).document).versions.get()
    assert failed.status == "failed"
    OperationSample.objects.bulk_create(
        OperationSample(
            at=timezone.now() - timedelta(hours=9 * number), waiting=number, finished=2, failed=1, stored_bytes=10**9
        )
        for number in range(12)
    )
    open_in(browser, live_server.url + reverse("admin:index"), look)
    hand = hand_of(browser)
    hand.press(".hub-tabs [href*='period=week']")
    wait(browser, lambda one: "period=week" in one.current_url)
    wait(browser, lambda one: one.find_elements(By.CSS_SELECTOR, "canvas.chart"))
    browser.execute_script(DARK, look[2])
    assert_whole(browser)
    hand.press("form[action$='/retry-failures/'] button")
    wait(browser, lambda _one: DocumentVersion.objects.get(pk=failed.pk).status != "failed")
    wait(browser, lambda one: "period=week" not in one.current_url)
