"""Every page that the site has, in a real browser: axe finds nothing, no script fails, nothing is asked of elsewhere.

The pages are those that the table of doors is made from, opened by a superuser of a hub that has one of everything: a
new page is among them by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_core_python.selenium import Axe
from django.conf import settings
from django.test import Client
from selenium.webdriver.remote.webdriver import WebDriver

from hub.core import temporary
from tests.access.admin_doors import addresses
from tests.access.people import PeopledHub, make_peopled_hub
from tests.hub.admin.test_browser import chromium  # noqa: F401 (fixture)
from tests.review.admin.test_pages_browser import RUNS_OFF, resize

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(1200)]
LOOKS = [(width, language, theme) for width in (1366, 390) for language in ("ja", "en") for theme in ("light", "dark")]
LEAST = {True: 20, False: 80}
"""Pages that there are at least, one of each template and all: fewer would mean that they are not found."""
NOT_OURS = ("/api/v1/docs",)
"""The page of the REST calls is Swagger UI's own."""
OF_ELSEWHERE = (
    "return performance.getEntriesByType('resource').map(one => one.name)"
    ".filter(one => !one.startsWith(location.origin) && !one.startsWith('data:') && !one.startsWith('blob:'))"
)


@pytest.fixture
def hub(queue: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PeopledHub:
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")
    (tmp_path / "files").mkdir()
    return make_peopled_hub(tmp_path / "files")


@pytest.fixture
def browser(chromium: WebDriver, live_server: Any, hub: PeopledHub) -> Iterator[WebDriver]:  # noqa: F811
    """A browser in which the superuser is signed in."""
    chromium.get(f"{live_server.url}/admin/login/")
    chromium.delete_all_cookies()
    chromium.add_cookie({"name": settings.SESSION_COOKIE_NAME, "value": session_of(hub)})
    yield chromium
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    chromium.get("about:blank")  # nothing polls the server while it goes


def session_of(hub: PeopledHub) -> str:
    client = Client()
    client.force_login(hub.users["superuser"])
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def pages(hub: PeopledHub) -> dict[str, str]:
    """The paths of whole pages that open for the superuser, with the template of each.

    Parts of pages, files and what leads on are none.
    """
    client = Client(headers={"Accept-Language": "ja"})
    client.force_login(hub.users["superuser"])
    paths = dict.fromkeys(one.path for one in addresses(hub).values() if one.method == "GET")
    answers = {path: client.get(path) for path in paths if path not in NOT_OURS}
    return {path: answer.templates[0].name for path, answer in answers.items() if is_page(answer)}


def is_page(response: Any) -> bool:
    is_html = response.headers.get("Content-Type", "").startswith("text/html")
    return bool(response.status_code == 200 and is_html and b"<html" in response.content[:2000])


def look_like(browser: WebDriver, width: int, language: str, theme: str) -> None:
    resize(browser, width)
    browser.add_cookie({"name": settings.LANGUAGE_COOKIE_NAME, "value": language})
    scheme = {"name": "prefers-color-scheme", "value": theme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.execute_script("localStorage.setItem('adminTheme', JSON.stringify(arguments[0]))", theme)


def problems_of(browser: WebDriver) -> list[str]:
    found = [f"runs off: {one}" for one in browser.execute_script(RUNS_OFF)]
    found += [f"asks elsewhere: {one}" for one in browser.execute_script(OF_ELSEWHERE)]
    found += [f"script: {one['message']}" for one in browser.get_log("browser")]  # type: ignore[attr-defined]
    violations = Axe().run(browser, options={"resultTypes": ["violations"]})["violations"]
    return found + [
        f"{one['id']} ({one['impact']}): {[node['html'][:160] for node in one['nodes'][:3]]}" for one in violations
    ]


@pytest.mark.parametrize(
    ("width", "language", "theme", "is_short"),
    [pytest.param(1366, "ja", "light", True, marks=pytest.mark.long)]
    + [pytest.param(*look, False, marks=pytest.mark.long) for look in LOOKS],
)
def test_every_page_is_whole_for_everybody(
    browser: WebDriver, live_server: Any, hub: PeopledHub, width: int, language: str, theme: str, is_short: bool
) -> None:
    """``is_short`` looks at one page of each template."""
    look_like(browser, width, language, theme)
    templates = pages(hub)
    paths = list({name: path for path, name in templates.items()}.values()) if is_short else list(templates)
    assert len(paths) >= LEAST[is_short]
    problems = []
    for path in paths:
        browser.get(live_server.url + path)
        problems += [f"{path} {one}" for one in problems_of(browser)]
    assert problems == [], "\n".join(problems)
