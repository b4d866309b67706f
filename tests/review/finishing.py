"""A review finished in a real browser, press by press: at the desk of the administration, and at home."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from review.models import Finding, Review
from tests.browsers import PATIENCE_S, WebDriverWait

UNDECIDED = ("skipped", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where a page has what the walk looks at: selectors."""

    row: str
    left: str
    refusal: str
    asks_to_sign: str
    still_decides: str


ADMIN = Desk(
    row=".hub-triage-row",
    left="#hub-desk-left strong",
    refusal="#hub-triage-message.hub-error",
    asks_to_sign="#hub-sign-off-ask",
    still_decides="#hub-triage[data-may-act]",
)
HOME = Desk(
    row="article",
    left="#review-state strong",
    refusal="main [role=alert]",
    asks_to_sign="#sign-off-ask",
    still_decides="article[data-state]",
)


def design() -> str:
    """A design with more than twenty defects: empty chapters, missing topics."""
    chapters = [
        f"## {number}. 機能{number}\n\n本機能（FR-{number:03}）は X{number}-{number + 100} の要件に従う。\n\n"
        for number in range(1, 13)
    ]
    empty = [f"## {number}. 資料{number}\n\n" for number in range(13, 21)]
    return "# 予約システム 基本設計書\n\n- 版数: 1.0\n\n" + "".join(chapters + empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How many findings and checks of a review of :func:`design` are to be decided."""

    findings: int
    checks: int

    @property
    def total(self) -> int:
        return self.findings + self.checks

    def leave(self, review: Review) -> None:
        """Leave so many of a review."""
        findings = Finding.objects.filter(result__review=review)
        findings.filter(pk__in=[one.pk for one in findings[self.findings :]]).delete()
        undecided = review.results.filter(verdict__in=UNDECIDED)
        undecided.filter(pk__in=[one.pk for one in undecided.order_by("pk")[self.checks :]]).update(verdict="pass")
        assert (findings.count(), undecided.count()) == (self.findings, self.checks)


FEW, WHOLE = Work(findings=4, checks=4), Work(findings=15, checks=17)
FEW_OR_WHOLE = [pytest.param(FEW, id="few"), pytest.param(WHOLE, id="whole", marks=pytest.mark.long)]
"""The whole of a review in sixty presses is finished by ``make test-long``, each kind of press by ``make test``."""


def send(browser: WebDriver, key: str) -> None:
    browser.switch_to.active_element.send_keys(key)


def wait(browser: WebDriver, condition: Any) -> Any:
    return WebDriverWait(browser, PATIENCE_S).until(condition)


class Presses:
    """Sends keys and clicks to the page as a person does, and counts them; a page that was loaded again is told."""

    def __init__(self, browser: WebDriver, desk: Desk) -> None:
        self.browser, self.desk, self.count = browser, desk, 0
        browser.execute_script("window.isTheSamePage = true")

    def send(self, key: str) -> None:
        self.count += 1
        send(self.browser, key)

    def click(self, selector: str) -> None:
        """Click what a person sees there; the browser refuses what is covered, after it was scrolled to."""
        self.count += 1
        self.browser.find_element(By.CSS_SELECTOR, selector).click()

    def current(self) -> str:
        """The id of the row that keys are for, "" while there is none."""
        script = f"return document.querySelector('{self.desk.row}[aria-current]')?.id ?? ''"
        return str(self.browser.execute_script(script))

    def decide(self, key: str) -> None:
        """Decide what is shown, and wait until the desk goes on."""
        before = self.current()
        self.send(key)
        wait(self.browser, lambda _one: self.has_gone_on_from(before))

    def has_gone_on_from(self, row: str) -> bool:
        refused = self.browser.find_elements(By.CSS_SELECTOR, self.desk.refusal)
        assert not refused, refused[0].text
        return self.current() != row or not self.left()

    def left(self) -> int:
        """How many findings and checks the page says are to be decided."""
        script = f"return [...document.querySelectorAll('{self.desk.left}')].map((one) => Number(one.textContent))"
        return sum(self.browser.execute_script(script))

    def wait_until_left(self, number: int) -> None:
        wait(self.browser, lambda _one: self.left() == number)

    def wait_until_signed(self, review: Review) -> None:
        """Wait until the review is signed off, in few presses, and the page, still the same, lets nobody decide."""
        wait(self.browser, lambda _one: Review.objects.get(pk=review.pk).signed_at)
        wait(self.browser, lambda one: not one.find_elements(By.CSS_SELECTOR, self.desk.still_decides))
        assert self.count <= 60
        assert self.browser.execute_script("return window.isTheSamePage")


def finish_by_keys(presses: Presses, review: Review, work: Work) -> None:
    """Decide every finding and check, one of them twice, and sign off, with the keyboard alone."""
    browser = presses.browser
    for number in range(work.findings):
        presses.decide("arf"[number % 3])
    presses.decide("4")
    assert presses.left() == work.checks - 1
    presses.send("u")  # thought better of: it is to be decided again, and shown
    presses.wait_until_left(work.checks)
    for number in range(work.checks):
        presses.decide("14"[number % 2])
    assert presses.left() == 0
    wait(browser, lambda one: one.find_elements(By.CSS_SELECTOR, presses.desk.asks_to_sign))
    presses.send("s")
    wait(browser, lambda one: one.find_elements(By.CSS_SELECTOR, f"{presses.desk.asks_to_sign}[open]"))
    presses.send(Keys.ENTER)
    presses.wait_until_signed(review)
    assert not review.results.filter(verdict__in=UNDECIDED).exists()
