"""Findings triaged in a real browser with nothing but the keyboard."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from hub.access.principals import local_operator
from hub.evaluation.models import EvaluationCase
from review.models import Finding, ResultDecision, Review
from review.triage.decisions import TriageChange, triage_seen_findings
from review.triage.verdicts import decide_result
from tests.review.conftest import review_text
from tests.review.finishing import ADMIN, FEW_OR_WHOLE, Presses, Work, design, finish_by_keys, send, wait

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# One for each finding: accept, fixed, reject, open, comment, waive. Each once; and twenty, the same often, with --long.
KEYS = "arocwf"
TWENTY_KEYS = "afrafoacafrawfaarfaf"
STATES = {"a": "accepted", "f": "fixed", "r": "rejected", "o": "open", "c": "open", "w": "waived"}


@pytest.fixture
def review(tmp_path: Path) -> Review:
    return review_text(tmp_path, design())


def shown_id(browser: WebDriver) -> str | None:
    current = browser.find_element(By.CSS_SELECTOR, "[data-finding-id][aria-current]")
    wanted = current.get_attribute("data-finding-id")
    return wanted if browser.find_element(By.ID, "hub-triage-detail").get_attribute("data-shown") == wanted else None


def revision_of(browser: WebDriver, finding_id: str) -> int:
    row = browser.find_element(By.CSS_SELECTOR, f'[data-finding-id="{finding_id}"]')
    return int(row.get_attribute("data-revision") or 0)


def fill_dialog(browser: WebDriver, key: str) -> None:
    wait(browser, lambda one: one.find_element(By.ID, "hub-triage-ask").get_attribute("open"))
    send(browser, "次期更改で対応する" if key == "w" else "設計担当に確認中")
    if key == "w":
        send(browser, Keys.TAB)
        # how a date is typed depends on the browser's language
        browser.execute_script("document.activeElement.value = '2099-12-31'")
    browser.switch_to.active_element.send_keys(Keys.CONTROL, Keys.ENTER)


@pytest.mark.parametrize("keys", [KEYS, pytest.param(TWENTY_KEYS, marks=pytest.mark.long)], ids=["six", "twenty"])
def test_findings_are_triaged_with_the_keyboard_alone(page: Any, review: Review, live_server: Any, keys: str) -> None:
    findings = list(Finding.objects.filter(result__review=review))
    assert len(findings) >= len(keys)
    browser = page("admin:index")
    browser.get(live_server.url + reverse("admin:review_review_triage", args=[review.pk]))
    browser.find_element(By.ID, "hub-triage-advance").click()  # every row in turn, whatever was decided
    browser.find_element(By.TAG_NAME, "body").click()
    decided = {}
    for number, key in enumerate(keys):
        if number:
            send(browser, "j")
        finding_id = wait(browser, shown_id)
        assert finding_id not in decided
        decided[finding_id] = STATES[key]
        if key == "o":  # decided and thought better of
            send(browser, "a")
            wait(browser, lambda one, row=finding_id: revision_of(one, row) == 1)
        before = revision_of(browser, finding_id)
        send(browser, key)
        if key in "wc":
            fill_dialog(browser, key)
        wait(browser, lambda one, row=finding_id, old=before: revision_of(one, row) == old + 1)
    send(browser, "e")
    wait(browser, lambda _one: EvaluationCase.objects.filter(input__version=1).count() == 1)
    send(browser, "k")
    assert wait(browser, shown_id) == list(decided)[-2]
    stored = dict(Finding.objects.filter(public_id__in=decided).values_list("public_id", "triage"))
    assert stored == decided
    waived = Finding.objects.get(triage="waived")
    assert (waived.triage_reason, waived.expires_at.year) == ("次期更改で対応する", 2099)
    assert Finding.objects.filter(events__text="設計担当に確認中").count() == 1
    send(browser, "?")
    assert wait(browser, lambda one: one.find_element(By.ID, "hub-triage-keys").get_attribute("open"))


def test_a_finding_is_given_to_somebody_until_a_day_and_the_versions_are_gone_through_by_keys(
    page: Any,
    review: Review,
    live_server: Any,
    tmp_path: Path,
) -> None:
    browser = page("admin:index")
    browser.get(live_server.url + reverse("admin:review_review_triage", args=[review.pk]))
    finding_id = str(wait(browser, shown_id))
    send(browser, "d")
    browser.execute_script("document.activeElement.dataset.ofBefore = '1'")
    send(browser, Keys.DOWN)
    wait(browser, lambda one: revision_of(one, finding_id) == 1)
    wait(browser, lambda one: not one.find_elements(By.CSS_SELECTOR, "[data-of-before]"))  # it was fetched again
    assert browser.find_element(By.CSS_SELECTOR, "[data-triage-assignee]").get_attribute("value")
    send(browser, "d")
    send(browser, Keys.TAB)
    browser.execute_script("document.activeElement.value = '2099-12-31'; document.activeElement.dataset.ofBefore = '1'")
    browser.execute_script("document.querySelector('.hub-triage-row[aria-current] .hub-triage-link').click()")
    wait(browser, lambda one: not one.find_elements(By.CSS_SELECTOR, "[data-of-before]"))  # fetched again: it stays
    send(browser, Keys.ENTER)
    wait(browser, lambda one: revision_of(one, finding_id) == 2)
    row = browser.find_element(By.ID, finding_id)
    assert "佐藤" in row.text
    assert "2099-12-31" in row.text
    stored = Finding.objects.get(public_id=finding_id)
    assert (stored.assignee.username if stored.assignee else "", stored.due_on) == ("佐藤", date(2099, 12, 31))

    changed = review_text(tmp_path, design().replace("本機能（FR-003）は", "この機能（FR-003）は"))
    browser.get(live_server.url + reverse("admin:review_compare_versions", args=[changed.document_id_text]))
    send(browser, "j")
    focused = wait(browser, lambda one: one.execute_script("return document.activeElement.closest('[data-change]')"))
    assert "この機能" in focused.text
    assert [one.text for one in focused.find_elements(By.CSS_SELECTOR, "ins")] == ["この機能"]


@pytest.mark.parametrize("work", FEW_OR_WHOLE)
def test_a_review_is_finished_in_sixty_presses_without_loading_the_page_again(
    page: Any,
    review: Review,
    live_server: Any,
    work: Work,
) -> None:
    work.leave(review)
    browser = page("admin:index")
    browser.get(live_server.url + reverse("admin:review_review_triage", args=[review.pk]))
    presses = Presses(browser, ADMIN)
    wait(browser, lambda _one: presses.current())
    finish_by_keys(presses, review, work)
    not_applicable = review.results.filter(verdict="not_applicable").count()
    counts = browser.find_element(By.ID, "hub-desk-counts").text
    assert not_applicable
    assert f"{not_applicable} not applicable" in counts, counts


def test_all_undecided_checks_are_decided_at_once_and_the_second_of_two_people_is_told(
    page: Any,
    review: Review,
    live_server: Any,
) -> None:
    undecided = [one.item_version.item.code for one in review.results.filter(verdict="skipped")]
    browser = page("admin:index")
    browser.get(live_server.url + reverse("admin:review_review_triage", args=[review.pk]))
    decide(review, undecided[0])
    browser.find_element(By.CSS_SELECTOR, "[data-all-of=check]").click()
    browser.find_element(By.ID, "hub-triage-reason").send_keys("画面だけの変更である", Keys.ENTER)
    browser.find_element(By.CSS_SELECTOR, ".hub-triage-bulk [value=not_applicable]").click()
    told = wait(browser, lambda one: one.find_element(By.ID, "hub-triage-message").text)
    assert "operator" in told
    assert undecided[0] in told
    decided = review.results.filter(verdict="not_applicable")
    assert decided.count() == len(undecided) - 1
    said = ResultDecision.objects.filter(result__review=review, verdict="not_applicable")
    assert set(said.values_list("reason", flat=True)) == {"画面だけの変更である"}
    row = f"check-{undecided[0]}"  # the one to look at, as it is now
    wait(browser, lambda one: one.find_element(By.ID, row).get_attribute("aria-current"))
    assert browser.find_element(By.ID, row).get_attribute("data-state") == "pass"
    wait(browser, lambda one: one.find_element(By.ID, "hub-triage-detail").get_attribute("data-shown") == undecided[0])
    send(browser, "u")  # takes back what was decided here alone
    wait(browser, lambda _one: not decided.exists())
    assert review.results.get(item_version__item__code=undecided[0]).verdict == "pass"


def test_what_was_typed_and_refused_is_there_when_the_page_is_loaded_again(
    page: Any, review: Review, live_server: Any
) -> None:
    browser = page("admin:index")
    address = live_server.url + reverse("admin:review_review_triage", args=[review.pk])
    browser.get(address)
    finding_id = str(wait(browser, shown_id))
    triage_seen_findings(principal=local_operator(), seen={finding_id: 0}, change=TriageChange(triage="accepted"))
    send(browser, "c")
    fill_dialog(browser, "c")
    told = wait(browser, lambda one: one.find_element(By.ID, "hub-triage-message").text)
    assert "operator" in told
    check_id = review.results.filter(verdict="skipped")[0].item_version.item.code
    decide(review, check_id)
    browser.find_element(By.CSS_SELECTOR, f"#check-{check_id} .hub-triage-link").click()
    wait(browser, lambda one: one.find_element(By.ID, "hub-triage-detail").get_attribute("data-shown") == check_id)
    browser.find_element(By.ID, "hub-triage-reason").send_keys("画面だけの変更である")
    browser.find_element(By.CSS_SELECTOR, "#hub-triage-detail [value=not_applicable]").click()
    wait(browser, lambda one: check_id in one.find_element(By.ID, "hub-triage-message").text)
    browser.get("about:blank")
    browser.get(f"{address}#check-{check_id}")
    reason = lambda one: one.find_element(By.ID, "hub-triage-reason").get_attribute("value")  # noqa: E731
    wait(browser, lambda one: reason(one) == "画面だけの変更である")
    browser.find_element(By.CSS_SELECTOR, f"#{finding_id} .hub-triage-link").click()
    wait(browser, lambda one: shown_id(one) == finding_id)
    assert reason(browser) == ""  # it was for that check alone
    send(browser, "c")
    wait(browser, lambda one: one.find_element(By.ID, "hub-triage-ask").get_attribute("open"))
    assert browser.find_element(By.ID, "hub-ask-text").get_attribute("value") == "設計担当に確認中"
    browser.switch_to.active_element.send_keys(Keys.CONTROL, Keys.ENTER)
    wait(browser, lambda _one: Finding.objects.filter(events__text="設計担当に確認中").exists())
    browser.refresh()
    wait(browser, shown_id)
    send(browser, "c")
    wait(browser, lambda one: one.find_element(By.ID, "hub-triage-ask").get_attribute("open"))
    assert browser.find_element(By.ID, "hub-ask-text").get_attribute("value") == ""  # it was saved
    logged = browser.get_log("browser")  # the browser notes what the server refused
    assert [one for one in logged if "409" not in one["message"]] == []


def decide(review: Review, check_id: str) -> None:
    """Somebody else is faster with a check."""
    decide_result(
        principal=local_operator(), review_id=review.public_id, check_item_id=check_id, verdict="pass", reason="確認"
    )
