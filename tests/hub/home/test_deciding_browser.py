"""A review is finished at home, by a reviewer without rights as staff, without loading the page again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import Select

from hub.access.models import AuditEvent
from hub.access.permissions import Role
from hub.access.principals import local_operator
from review.models import Finding, ResultDecision, Review
from review.triage.verdicts import decide_result
from tests.axe import broken_rules
from tests.hub.admin.support import grant
from tests.hub.home.test_home_browser import browser, reader  # noqa: F401 (fixtures)
from tests.review.conftest import review_text
from tests.review.finishing import FEW_OR_WHOLE, HOME, UNDECIDED, Presses, Work, design, finish_by_keys, wait
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


@pytest.mark.parametrize("work", FEW_OR_WHOLE)
def test_a_review_is_finished_with_the_keyboard_alone(
    browser: WebDriver,  # noqa: F811
    review: Review,
    live_server: Any,
    work: Work,
) -> None:
    work.leave(review)
    presses = open_review(browser, live_server, review)
    assert broken_rules(browser) == []
    presses.send("j")
    finish_by_keys(presses, review, work)
    assert browser.switch_to.active_element.get_attribute("id") == "sign-off-title"
    assert AuditEvent.objects.filter(action="REVIEW_SIGN_OFF", resource=f"review:{review.public_id}").count() == 1
    assert broken_rules(browser) == []
    assert browser.get_log("browser") == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("work", FEW_OR_WHOLE)
def test_a_review_is_finished_with_the_pointer_on_a_narrow_page(
    narrow: WebDriver, review: Review, live_server: Any, work: Work
) -> None:
    work.leave(review)
    presses = open_review(narrow, live_server, review)
    keys = narrow.find_element(By.CSS_SELECTOR, "[data-keys]")
    assert keys.size["height"] < 40  # a line to open, and no ten lines
    for number in range(work.findings):
        presses.click("article[data-state=open] [value=accepted]")
        presses.wait_until_left(work.total - number - 1)
    presses.click("[data-choose=check]")
    assert narrow.find_element(By.CSS_SELECTOR, "[data-chosen=check]").text == str(work.checks)
    presses.click("#verdicts [value=not_applicable]")
    presses.wait_until_left(0)
    said = narrow.find_element(By.ID, "decided")
    wait(narrow, lambda _one: said.text == said.get_attribute("data-all-decided"))
    assert narrow.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    presses.click("#sign-off-ask summary")
    presses.click("#sign-off-ask button")
    presses.wait_until_signed(review)
    assert review.results.filter(verdict="not_applicable").count() == work.checks
    deciding = "[data-keys], #together-box, #verdicts, article [type=checkbox], article [data-decide]"
    wait(narrow, lambda one: not one.find_elements(By.CSS_SELECTOR, deciding))  # without loading the page again


def test_what_somebody_decided_meanwhile_is_told_and_shown_and_the_others_are_decided(
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
    presses.click("[data-choose=check]")
    browser.find_element(By.CSS_SELECTOR, "#verdicts [name=reason]").send_keys("画面だけの変更である")
    presses.click("#verdicts [value=not_applicable]")
    said = wait(browser, lambda one: one.find_element(By.ID, "decided").text)
    assert "operator" in said
    assert presses.current() == f"check-{undecided[0]}"  # the one to look at
    decided = review.results.filter(verdict="not_applicable")
    assert decided.count() == len(undecided) - 1
    reason = browser.find_element(By.CSS_SELECTOR, "#verdicts [name=reason]")
    assert reason.get_attribute("value") == "画面だけの変更である"
    said_of = ResultDecision.objects.filter(result__review=review, verdict="not_applicable")
    assert set(said_of.values_list("reason", flat=True)) == {"画面だけの変更である"}
    presses.send("u")  # takes back what was decided here alone
    wait(browser, lambda _one: not decided.exists())
    assert review.results.get(item_version__item__code=undecided[0]).verdict == "pass"
    assert Finding.objects.filter(result__review=review).exclude(triage="open").count() == 0
    assert browser.get_log("browser") == []  # type: ignore[attr-defined]


BROKEN_KEYS = """
const keys = [...document.querySelectorAll("main kbd")];
return keys.filter((one) => one.getClientRects().length > 1).map((one) => one.textContent);
"""
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
    assert narrow.execute_script(BROKEN_KEYS) == []
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


def states(review: Review) -> list[str]:
    return sorted(set(Finding.objects.filter(result__review=review).values_list("triage", flat=True)))


def choose_two(presses: Presses) -> list[str]:
    """Choose the finding that the keys are at and the next one, and give their ids."""
    found = []
    for key in ("", "j"):
        if key:
            presses.send(key)
        found.append(presses.current())
        presses.send("x")
    assert presses.browser.find_element(By.CSS_SELECTOR, "[data-chosen=finding]").get_attribute("textContent") == "2"
    return found


def test_several_findings_are_decided_and_assigned_with_the_keyboard_alone(
    browser: WebDriver,  # noqa: F811
    review: Review,
    live_server: Any,
    reader: User,  # noqa: F811
) -> None:
    presses = open_review(browser, live_server, review)
    presses.send("j")
    chosen = Finding.objects.filter(public_id__in=choose_two(presses))
    presses.send("r")
    wait(browser, lambda _one: chosen.filter(triage="rejected").count() == 2)
    assert Finding.objects.filter(result__review=review, triage="rejected").count() == 2
    said = browser.find_element(By.ID, "decided")
    wait(browser, lambda _one: said.text == said.get_attribute("data-saved"))
    presses.send("u")
    wait(browser, lambda _one: said.text == said.get_attribute("data-taken-back"))
    assert states(review) == ["open"]
    choose_two(presses)
    presses.send("d")
    field = browser.switch_to.active_element
    assert field.get_attribute("name") == "assignee"
    for _option in Select(field).options:
        if field.get_attribute("value") != reader.username:
            field.send_keys(Keys.ARROW_DOWN)
    assert field.get_attribute("value") == reader.username
    ActionChains(browser).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    wait(browser, lambda _one: Finding.objects.filter(result__review=review, assignee=reader).count() == 2)
    wait(browser, lambda _one: said.text == said.get_attribute("data-saved"))  # the page is as it is now
    assert states(review) == ["open"]
    assert broken_rules(browser) == []
    assert browser.get_log("browser") == []  # type: ignore[attr-defined]


def test_no_more_are_chosen_and_sent_than_can_be_changed_at_once(
    browser: WebDriver,  # noqa: F811
    review: Review,
    live_server: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hub.home.reviews.MOST_TOGETHER", 2)
    presses = open_review(browser, live_server, review)
    presses.send("j")
    browser.find_element(By.CSS_SELECTOR, "#together-box > summary").click()
    presses.click("[data-choose=finding]")
    chosen, said = (browser.find_element(By.CSS_SELECTOR, one) for one in ("[data-chosen=finding]", "#decided"))
    assert chosen.get_attribute("textContent") == "2"
    assert said.text == said.get_attribute("data-too-many")
    browser.find_elements(By.CSS_SELECTOR, "[name=finding]")[2].click()
    assert chosen.get_attribute("textContent") == "3"
    presses.send("a")
    wait(browser, lambda _one: said.text == said.get_attribute("data-too-many"))
    assert states(review) == ["open"]
    browser.find_elements(By.CSS_SELECTOR, "[name=finding]")[2].click()
    presses.send("a")
    wait(browser, lambda _one: Finding.objects.filter(result__review=review, triage="accepted").count() == 2)


def test_a_finding_is_assigned_with_a_day_at_its_own_form(
    narrow: WebDriver,
    review: Review,
    live_server: Any,
    reader: User,  # noqa: F811
) -> None:
    presses = open_review(narrow, live_server, review)
    presses.send("j")
    finding = Finding.objects.get(public_id=presses.current())
    presses.send("d")
    field = narrow.switch_to.active_element
    wait(narrow, lambda _one: len(Select(field).options) > 1)
    Select(field).select_by_value(reader.username)
    narrow.execute_script("arguments[0].form.elements.due_on.value = '2999-01-31'", field)
    field.find_element(By.XPATH, "ancestor::form//button").click()
    wait(narrow, lambda _one: Finding.objects.get(pk=finding.pk).assignee_id == reader.pk)
    finding.refresh_from_db()
    assert (str(finding.due_on), finding.triage) == ("2999-01-31", "open")
    wait(narrow, lambda one: "2999-01-31" in one.find_element(By.ID, finding.public_id).text)
    assert narrow.execute_script("return document.documentElement.scrollWidth <= innerWidth")


SHOWN_FINDINGS = """
const shown = (one) => one.getClientRects().length > 0;
return [...document.querySelectorAll("#hub-compare [data-version]")].filter(shown)
    .map((one) => one.querySelector("a").textContent.replace(/^\\d+\\. /, "") + one.closest("tr").rowIndex);
"""


@pytest.mark.parametrize("name", ["document-compare", "admin:review_compare_versions"])
def test_a_finding_of_both_versions_stands_once_in_a_row_of_a_narrow_comparison(
    narrow: WebDriver,
    review: Review,
    live_server: Any,
    reader: User,  # noqa: F811
    tmp_path: Path,
    name: str,
) -> None:
    User.objects.filter(pk=reader.pk).update(is_staff=True)
    review_text(tmp_path, design().replace("本機能（FR-003）は", "この機能（FR-003）は"))
    narrow.get(live_server.url + reverse(name, args=[review.document_id_text]))
    narrow_ones = narrow.execute_script(SHOWN_FINDINGS)
    assert narrow_ones
    assert len(set(narrow_ones)) == len(narrow_ones)
    assert narrow.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    assert broken_rules(narrow) == []
    narrow.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**NARROW, "width": 1366})
    shown = lambda one: one.execute_script(SHOWN_FINDINGS)  # noqa: E731
    wait(narrow, lambda one: len(shown(one)) > len(narrow_ones))
    assert set(shown(narrow)) == set(narrow_ones)
