"""A review is finished at home, by a reviewer without rights as staff, without loading the page again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from hub.access.models import AuditEvent
from hub.access.permissions import Role
from hub.access.principals import local_operator
from review.models import Finding, ResultDecision, Review
from review.triage.verdicts import decide_result
from tests.hub.admin.support import grant
from tests.hub.admin.test_browser import chromium  # noqa: F401 (fixture)
from tests.hub.home.test_home_browser import _broken_rules, browser, reader  # noqa: F401 (fixtures)
from tests.review.conftest import review_text
from tests.review.finishing import HOME, UNDECIDED, Presses, design, finish_by_keys, leave_fifteen_findings, wait
from tests.review.triage.deciding import decide

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NARROW = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}


@pytest.fixture
def review(reader: User, tmp_path: Path) -> Review:  # noqa: F811
    made = review_text(tmp_path, design())
    assert made.version
    grant(reader, Role.REVIEWER, made.version.document.collection)
    return made


@pytest.fixture
def narrow(browser: WebDriver) -> Iterator[WebDriver]:  # noqa: F811
    """The browser with a page as wide as a telephone."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", NARROW)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def open_review(browser: WebDriver, live_server: Any, review: Review) -> Presses:  # noqa: F811
    browser.get(f"{live_server.url}/reviews/{review.public_id}/")
    return Presses(browser, HOME)


def test_a_review_is_finished_with_the_keyboard_alone(browser: WebDriver, review: Review, live_server: Any) -> None:  # noqa: F811
    total = leave_fifteen_findings(review)
    presses = open_review(browser, live_server, review)
    assert _broken_rules(browser) == []
    presses.send("j")
    finish_by_keys(presses, review, total=total)
    assert browser.switch_to.active_element.get_attribute("id") == "sign-off-title"
    assert AuditEvent.objects.filter(action="REVIEW_SIGN_OFF", resource=f"review:{review.public_id}").count() == 1
    assert _broken_rules(browser) == []
    assert browser.get_log("browser") == []  # type: ignore[attr-defined]


def test_a_review_is_finished_with_the_pointer_on_a_narrow_page(
    narrow: WebDriver, review: Review, live_server: Any
) -> None:
    total = leave_fifteen_findings(review)
    presses = open_review(narrow, live_server, review)
    for number in range(15):
        presses.click("article[data-state=open] [value=accepted]")
        presses.wait_until_left(total - number - 1)
    presses.click("[data-choose-undecided]")
    assert narrow.find_element(By.CSS_SELECTOR, "[data-chosen]").text == str(total - 15)
    presses.click("#verdicts [value=not_applicable]")
    presses.wait_until_left(0)
    said = narrow.find_element(By.ID, "decided")
    wait(narrow, lambda _one: said.text == said.get_attribute("data-all-decided"))
    assert narrow.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    presses.click("#sign-off-ask summary")
    presses.click("#sign-off-ask button")
    presses.wait_until_signed(review)
    assert review.results.filter(verdict="not_applicable").count() == total - 15


def test_what_somebody_decided_meanwhile_is_told_and_shown_and_what_was_typed_stays(
    browser: WebDriver,  # noqa: F811
    review: Review,
    live_server: Any,
) -> None:
    undecided = [one.item_version.item.code for one in review.results.filter(verdict__in=UNDECIDED)]
    presses = open_review(browser, live_server, review)
    decide_result(
        principal=local_operator(),
        review_id=review.public_id,
        check_item_id=undecided[0],
        verdict="pass",
        reason="確認",
    )
    presses.click("[data-choose-undecided]")
    browser.find_element(By.CSS_SELECTOR, "#verdicts [name=reason]").send_keys("画面だけの変更である")
    presses.click("#verdicts [value=not_applicable]")
    said = wait(browser, lambda one: one.find_element(By.ID, "decided").text)
    assert "operator" in said
    assert not review.results.filter(verdict="not_applicable").exists()
    browser.get_log("browser")  # type: ignore[attr-defined]  # the browser notes that it was refused
    presses.click("#verdicts [value=not_applicable]")  # the others are still chosen
    wait(browser, lambda _one: review.results.filter(verdict="not_applicable").count() == len(undecided) - 1)
    said_of = ResultDecision.objects.filter(result__review=review, verdict="not_applicable")
    assert set(said_of.values_list("reason", flat=True)) == {"画面だけの変更である"}
    assert Finding.objects.filter(result__review=review).exclude(triage="open").count() == 0
    assert browser.get_log("browser") == []  # type: ignore[attr-defined]


WIDTH_OF_PLACEHOLDER = """
const field = document.querySelector("#verdicts [name=reason]"), style = getComputedStyle(field);
const pen = document.createElement("canvas").getContext("2d");
pen.font = style.font;
return field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
    - pen.measureText(field.placeholder).width;
"""


def test_the_field_of_the_reason_shows_its_placeholder_and_a_key_takes_back(
    narrow: WebDriver, review: Review, live_server: Any
) -> None:
    presses = open_review(narrow, live_server, review)
    assert narrow.execute_script(WIDTH_OF_PLACEHOLDER) > 0
    narrow.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**NARROW, "width": 1366})
    assert narrow.execute_script(WIDTH_OF_PLACEHOLDER) > 0
    presses.send("j")
    presses.decide("a")
    before = presses.left()
    presses.send("u")
    presses.wait_until_left(before + 1)
    said = narrow.find_element(By.ID, "decided")
    wait(narrow, lambda _one: said.text == said.get_attribute("data-taken-back"))


def test_who_was_faster_with_a_finding_is_told_once(
    browser: WebDriver,  # noqa: F811
    review: Review,
    live_server: Any,
) -> None:
    presses = open_review(browser, live_server, review)
    presses.send("j")
    finding = Finding.objects.get(public_id=presses.current())
    decide(finding, triage="rejected")
    presses.send("a")
    alert = wait(browser, lambda one: one.find_element(By.CSS_SELECTOR, "article [role=alert]"))
    assert "operator" in alert.text
    assert browser.find_element(By.ID, "decided").text == ""
    finding.refresh_from_db()
    assert finding.triage == "rejected"
