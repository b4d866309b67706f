"""Every page of the admin in a real browser under its Content-Security-Policy: nothing of the page is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from hub.admin_site.pages import registered_pages
from tests.browsers import PATIENCE_S, WebDriverWait
from tests.hub.admin.support import add_document

STATUS = "return performance.getEntriesByType('navigation')[0].responseStatus"
INLINE_SCRIPTS = "return document.querySelectorAll('script:not([src]):not([type])').length"
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


ALIKE = ("history", "delete")  # made by the same templates for every model


def addresses(*, all_of_them: bool) -> list[str]:
    """The pages without an id: those of ours, and of each model the list, the form for a new one, and the first.

    Of those that are ALIKE, unless ``all_of_them``, those of a few models.
    """
    found = [reverse("admin:index"), reverse("admin:password_change")]
    found += [reverse(f"admin:{one.name}") for one in registered_pages() if "<" not in one.route]
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        found += [reverse(f"{name}_changelist"), reverse(f"{name}_add")]
        first = model._default_manager.order_by("pk").first()
        if first is not None:
            alike = ALIKE if all_of_them or model._meta.app_label == "access" else ()
            found += [reverse(f"{name}_{kind}", args=[first.pk]) for kind in ("change", *alike)]
    return found


def refusals(browser: WebDriver) -> list[str]:
    return [line["message"] for line in browser.get_log("browser") if "Content Security Policy" in line["message"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("all_of_them", [False, pytest.param(True, marks=pytest.mark.long)])
def test_nothing_on_any_page_is_refused_by_its_policy(
    page: Any, live_server: Any, tmp_path: Path, all_of_them: bool
) -> None:
    add_document(tmp_path)
    browser = page("admin:index")
    refused: dict[str, list[str]] = {}
    shown = 0
    for address in [*addresses(all_of_them=all_of_them), "/api/v1/docs", "/admin/nothing/here/"]:
        browser.get(live_server.url + address)
        if found := refusals(browser):
            refused[address] = found
        if browser.execute_script(STATUS) == 200:
            shown += 1
            assert browser.execute_script(INLINE_SCRIPTS) == 0, address
    assert refused == {}
    assert shown > (100 if all_of_them else 60), "the others are forms that nobody may open, and pages for POST only"


def test_a_menu_opens_and_closes(page: Any) -> None:
    browser = page("admin:auth_user_changelist")
    menu = "[x-on\\:click*='openUserLinks = ']"
    sign_out = browser.find_element(By.CSS_SELECTOR, "form[action$='/logout/'], a[href$='/password_change/']")
    assert not sign_out.is_displayed()
    browser.find_element(By.CSS_SELECTOR, menu).click()
    WebDriverWait(browser, PATIENCE_S).until(lambda _browser: sign_out.is_displayed())
    browser.find_element(By.CSS_SELECTOR, menu).click()
    WebDriverWait(browser, PATIENCE_S).until(lambda _browser: not sign_out.is_displayed())


def test_people_are_found_by_typing(page: Any) -> None:
    browser = page("admin:access_accesstoken_add")
    browser.find_element(By.CSS_SELECTOR, ".field-user .select2-selection").click()
    browser.find_element(By.CSS_SELECTOR, ".select2-search__field").send_keys("佐")
    offered = "li.select2-results__option--selectable, li.select2-results__option[role=option]"
    WebDriverWait(browser, PATIENCE_S).until(
        lambda one: any("佐藤" in found.text for found in one.find_elements(By.CSS_SELECTOR, offered))
    )


def test_an_inline_script_would_not_run(page: Any) -> None:
    browser = page("admin:index")
    browser.execute_script(
        "const one = document.createElement('script'); one.textContent = 'window.ranInline = 1';"
        "document.body.append(one)"
    )
    assert browser.execute_script("return window.ranInline") is None
    WebDriverWait(browser, PATIENCE_S).until(refusals)
