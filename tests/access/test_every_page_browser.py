"""Every page that the site has, in a real browser: axe finds nothing, no script fails, nothing is asked of elsewhere.

The pages are those that the table of doors is made from, opened by a superuser of a hub that has one of everything: a
new page is among them by itself. Those that only a question, a place in a document or a candidate leads to are added
by hand, and so is signing in. What forms answer is a page, too: what they ask before they act, and what they refuse.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import Client
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from hub.access.principals import local_operator
from hub.access.services import principal_for_user
from hub.core import temporary
from knowledge.models import AskedQuestion
from knowledge.questions import ask_owner, note_question
from knowledge.types.search import SearchFilter
from tests.access.admin_doors import JSON_BODY, Address, Browser, addresses
from tests.access.people import COLLECTION, PeopledHub, make_peopled_hub
from tests.axe import broken_rules
from tests.browsers import PATIENCE_S, WebDriverWait
from tests.factories import upload_file, work_through
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf
from tests.review.admin.test_pages_browser import RUNS_OFF, resize

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1200),
]
LOOKS = [(width, language) for width in (1366, 390) for language in ("ja", "en")]
THEMES = ("light", "dark")
LEAST = 80
"""Pages that there are at least: fewer would mean that they are not found."""
ALL_RULES_THEN_THOSE_OF_COLOURS: tuple[dict[str, Any], ...] = (
    {},
    {"runOnly": ["color-contrast", "link-in-text-block"]},
)
"""The theme changes colours alone, so the second look at a page asks for nothing else."""
LEAST_ANSWERS = 20
"""Pages that forms answer with at least."""
NOT_OURS = ("/api/v1/docs",)
"""The page of the REST calls is Swagger UI's own."""
SIGN_OUT, SIGN_IN = "/admin/logout/", "/admin/login/"
QUESTION = "予約システムの目的"
OF_ELSEWHERE = (
    "return performance.getEntriesByType('resource').map(one => one.name)"
    ".filter(one => !one.startsWith(location.origin) && !one.startsWith('data:') && !one.startsWith('blob:'))"
)
SQUEEZED = """
const lines = (part) => {
  const range = document.createRange();
  range.selectNodeContents(part);
  return new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size;
};
return [...document.querySelectorAll("#main *")]
  .filter((part) => !part.children.length && part.offsetParent && part.textContent.trim().length > 1)
  .filter((part) => lines(part) >= part.textContent.trim().length)
  .map((part) => part.outerHTML.slice(0, 160));
"""
"""What has one character on each line."""
SUBMIT = """
const [address, fields] = arguments;
const form = Object.assign(document.createElement("form"), {method: "post", action: address});
const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
for (const [name, value] of [...fields, ["csrfmiddlewaretoken", token]])
  form.append(Object.assign(document.createElement("input"), {type: "hidden", name, value}));
document.body.append(form);
window.isBefore = true;
form.submit();
"""
HAS_ANSWERED = "return !window.isBefore && document.readyState === 'complete'"
WITHOUT_MOTION = """
document.adoptedStyleSheets.push(new CSSStyleSheet());
document.adoptedStyleSheets.at(-1).replaceSync("*, ::before, ::after { transition: none !important; }");
"""
SWITCH = """
const page = document.documentElement;
if (page.hasAttribute("x-data")) Alpine.$data(page).switchTheme(arguments[0]);
"""
"""Unfold's pages have a switch of their own; those of home follow what the system says."""


@pytest.fixture
def hub(queue: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PeopledHub:
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")
    (tmp_path / "files").mkdir()
    return make_peopled_hub(tmp_path / "files")


@pytest.fixture
def browser(chromium: WebDriver, live_server: Any, hub: PeopledHub) -> WebDriver:
    """A browser in which the superuser is signed in."""
    chromium.get(f"{live_server.url}/admin/login/")
    chromium.delete_all_cookies()
    chromium.add_cookie({"name": settings.SESSION_COOKIE_NAME, "value": session_of(hub)})
    return chromium


def session_of(hub: PeopledHub) -> str:
    client = Client()
    client.force_login(hub.users["superuser"])
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def asked(hub: PeopledHub, folder: Path) -> list[str]:
    """The paths of pages that only a question, a place in a document or a candidate leads to."""
    pdf = folder / "性能.pdf"
    pdf.write_bytes(write_pdf([PdfPage(texts=[(72, 700, 12, "監視の間隔は五分とする。")])]))
    drawn = work_through(upload_file(local_operator(), pdf, collection=COLLECTION).document).public_id
    superuser = principal_for_user(hub.users["superuser"])
    note_question(superuser, "督促は何日後か", SearchFilter(), is_answered=False)
    ask_owner(superuser, COLLECTION, "督促は何日後か", "窓口で聞かれた")
    key = AskedQuestion.objects.get(text="督促は何日後か").folded
    candidate = urlencode({"candidate": hub.examples["candidate"]})
    start = urlencode({"document": hub.examples["document_id"]})
    return [
        *(f"/?q={QUESTION}", "/?q=火星", f"/answer/?q={QUESTION}", f"/admin/search/?q={QUESTION}"),
        *(f"/documents/{drawn}/pages/1/", f"/documents/{drawn}/passage/?version=1&start=0&end=8"),
        *(f"/documents/upload/?question={key}", f"/questions/unanswered/{key}/name/"),
        *(f"/admin/evaluation/evaluationdataset/gate/?{candidate}", f"/admin/review/review/start/?{start}"),
        "/nowhere/",
    ]


def pages(hub: PeopledHub) -> list[str]:
    """The paths of whole pages that open for the superuser. Parts of pages, files and what leads on are none."""
    client = Client(headers={"Accept-Language": "ja"})
    client.force_login(hub.users["superuser"])
    found = []
    for path in dict.fromkeys(one.path for one in addresses(hub).values() if one.method == "GET"):
        answer: Any = client.get(path)
        if answer.streaming and not answer.is_async:
            b"".join(answer)  # closes the file
        elif path not in NOT_OURS and answer.status_code == 200 and is_page(answer):
            found.append(path)
    return found


def answering_forms(hub: PeopledHub) -> list[Address]:
    """What is posted that a page answers, in place of leading on: a question before it is done, or what is wrong."""
    browser = Browser(hub, "superuser")
    posted = [one for one in addresses(hub).values() if one.method == "POST" and JSON_BODY not in one.form]
    plain = [one for one in posted if one.path != SIGN_OUT and not any(map(is_file, one.form.values()))]
    return [one for one in plain if is_page(browser.send(one))]


def is_file(value: Any) -> bool:
    return isinstance(value, tuple)


def is_page(response: Any) -> bool:
    is_html = response.headers.get("Content-Type", "").startswith("text/html")
    return bool(is_html and not response.streaming and b"<html" in response.content[:2000])


def look_like(browser: WebDriver, width: int, language: str) -> None:
    resize(browser, width)
    browser.add_cookie({"name": settings.LANGUAGE_COOKIE_NAME, "value": language})


class Look:
    """Looks at the pages that are opened one after the other, each in light and in dark."""

    def __init__(self, browser: WebDriver) -> None:
        self.problems: list[str] = []
        self._browser = browser
        self._themes = THEMES

    def at(self, page: str) -> None:
        """Note what is wrong with the page that is open; it was loaded in the theme that the last one ended with."""
        is_loaded = lambda one: not one.find_elements(By.CSS_SELECTOR, "[data-load][aria-busy]")  # noqa: E731
        WebDriverWait(self._browser, PATIENCE_S).until(is_loaded)
        self._browser.execute_script(WITHOUT_MOTION)
        found = [f"runs off: {one}" for one in self._browser.execute_script(RUNS_OFF)]
        found += [f"squeezed: {one}" for one in self._browser.execute_script(SQUEEZED)]
        for theme, rules in zip(self._themes, ALL_RULES_THEN_THOSE_OF_COLOURS, strict=True):
            self._switch_to(theme)
            found += [f"in {theme}: {one}" for one in broken_rules(self._browser, **rules)]
        self._themes = self._themes[::-1]
        found += [f"asks elsewhere: {one}" for one in self._browser.execute_script(OF_ELSEWHERE)]
        refused = f"{self._browser.current_url} - Failed to load resource"  # the page itself: it says what it refuses
        messages = [one["message"] for one in self._browser.get_log("browser")]  # type: ignore[attr-defined]
        found += [f"script: {one}" for one in messages if not one.startswith(refused)]
        self.problems += [f"{page} {one}" for one in found]

    def _switch_to(self, theme: str) -> None:
        scheme = {"name": "prefers-color-scheme", "value": theme}
        self._browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self._browser.execute_script(SWITCH, theme)


def submit(browser: WebDriver, address: Address) -> None:
    """Post what a form of the page that is open would."""
    browser.execute_script(SUBMIT, address.path, [[name, str(value)] for name, value in address.form.items()])
    WebDriverWait(browser, PATIENCE_S).until(lambda one: one.execute_script(HAS_ANSWERED))


@pytest.mark.parametrize(("width", "language"), LOOKS)
def test_every_page_is_whole_for_everybody(
    browser: WebDriver, live_server: Any, hub: PeopledHub, width: int, language: str
) -> None:
    look_like(browser, width, language)
    paths = pages(hub)
    assert len(paths) >= LEAST
    look = Look(browser)
    for path in paths:
        browser.get(live_server.url + path)
        look.at(path)
    assert look.problems == [], "\n".join(look.problems)


@pytest.mark.parametrize(("width", "language"), LOOKS)
def test_what_questions_and_forms_lead_to_is_whole_for_everybody(
    browser: WebDriver, live_server: Any, hub: PeopledHub, tmp_path: Path, width: int, language: str
) -> None:
    look_like(browser, width, language)
    forms = answering_forms(hub)
    assert len(forms) >= LEAST_ANSWERS
    look = Look(browser)
    for path in asked(hub, tmp_path):
        browser.get(live_server.url + path)
        look.at(path)
    for address in (*forms, Address(method="POST", path=SIGN_OUT, form={})):
        if not browser.find_elements(By.NAME, "csrfmiddlewaretoken"):
            browser.get(f"{live_server.url}/admin/sessions/")
        submit(browser, address)
        look.at(f"POST {address.path}")
    browser.get(live_server.url + SIGN_IN)
    look.at(SIGN_IN)
    assert look.problems == [], "\n".join(look.problems)
