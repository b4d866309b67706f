"""The admin in a real browser: what only a browser shows (scripts, forms as people fill them)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from tests.browsers import PATIENCE_S, WebDriverWait, wait_for
from tests.hub.admin.support import DESIGN, add_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_signing_in_leads_to_the_front_page(page: Any) -> None:
    assert page("admin:index").find_element(By.ID, "hub-health").text


def test_a_token_is_shown_after_it_is_made_and_never_again(page: Any) -> None:
    browser = page("admin:access_accesstoken_add")
    browser.find_element(By.NAME, "name").send_keys("検索用")
    browser.find_element(By.NAME, "_save").click()
    token = wait_for(browser, "hub-token").text
    assert token.startswith("hub_")
    assert token not in page("admin:access_accesstoken_changelist").page_source


def test_a_search_is_typed_and_its_passage_opened_with_the_keyboard(page: Any, tmp_path: Path) -> None:
    add_document(tmp_path, text=DESIGN)
    browser = page("admin:hub_search")
    # The browser gives the field its focus with the first frame, which may come after the load.
    WebDriverWait(browser, PATIENCE_S).until(
        lambda one: one.switch_to.active_element.get_attribute("id") == "hub-query"
    )
    browser.switch_to.active_element.send_keys("画面の応答時間", Keys.ENTER)
    WebDriverWait(browser, PATIENCE_S).until(lambda one: one.find_elements(By.CSS_SELECTOR, ".hub-hit mark"))
    browser.find_element(By.TAG_NAME, "body").send_keys("j")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    wait_for(browser, "passage")
    assert any("応答時間" in mark.text for mark in browser.find_elements(By.CSS_SELECTOR, ".hub-document mark"))


def test_a_wide_table_scrolls_by_itself_to_what_is_asked_on_a_narrow_page(page: Any, tmp_path: Path) -> None:
    columns = [f"とても長い名前の列{number}" for number in range(12)]
    rows = [[f"値{row}の{number}" for number in range(11)] + ["応答時間は3秒"] for row in range(3)]
    lines = [" | ".join(row) for row in [columns, ["---"] * 12, *rows]]
    table = "".join(f"| {line} |\n" for line in lines)
    add_document(tmp_path, filename="一覧.md", text=f"# 画面一覧\n\n{table}")
    browser = page("admin:hub_search")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        browser.get(f"{browser.current_url}?q=応答時間")
        box = browser.find_element(By.CSS_SELECTOR, ".hub-hit .hub-passage-table")
        assert box.find_element(By.TAG_NAME, "mark").text == "応答時間"
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.execute_script("return arguments[0].scrollWidth > arguments[0].clientWidth", box)
        WebDriverWait(browser, PATIENCE_S).until(
            lambda one: one.execute_script("return arguments[0].scrollLeft > 0", box)
        )
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_menu_filters_and_account_of_a_narrow_page_open_by_keys(page: Any) -> None:
    browser = page("admin:index")
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser = page("admin:review_review_changelist")
        for opener, opened in (
            ("main [x-on\\:click*=filterOpen], [role=main] [x-on\\:click*=filterOpen]", "#changelist-filter"),
            ("#header-inner [x-on\\:click*=sidebarMobileOpen]", "#nav-sidebar"),
            ("#nav-sidebar [x-on\\:click*=openUserLinks]", "#nav-sidebar-inner nav"),
        ):
            button = browser.find_element(By.CSS_SELECTOR, opener)
            assert not browser.find_element(By.CSS_SELECTOR, opened).is_displayed()
            button.send_keys(Keys.ENTER)
            WebDriverWait(browser, PATIENCE_S).until(partial(reaches, part=opened))
            if opened == "#changelist-filter":
                browser.refresh()
        assert browser.find_element(By.CSS_SELECTOR, "#logout-form button").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def reaches(browser: WebDriver, part: str) -> bool:
    """Whether a part of the page is shown and has the focus in it."""
    has_focus = browser.execute_script("return !!document.activeElement.closest(arguments[0])", part)
    return bool(has_focus and browser.find_element(By.CSS_SELECTOR, part).is_displayed())
