"""The threads of MCP calls and their database connections."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection

from hub.access.models import AccessToken
from mcp_bridge import threads
from mcp_bridge.threads import _call

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_connection():
    """A new connection, with Django's check of each one before its use, and nothing known of it."""
    threads._checked.__dict__.clear()
    kept = connection.settings_dict["CONN_HEALTH_CHECKS"]
    connection.close()
    connection.settings_dict["CONN_HEALTH_CHECKS"] = True
    yield
    connection.close()
    connection.settings_dict["CONN_HEALTH_CHECKS"] = kept
    threads._checked.__dict__.clear()


def ask() -> bool:
    return AccessToken.objects.exists()


def cut() -> None:
    """Let the connection be lost without Django knowing."""
    connection.ensure_connection()
    connection.connection.close()


def test_a_lost_connection_is_replaced_before_a_call_that_comes_later(monkeypatch):
    monkeypatch.setattr(threads, "TRUSTED_FOR_S", 0.0)
    _call(ask, None)
    cut()
    assert _call(ask, None) is False


def test_a_connection_lost_between_two_quick_calls_costs_one_of_them(monkeypatch):
    monkeypatch.setattr(threads, "TRUSTED_FOR_S", 3600.0)
    _call(ask, None)
    cut()
    with pytest.raises(OperationalError):
        _call(ask, None)
    assert _call(ask, None) is False


def test_a_call_without_the_database_says_nothing_of_its_connection(monkeypatch):
    monkeypatch.setattr(threads, "TRUSTED_FOR_S", 3600.0)
    _call(lambda: None, None)
    assert not hasattr(threads._checked, "at")
