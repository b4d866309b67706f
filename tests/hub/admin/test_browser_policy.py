"""Every page of the admin in a real browser under its Content-Security-Policy: nothing of the page is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse
from selenium.webdriver.remote.webdriver import WebDriver

from hub.admin_site.pages import registered_pages
from knowledge.models import Chunk, Document
from tests.hub.admin.support import add_document
from tests.hub.admin.test_browser import chromium, page  # noqa: F401 (fixtures)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def addresses() -> list[str]:
    """The pages without an id: those of ours, and of each model the list, the form for a new one, and the first."""
    found = [reverse("admin:index"), reverse("admin:password_change")]
    found += [reverse(f"admin:{one.name}") for one in registered_pages() if "<" not in one.route]
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        found += [reverse(f"{name}_changelist"), reverse(f"{name}_add")]
        first = model._default_manager.order_by("pk").first()
        if first is not None:
            found += [reverse(f"{name}_{kind}", args=[first.pk]) for kind in ("change", "history", "delete")]
    return found


def refusals(browser: WebDriver) -> list[str]:
    return [line["message"] for line in browser.get_log("browser") if "Content Security Policy" in line["message"]]  # type: ignore[attr-defined]


def test_nothing_on_any_page_is_refused_by_its_policy(page: Any, live_server: Any, tmp_path: Path) -> None:  # noqa: F811
    add_document(tmp_path)
    assert Document.objects.exists()
    assert Chunk.objects.exists()
    browser = page("admin:index")
    refused: dict[str, list[str]] = {}
    for address in [*addresses(), "/api/v1/docs", "/admin/nothing/here/"]:
        browser.get(live_server.url + address)
        if found := refusals(browser):
            refused[address] = found
    assert refused == {}


def test_menus_and_tabs_work_under_the_policy(page: Any, live_server: Any) -> None:  # noqa: F811
    browser = page("admin:auth_user_changelist")
    assert browser.execute_script("return typeof window.Alpine") == "object"
    assert browser.execute_script("return document.querySelectorAll('[x-cloak]').length") == 0


def test_an_inline_script_would_not_run(page: Any) -> None:  # noqa: F811
    browser = page("admin:index")
    browser.execute_script(
        "const one = document.createElement('script'); one.textContent = 'window.ranInline = 1';"
        "document.body.append(one)"
    )
    assert browser.execute_script("return window.ranInline") is None
    assert refusals(browser)
