"""Whose request it is is known before it has a thread, from the second one on."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import RequestFactory

from hub.access.principals import ALL_SCOPES, Classification, Principal
from hub.rest.callers import KnownCallers

ALICE = Principal(name="alice", user_id=7, scopes=ALL_SCOPES, ceiling=Classification.C1, token_id=1)


def call(token: str, *, path: str = "/api/v1/collections", session: str = ""):
    request = RequestFactory().get(path, headers={"Authorization": f"Bearer {token}"} if token else {})
    if session:
        request.COOKIES["sessionid"] = session
    return request


def accepted(request, principal: Principal = ALICE):
    request.principal = principal
    return request


def test_a_token_counts_as_its_address_until_it_was_accepted_and_as_its_owner_then():
    callers = KnownCallers()
    assert callers.name_of(call("a")) == "address:127.0.0.1"
    callers.note(accepted(call("a")))
    callers.note(accepted(call("b")))
    assert callers.name_of(call("a")) == callers.name_of(call("b")) == "user:7"


def test_a_refused_token_and_none_at_all_stay_strangers():
    callers = KnownCallers()
    callers.note(call("refused"))
    callers.note(call(""))
    assert {callers.name_of(call("refused")), callers.name_of(call(""))} == {"address:127.0.0.1"}


@pytest.mark.parametrize(("user", "name"), [(User(pk=7), "user:7"), (AnonymousUser(), "address:127.0.0.1")])
def test_a_page_counts_by_the_person_who_signed_in(user, name, settings):
    settings.SESSION_COOKIE_NAME = "sessionid"
    callers, page = KnownCallers(), call("", path="/admin/", session="s")
    page._cached_user = user
    callers.note(page)
    assert callers.name_of(call("", path="/admin/", session="s")) == name
    # A session is no credential of the API, whose requests only carry it along.
    assert callers.name_of(call("", session="s")) == "address:127.0.0.1"


def test_only_the_latest_are_remembered():
    callers = KnownCallers(most=2)
    for token in ("a", "b", "a", "c"):
        callers.note(accepted(call(token)))
    assert [callers.name_of(call(token)) for token in ("a", "b", "c")] == ["user:7", "address:127.0.0.1", "user:7"]
