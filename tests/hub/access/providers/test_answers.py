"""What a provider says of itself, of who signs in there, and when it does not answer as it should."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hub.access.models import AuditEvent
from hub.access.provider_models import ProviderAccount, ProviderCredential, ProviderState
from hub.access.providers import accounts, keys, server
from hub.access.providers.sign_in import ProviderBackend, sign_out
from hub.core.errors import Unauthenticated
from tests.factories import new_user
from tests.hub.access.providers.conftest import (
    DESCRIPTION,
    SOMEBODY_ELSE,
    TOKENS,
    USERINFO,
    describe_without,
    refuse,
    say,
)
from tests.hub.access.providers.test_sign_in import is_in, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("signs_in_at_providers")]


# What is said when people sign in, and out.


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (TOKENS, "sent no ID token"),
        (USERINFO, "somebody else"),
        ("refusal", "insufficient_scope"),
        ("away", "userinfo"),
    ],
)
def test_a_sign_in_of_which_the_provider_does_not_say_whose_it_is_lets_nobody_in(provider, hanako, path, reason):
    if path == "refusal":
        refuse(provider, USERINFO)
    elif path == "away":
        provider.says[USERINFO] = lambda _told: ["hanako"]
    else:
        say(provider, path, without="id_token", **(SOMEBODY_ELSE if path == USERINFO else {}))
    browser = Client(headers={"Accept-Language": "en"})
    assert sign_in(browser) == "/admin/login/"
    assert reason in AuditEvent.objects.get(action="LOGIN_FAILED").details["reason"]
    assert not is_in(browser)
    assert not User.objects.exists()


def test_a_provider_without_userinfo_says_in_the_id_token_who_somebody_is(provider, hanako):
    describe_without(provider, "userinfo_endpoint")
    browser = Client()
    sign_in(browser)
    assert is_in(browser)
    assert User.objects.get().groups.get().name == "品質管理課"


def test_signing_out_while_the_provider_is_away_ends_the_session_here(provider, hanako):
    browser = Client()
    sign_in(browser)
    provider.is_away = True
    keys.forget()
    ProviderState.objects.all().delete()
    browser.post("/admin/logout/")
    assert not is_in(browser)
    assert ProviderCredential.objects.get().ended_at is not None


def test_signing_out_of_what_the_hub_has_forgotten_or_with_offline_access_asks_nothing(provider, hanako, configure):
    browser = Client()
    sign_in(browser)
    credential = ProviderCredential.objects.get()
    configure(scopes=["openid", "offline_access"])
    assert sign_out(credential.pk)[0] == "庁内認証"
    credential.refresh_from_db()
    assert credential.ended_at is None  # asked on about, for the person's own tokens
    credential.delete()
    assert sign_out(credential.pk) == ("", "")


def test_the_provider_s_backend_takes_no_password():
    new_user(username="taro").set_password("x")
    assert ProviderBackend().authenticate(None, username="taro", password="x") is None


# What is said of the provider itself, and how.


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"issuer": "https://evil.example"}, "issuer"),
        ({"token_endpoint": "http://evil.example/token"}, "token_endpoint"),
        ({"userinfo_endpoint": 1}, "userinfo_endpoint"),
        ({"jwks_uri": None}, "jwks_uri"),
    ],
)
def test_a_description_of_another_issuer_or_with_an_open_endpoint_is_not_gone_by(provider, configure, change, named):
    say(provider, DESCRIPTION, **change)
    with pytest.raises(server.ProviderAway, match=named):
        server.discover(configure())


@pytest.mark.parametrize("keys_said", [None, {"kid": "key-1"}])
def test_keys_that_are_no_list_are_none(provider, configure, keys_said):
    provider.says["/jwks"] = lambda _told: {"keys": keys_said}
    with pytest.raises(server.ProviderAway, match="no list of keys"):
        server.fetch_keys(configure(), f"{provider.issuer}/jwks")


def test_what_is_no_answer_of_a_provider_is_told_with_its_address(provider, configure):
    office = configure({"hub_oidc_timeout_s": 0.2})
    provider.says[USERINFO] = lambda _told: ["hanako"]
    token = provider.access_token(provider.add("hanako"))
    with pytest.raises(server.ProviderAway, match="/userinfo: the answer is no JSON object"):
        server.ask_about_person(office, f"{provider.issuer}{USERINFO}", token)
    with pytest.raises(server.ProviderAway, match="/nothing: HTTP 404"):
        server.ask_about_person(office, f"{provider.issuer}/nothing", token)
    released = Event()
    provider.says[USERINFO] = lambda told: released.wait(20) and told
    try:
        with pytest.raises(server.ProviderAway, match="did not answer within"):
            server.ask_about_person(office, f"{provider.issuer}{USERINFO}", token)
    finally:
        released.set()


# Whom the provider names.


@pytest.mark.parametrize("subject", ["", "x" * 256])
def test_a_subject_that_is_none_is_nobody(configure, subject):
    with pytest.raises(Unauthenticated):
        accounts.find_or_make_person(configure(), subject, {})
    assert not User.objects.exists()


def test_people_of_one_name_have_accounts_of_their_own(configure):
    office = configure()
    for number in range(3):
        accounts.find_or_make_person(office, f"subject {number}", {"preferred_username": "hanako"})
    names = User.objects.order_by("pk").values_list("username", flat=True)
    assert list(names) == ["hanako", "hanako@office", "hanako-2@office"]


def test_who_signs_in_twice_at_once_is_made_once(configure, monkeypatch):
    office, find, looks = configure(), accounts._found, []

    def found_late(*asked: Any) -> ProviderAccount | None:
        looks.append(asked)
        return find(*asked) if len(looks) != 2 else None  # the second call's first look, before the other has written

    monkeypatch.setattr(accounts, "_found", found_late)
    first = accounts.find_or_make_person(office, "subject", {"preferred_username": "hanako"})
    again = accounts.find_or_make_person(office, "subject", {"preferred_username": "hanako"})
    assert again == first
    assert User.objects.get() == first.user
