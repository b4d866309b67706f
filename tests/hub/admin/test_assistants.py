"""The page that connects assistants."""

from __future__ import annotations

import html
import json

import pytest
from django.urls import reverse

from mcp_bridge.clients import client_configurations
from mcp_bridge.connections import Connection, ConnectionLog
from mcp_bridge.servers import SERVERS
from tests.hub.admin.support import client_of, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


@pytest.fixture
def log():
    log = ConnectionLog()
    yield log
    log.forget()


def connect(log: ConnectionLog, user, *, client: str, error: str = "") -> None:
    row = Connection(
        server="rag",
        transport="http",
        protocol="2026-07-28",
        client=client,
        user=user.username,
        user_id=user.pk,
        address="127.0.0.1",
    )
    with log.request_of(row) as kept:
        if error:
            kept.fail(error)
    log.publish()


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_page_shows_addresses_and_what_the_command_prints(language):
    page = client_of(make_user("佐藤"), language=language).get(reverse("admin:hub_assistants"), {"server": "rag"})
    text = html.unescape(page.content.decode())
    for name in SERVERS:
        assert f"/mcp/{name}/</code>" in text
    for ways in client_configurations("rag", token="").values():
        for configuration in ways.values():
            assert json.dumps(configuration, ensure_ascii=False, indent=2) in text
    assert reverse("admin:access_accesstoken_add") in text


def test_connections_are_shown_to_those_whose_they_are(log):
    boss, sato, suzuki = make_user("管理者", is_superuser=True), make_user("佐藤"), make_user("鈴木")
    connect(log, sato, client="Claude 1.0", error="search: query is empty <b>")
    connect(log, suzuki, client="Cursor 2.0")
    seen = {}
    for user in (boss, sato, suzuki):
        seen[user.username] = client_of(user).get(reverse("admin:hub_assistants")).content.decode()
    assert ("Claude 1.0" in seen["管理者"], "Cursor 2.0" in seen["管理者"]) == (True, True)
    assert ("Claude 1.0" in seen["佐藤"], "Cursor 2.0" in seen["佐藤"]) == (True, False)
    assert "query is empty &lt;b&gt;" in seen["佐藤"]
    assert "query is empty" not in seen["鈴木"]


def test_an_unknown_server_shows_the_one_that_has_everything():
    page = client_of(make_user("佐藤")).get(reverse("admin:hub_assistants"), {"server": "nothing"})
    assert page.context["chosen"] == "hub"


def test_a_client_that_never_ends_changing_its_name_does_not_fill_the_memory(log, monkeypatch):
    monkeypatch.setattr("mcp_bridge.connections.MOST_CLIENTS", 5)
    user = make_user("佐藤")
    for number in range(9):
        connect(log, user, client=f"client {number}")
    page = client_of(user).get(reverse("admin:hub_assistants")).content.decode()
    assert ("client 8" in page, "client 3" in page) == (True, False)
