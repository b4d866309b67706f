"""What a provider says when it is asked again, and what the hub makes of each answer: of tokens and of sessions."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.provider_models import ProviderAccount, ProviderCredential
from hub.access.providers import checks
from hub.access.services import authenticate, create_token
from hub.core.encryption.errors import SealBroken
from hub.core.errors import Unauthenticated, Unavailable
from tests.hub.access.providers.conftest import (
    INTROSPECTION,
    SOMEBODY_ELSE,
    TOKENS,
    USERINFO,
    describe_without,
    refuse,
    say,
)
from tests.hub.access.providers.test_bearer import grow_old
from tests.hub.access.providers.test_sign_in import is_in, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("signs_in_at_providers")]


def ended_because() -> str:
    return str(AuditEvent.objects.filter(action="ACCOUNT_ENDED").latest("pk").details["reason"])


def is_refused(token: str) -> bool:
    """Whether the hub takes a token no more, the provider's last word being old; it has to have taken it before."""
    grow_old(31)
    try:
        authenticate(token)
    except Unauthenticated as refused:
        return refused.error_code == "provider_session_ended"
    return False


def own_token() -> str:
    """A token of the hub's own for the person."""
    user = User.objects.get(username="hanako")
    return create_token(principal=local_operator(), user=user, name="own", scopes=ALL_SCOPES)[1]


# What is said of access tokens.


@pytest.mark.parametrize("path", [INTROSPECTION, USERINFO])
def test_a_token_of_which_the_provider_names_another_owner_opens_nothing(provider, hanako, path):
    if path == USERINFO:
        describe_without(provider, "introspection_endpoint")
    token = provider.access_token(hanako)
    assert authenticate(token)
    say(provider, path, **SOMEBODY_ELSE)
    assert is_refused(token)
    assert ended_because() == "the provider speaks of somebody else"


def test_what_introspection_does_not_say_of_groups_userinfo_says_where_the_token_may_ask(provider, hanako):
    say(provider, INTROSPECTION, without="groups")
    asked = authenticate(provider.access_token(hanako, groups=[]))
    assert asked.group_ids == {Group.objects.get().pk}
    before = provider.asked[USERINFO]
    assert authenticate(provider.access_token(hanako, scope="read search", groups=[])).group_ids == frozenset()
    assert provider.asked[USERINFO] == before


@pytest.mark.parametrize("answer", ["another person", "refusal"])
def test_an_active_token_whose_owner_is_not_told_opens_without_what_groups_bring(provider, hanako, answer):
    say(provider, INTROSPECTION, without="groups")
    if answer == "refusal":
        refuse(provider, USERINFO)
    else:
        say(provider, USERINFO, **SOMEBODY_ELSE)
    assert authenticate(provider.access_token(hanako)).group_ids == frozenset()


def test_a_provider_that_can_t_be_asked_about_tokens_vouches_for_none_unless_it_need_not(provider, hanako, configure):
    token = provider.access_token(hanako)
    assert authenticate(token)
    describe_without(provider, "introspection_endpoint", "userinfo_endpoint")
    assert is_refused(token)
    assert "check_tokens" in ended_because()
    configure(check_tokens=False)
    assert authenticate(provider.access_token(hanako, groups=["qa"])).group_ids == {Group.objects.get().pk}


def test_a_token_that_userinfo_refuses_is_refused(provider, hanako):
    describe_without(provider, "introspection_endpoint")
    token = provider.access_token(hanako, jti="lost")
    assert authenticate(token)
    provider.revoked.add("lost")
    assert is_refused(token)
    assert ended_because() == "the provider refuses it: invalid_token"


# What is said of sessions.


def test_a_session_without_a_refresh_token_is_asked_about_with_its_access_token(provider, hanako):
    say(provider, TOKENS, without="refresh_token")
    browser = Client()
    sign_in(browser)
    before = provider.asked[TOKENS]
    grow_old(31)
    assert is_in(browser)
    assert provider.asked[TOKENS] == before
    hanako.is_active = False
    grow_old(31)
    assert not is_in(browser)


def test_a_session_is_kept_by_a_provider_that_refreshes_it_and_says_nothing_of_the_person(provider, hanako):
    describe_without(provider, "userinfo_endpoint")
    browser = Client()
    sign_in(browser)
    hanako.groups = []
    say(provider, TOKENS, without="id_token")
    grow_old(31)
    assert is_in(browser)
    assert User.objects.get(username="hanako").groups.exists()  # what was said last still counts
    provider.end_sessions_of(hanako)
    grow_old(31)
    assert not is_in(browser)


def test_a_session_of_which_the_provider_names_another_person_ends(provider, hanako):
    browser = Client()
    sign_in(browser)
    say(provider, USERINFO, **SOMEBODY_ELSE)
    grow_old(31)
    assert not is_in(browser)
    assert ended_because() == "the provider speaks of somebody else"


def test_a_session_whose_new_id_token_is_forged_ends(provider, hanako):
    browser = Client()
    sign_in(browser)
    provider.tamper = lambda told: told.update(aud="another-client")
    grow_old(31)
    assert not is_in(browser)


def test_a_session_whose_tokens_no_key_opens_ends_and_is_logged(provider, hanako, monkeypatch, caplog):
    browser = Client()
    sign_in(browser)
    grow_old(31)

    def broken(_credential: ProviderCredential) -> str:
        raise SealBroken("the key is not here")

    monkeypatch.setattr(ProviderCredential, "tokens", property(broken, lambda *_given: None))
    with pytest.raises(Unauthenticated):
        checks.ensure_session_vouched(ProviderCredential.objects.values_list("pk", flat=True).get())
    assert ended_because() == "the session's tokens can't be decrypted"
    assert "the key is not here" in caplog.text


def test_the_sessions_of_a_provider_that_is_configured_no_more_end(provider, hanako, configure):
    browser = Client()
    sign_in(browser)
    configure(id="another")
    grow_old(31)
    assert not is_in(browser)
    assert ended_because() == "the provider is not configured any more"


def test_a_session_that_is_gone_from_the_table_is_vouched_for_by_nobody():
    with pytest.raises(Unauthenticated):
        checks.ensure_session_vouched(1)


def test_own_tokens_live_as_long_as_the_provider_vouches_for_some_session(provider, hanako):
    kept, lost = Client(), Client()
    sign_in(kept)
    sign_in(lost)
    own = own_token()
    provider.families[list(provider.families)[-1]]["ended"] = True
    grow_old(31)
    assert authenticate(own)
    assert (is_in(kept), is_in(lost)) == (True, False)
    assert ProviderAccount.objects.get().ended_at is None
    provider.end_sessions_of(hanako)
    assert is_refused(own)
    assert ProviderAccount.objects.get().ended_at is not None


def test_own_tokens_of_whom_no_session_is_left_end(provider, hanako):
    browser = Client()
    sign_in(browser)
    own = own_token()
    ProviderCredential.objects.all().delete()
    assert is_refused(own)
    assert ended_because() == "no session is left"


# Two calls at once: the second waits for what the first hears.


def asked_by_another(seconds_ago: int = 0) -> ProviderCredential:
    """The credential of a session about which another call asks since so many seconds, its last word being old."""
    grow_old(61)
    ProviderCredential.objects.update(attempted_at=timezone.now() - timedelta(seconds=seconds_ago))
    return ProviderCredential.objects.select_related("account__user").get()


@pytest.mark.parametrize("vouches", [True, False])
def test_a_call_takes_what_the_provider_tells_another_meanwhile(provider, hanako, monkeypatch, vouches):
    sign_in(Client())
    before = provider.asked.total()
    credential = asked_by_another()
    heard = {"checked_at": timezone.now()} if vouches else {"ended_at": timezone.now()}
    monkeypatch.setattr("hub.access.providers.checks.time.sleep", lambda _s: ProviderCredential.objects.update(**heard))
    if vouches:
        checks.ensure_vouched(credential)
    else:
        with pytest.raises(Unauthenticated):
            checks.ensure_vouched(credential)
    assert provider.asked.total() == before


def test_a_call_does_not_wait_for_another_that_asks_longer_than_it_may(provider, hanako, monkeypatch):
    sign_in(Client())
    credential = asked_by_another(seconds_ago=3)  # HUB_OIDC_TIMEOUT_S is 2 here
    monkeypatch.setattr("hub.access.providers.checks.time.sleep", lambda _s: pytest.fail("it waits"))
    checks.ensure_vouched(credential)


def test_a_call_waits_as_long_as_the_provider_may_take_and_goes_by_its_last_word(provider, hanako, configure):
    sign_in(Client())
    configure({"hub_oidc_timeout_s": 0.1, "hub_oidc_away_minutes": 10})
    credential = asked_by_another()
    checks.ensure_vouched(credential)
    ProviderCredential.objects.update(checked_at=timezone.now() - timedelta(minutes=11), attempted_at=timezone.now())
    credential.refresh_from_db()
    began = time.monotonic()
    with pytest.raises(Unavailable):
        checks.ensure_vouched(credential)
    assert time.monotonic() - began >= 0.1
