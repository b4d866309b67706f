"""What browsers are told that an answer may do."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse

from tests.conftest import REPOSITORY
from tests.hub.admin.support import client_of, make_user

INLINE = ("<script>", " onclick=", " onchange=", " onsubmit=", " onload=", "javascript:")
pytestmark = pytest.mark.django_db


def directives(response) -> dict[str, str]:
    parts = [part.strip().partition(" ") for part in response["Content-Security-Policy"].split(";")]
    return {name: value for name, _space, value in parts}


@pytest.mark.parametrize("path", ["/admin/login/", "/api/v1/docs", "/nothing/here", "/admin/"])
def test_pages_run_no_inline_scripts_load_nothing_from_elsewhere_and_are_not_framed(path):
    policy = directives(client_of(make_user("佐藤", is_superuser=True)).get(path))
    assert policy["default-src"] == "'self'"
    assert "unsafe-inline" not in policy["script-src"]
    assert "http" not in str(policy)
    assert (policy["object-src"], policy["frame-ancestors"], policy["base-uri"]) == ("'none'", "'none'", "'none'")
    assert policy["form-action"] == "'self'"


@pytest.mark.parametrize("path", ["/api/v1/openapi.json", "/api/v1/collections", "/static/hub/copy.js"])
def test_what_is_no_page_may_do_nothing(path):
    response = Client().get(path)
    response.close()  # a static file is sent from an open one
    policy = directives(response)
    assert (policy["default-src"], policy["frame-ancestors"]) == ("'none'", "'none'")
    assert "script-src" not in policy


@pytest.mark.parametrize("path", ["/admin/login/", "/api/v1/openapi.json", "/nothing/here", "/static/hub/copy.js"])
def test_every_answer_names_what_else_it_may_not(path):
    response = Client().get(path)
    response.close()
    assert "camera=()" in response["Permissions-Policy"]
    assert response["Referrer-Policy"] == "same-origin"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"


def test_browsers_stay_with_tls_where_clients_come_by_it(settings):
    assert "Strict-Transport-Security" not in Client().get("/admin/login/")
    assert "max-age=31536000" in Client().get("/admin/login/", secure=True)["Strict-Transport-Security"]
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_public_url": "https://hub.example.jp"})
    assert "max-age=31536000" in Client().get("/healthz")["Strict-Transport-Security"]


def test_a_session_ends_after_half_a_day():
    client = client_of(make_user("佐藤", is_superuser=True))
    assert client.get(reverse("admin:index")).status_code == 200
    assert client.session.get_expiry_age() == 12 * 3600 == django_settings.SESSION_COOKIE_AGE


def test_our_templates_have_no_inline_scripts_or_handlers():
    found = [
        path.name
        for path in Path(REPOSITORY, "templates", "admin").rglob("*.html")
        if any(
            sign in path.read_text() for sign in ("<script>", " onclick=", " onchange=", " onsubmit=", "javascript:")
        )
    ]
    assert found == []
