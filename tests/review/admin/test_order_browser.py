"""The entries of a check list's draft in another order: by dragging, by buttons and by keys; stored when saved."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from hub.access.principals import local_operator
from review.curation.master_versions import copy_checklist_version
from review.masters.listing import get_checklist, version_in_force
from review.models import CheckListVersion
from review.shipped import load_shipped_content
from tests.browsers import PATIENCE_S, WebDriverWait

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROWS = ".form-group.original:has([data-place])"


def entries(version: CheckListVersion) -> list[int]:
    return list(version.entries.order_by("position").values_list("pk", flat=True))


def shown(browser: WebDriver) -> list[int]:
    fields = browser.find_elements(By.CSS_SELECTOR, f"{ROWS} input[name^=entries][name$=-id]")
    return [int(field.get_attribute("value") or 0) for field in fields]


def test_entries_are_ordered_by_dragging_by_buttons_and_by_keys(page: Any, live_server: Any) -> None:
    load_shipped_content()
    published = version_in_force(get_checklist("basic-design"))
    assert published is not None
    draft = copy_checklist_version(principal=local_operator(), version=published)
    first, second, third, fourth, *rest = entries(draft)
    browser = page("admin:index")
    browser.get(live_server.url + reverse("admin:review_checklistversion_change", args=[draft.pk]))

    rows = browser.find_elements(By.CSS_SELECTOR, ROWS)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", rows[1])
    rows[0].find_elements(By.CSS_SELECTOR, ".hub-order-buttons button")[1].click()
    assert shown(browser)[:4] == [second, first, third, fourth]
    rows[3].find_element(By.CSS_SELECTOR, "[data-place]").send_keys(Keys.ALT, Keys.ARROW_UP)
    assert shown(browser)[:4] == [second, first, fourth, third]
    told = browser.find_element(By.CSS_SELECTOR, "p.hub-hint[role=status]").text
    assert "3" in told
    assert str(4 + len(rest)) in told
    places = browser.find_elements(By.CSS_SELECTOR, f"{ROWS} [data-place]")
    assert [one.get_attribute("value") for one in places] == [str(at) for at in range(1, 5 + len(rest))]

    handle = rows[0].find_element(By.XPATH, ".//*[@*[name()='x-sort:handle']]")
    above = rows[1].find_element(By.XPATH, ".//*[@*[name()='x-sort:handle']]")
    ActionChains(browser).click_and_hold(handle).move_by_offset(0, -10).move_to_element_with_offset(
        above, 0, -12
    ).pause(0.2).release().perform()
    WebDriverWait(browser, PATIENCE_S).until(lambda one: shown(one)[:4] == [first, second, fourth, third])
    assert browser.find_element(By.CSS_SELECTOR, "p.hub-hint[role=status]").text != told

    browser.find_element(By.NAME, "_continue").click()
    WebDriverWait(browser, PATIENCE_S).until(lambda _one: entries(draft) == [first, second, fourth, third, *rest])
    browser.get(live_server.url + reverse("admin:review_checklistversion_change", args=[published.pk]))
    assert not browser.find_elements(By.CSS_SELECTOR, ".hub-order-buttons")
    assert not browser.find_elements(By.XPATH, "//*[@*[name()='x-sort:handle']]")
