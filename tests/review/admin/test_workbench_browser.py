"""A regular expression becomes a published check item, tried on three documents, on one page and by the keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from hub.access.principals import local_operator
from review.masters.listing import list_check_items
from tests.axe import broken_rules
from tests.browsers import PATIENCE_S, WebDriverWait
from tests.hub.admin.support import add_document
from tests.review.admin.test_pages_browser import RUNS_OFF, picture, resize
from tests.review.conftest import review_text

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TITLES = ("運用設計書", "移行設計書", "試験計画書")


def wait(browser: WebDriver, condition: Any) -> Any:
    return WebDriverWait(browser, PATIENCE_S).until(condition)


def active(browser: WebDriver) -> str:
    """What the element that has the focus is called."""
    return str(
        browser.execute_script(
            "const one = document.activeElement; return [one.getAttribute('aria-label'), "
            "...[...(one.labels || [])].map(label => label.textContent), one.tagName === 'BUTTON' && one.textContent]"
            ".filter(Boolean).join('|')"
        )
    )


def tab_to(browser: WebDriver, name: str) -> None:
    """Go on with the Tab key to what the page calls ``name``."""
    for _press in range(150):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        if name in active(browser):
            return
    raise AssertionError(f"no way to {name} by the Tab key")


def press(browser: WebDriver, *keys: str) -> None:
    browser.switch_to.active_element.send_keys(*keys)


def offered(browser: WebDriver) -> list[Any]:
    return browser.find_elements(By.CSS_SELECTOR, "#id_documents-list [role=option]")


def choose_document(browser: WebDriver, title: str) -> None:
    """Choose a document by its title in the box that has the focus."""
    press(browser, title)
    wait(browser, lambda one: [each.text.split("\n")[0] for each in offered(one)] == [title])
    press(browser, Keys.ARROW_DOWN, Keys.ENTER)
    wait(browser, lambda one: title in one.find_element(By.CSS_SELECTOR, ".hub-chips").text)


def test_a_pattern_becomes_a_published_item_on_one_page_by_the_keyboard(
    page: Any,
    tmp_path: Path,
    live_server: Any,
) -> None:
    review = review_text(tmp_path, "# 予約システム 基本設計書\n\n## 1. 目的\n\n性能の目標は未定とする。\n")
    code = review.checklist_version.checklist.code
    for number, title in enumerate(TITLES):
        body = f"# {title}\n\n## 1. 体制\n\n体制を示す。\n\n" + "この値は未定とする。\n\n" * number
        add_document(tmp_path, filename=f"{title}.md", text=body)
    browser = page("admin:index")
    browser.add_cookie({"name": "django_language", "value": "ja"})
    browser.get(live_server.url + reverse("admin:review_workbench") + f"?checklist={code}")
    browser.execute_script("window.isTheSamePage = true")

    browser.find_element(By.ID, "id_code").click()
    press(browser, "X-77")
    tab_to(browser, "名称")
    press(browser, "未定の語を使わない")
    tab_to(browser, "パターン: ")
    press(browser, Keys.ENTER)  # the button that adds a line
    assert "正規表現" in active(browser)
    press(browser, "未(定")
    wait(browser, lambda one: "未(定" in one.find_element(By.ID, "hub-trial").text)  # no regular expression yet
    press(browser, Keys.BACKSPACE * 3 + "未定")
    press(browser, Keys.SHIFT + Keys.TAB)
    press(browser, "禁")
    tab_to(browser, "試す文書")
    for title in TITLES:
        choose_document(browser, title)
    found = wait(browser, lambda one: len(one.find_elements(By.CSS_SELECTOR, ".hub-trial")) == 3 and one)
    counts = {
        one.find_element(By.TAG_NAME, "h3").text: len(one.find_elements(By.CSS_SELECTOR, ".hub-trial-quote"))
        for one in found.find_elements(By.CSS_SELECTOR, ".hub-trial")
    }
    assert list(counts) == list(TITLES)
    assert [count > 0 for count in counts.values()] == [False, True, True]
    assert broken_rules(browser) == []

    hint = browser.find_element(By.CSS_SELECTOR, "[data-lines=patterns] .hub-hint").text
    assert "「必須」か「禁止」を選び" in hint

    tab_to(browser, "どの判定が変わるか")
    press(browser, Keys.ENTER)
    wait(browser, lambda one: "1 件中 1 件" in one.find_element(By.ID, "hub-verdicts-told").text)
    assert browser.execute_script("return window.isTheSamePage")
    tab_to(browser, "保存して公開")
    press(browser, Keys.ENTER)
    wait(browser, lambda one: not one.execute_script("return window.isTheSamePage"))
    in_force = list_check_items(local_operator(), checklist=code, code="X-77")
    assert [version.criteria["patterns"] for _list, version in in_force] == [[{"pattern": "未定", "must_occur": False}]]
    # the page goes on with the next version, beside the same documents
    wait(browser, lambda one: len(one.find_elements(By.CSS_SELECTOR, ".hub-trial")) == 3)
    assert browser.find_element(By.ID, "id_patterns").get_attribute("value") == "禁止: 未定"
    assert "X-77" in browser.find_element(By.ID, "id_code").get_attribute("value")
    picture(browser, "workbench")
    resize(browser, 390)
    try:
        picture(browser, "workbench-390")
        assert browser.execute_script(RUNS_OFF) == []
    finally:
        resize(browser, 1280)


def test_a_new_pattern_is_forbidden_where_only_the_rule_of_forbidden_ones_is_chosen(
    page: Any,
    tmp_path: Path,
    live_server: Any,
) -> None:
    """As a required one it was stored and published, and no rule looked at it."""
    code = review_text(tmp_path, "# 基本設計書\n\n## 1. 目的\n\n示す。\n").checklist_version.checklist.code
    browser = page("admin:index")
    browser.get(live_server.url + reverse("admin:review_workbench") + f"?checklist={code}")

    def chosen_for(*rules: str) -> str:
        """Choose rules, each in a line of its own, add a pattern, and see what it would be."""
        browser.refresh()
        for rule in rules:
            browser.find_element(By.CSS_SELECTOR, "[data-lines=rules] .hub-line-add").click()
            press(browser, rule)
        browser.find_element(By.CSS_SELECTOR, "[data-lines=patterns] .hub-line-add").click()
        return str(browser.find_elements(By.CSS_SELECTOR, ".hub-line-wanted")[-1].get_attribute("value"))

    assert chosen_for() == "必須"
    assert chosen_for("pattern.forbidden") == "禁止"
    assert chosen_for("pattern.forbidden", "pattern.required") == "必須"
