"""A headless Chromium for the tests of pages: started once for a file, and as if new for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support import ui

from hub.core import temporary
from tests.hub.admin.support import PASSWORD, make_user

PATIENCE_S = 20
LOOKS_EVERY_S = 0.1
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900")


class WebDriverWait(ui.WebDriverWait[WebDriver]):
    """Selenium's, which by itself looks twice a second: a page has mostly answered long before.

    What a script put something else in the place of while it was looked at is looked at again.
    """

    def __init__(self, browser: WebDriver, timeout: float) -> None:
        replaced = [StaleElementReferenceException]
        super().__init__(browser, timeout, poll_frequency=LOOKS_EVERY_S, ignored_exceptions=replaced)


def open_chromium(**preferences: int) -> WebDriver:
    """Start a browser; the test is skipped where there is none."""
    driver = shutil.which("chromedriver")
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not driver or not browser:
        pytest.skip("no Chromium with chromedriver on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "SEVERE"})
    options.add_experimental_option("prefs", preferences)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


@pytest.fixture(scope="module")
def started_chromium(django_db_setup: None) -> Iterator[WebDriver]:
    """A browser for the tests of one file: what its connections hold of the database, no other file may meet."""
    opened = open_chromium()
    yield opened
    opened.quit()


@pytest.fixture
def chromium(started_chromium: WebDriver) -> Iterator[WebDriver]:
    """A browser that keeps nothing of a test for the next one but files of the hub, as those of one person do."""
    browser = started_chromium
    browser.get_log("browser")  # type: ignore[attr-defined]
    yield browser
    if browser.current_url.startswith("http"):
        browser.execute_script("localStorage.clear(); sessionStorage.clear()")
    browser.get("about:blank")  # nothing polls the server while the tables are emptied
    for command, values in AS_NEW.items():
        browser.execute_cdp_cmd(command, values)


AS_NEW: dict[str, dict[str, Any]] = {
    "Network.clearBrowserCookies": {},
    "Emulation.clearDeviceMetricsOverride": {},
    "Emulation.setEmulatedMedia": {"features": []},
}


@pytest.fixture
def page(chromium: WebDriver, live_server: Any, queue: None, tmp_path: Any, monkeypatch: Any) -> Iterator[Any]:
    """A way to open a page by its name, signed in as 佐藤 at the login page; scripts must not have failed."""
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")
    make_user("佐藤", is_superuser=True)
    chromium.get(live_server.url + reverse("admin:index"))
    chromium.find_element(By.NAME, "username").send_keys("佐藤")
    chromium.find_element(By.NAME, "password").send_keys(PASSWORD)
    chromium.find_element(By.CSS_SELECTOR, "#login-form [type=submit]").click()
    wait_for(chromium, "nav-sidebar-inner")

    def open_page(name: str) -> WebDriver:
        chromium.get(live_server.url + reverse(name))
        return chromium

    yield open_page
    assert chromium.get_log("browser") == []  # type: ignore[attr-defined]


def wait_for(browser: WebDriver, element_id: str) -> Any:
    return WebDriverWait(browser, PATIENCE_S).until(lambda one: one.find_element(By.ID, element_id))
