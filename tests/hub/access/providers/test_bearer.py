"""Access tokens of an identity provider: which are taken, what their owner may do, and when that ends."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from hub.access.models import AccessToken, AuditEvent, HubRoleGrant
from hub.access.principals import ALL_SCOPES, Classification, HubRole, Role, Scope, local_operator
from hub.access.provider_models import ProviderAccount, ProviderCredential, ProviderGroup, ProviderState
from hub.access.providers import keys
from hub.access.services import authenticate, create_token
from hub.core.errors import Unauthenticated, Unavailable
from knowledge.models import CollectionGrant
from tests.factories import new_collection, new_user
from tests.hub.access.providers.conftest import Configure
from tests.hub.admin.support import client_of, make_user
from tests.oidc_server import OidcServer, Person, private_key, public_jwk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def person(provider: OidcServer, configure: Configure) -> Person:
    """Somebody who may search in a collection by a group of the provider."""
    group = Group.objects.create(name="品質管理課")
    CollectionGrant.objects.create(collection=new_collection(), group=group, role=Role.READER)
    ProviderGroup.objects.create(provider="office", value="qa", group=group)
    return provider.add("hanako", email="hanako@office.example", groups=["qa", "others"])


def grow_old(seconds: int) -> None:
    """Let the provider's last words be so old."""
    back = timedelta(seconds=seconds)
    for credential in ProviderCredential.objects.all():
        at = timezone.now() - back
        ProviderCredential.objects.filter(pk=credential.pk).update(checked_at=at, attempted_at=at)
    ProviderAccount.objects.filter(confirmed_at__isnull=False).update(confirmed_at=timezone.now() - back)


def test_a_person_comes_in_with_the_rights_of_their_groups_and_no_more_than_the_token_s_scopes(provider, person):
    principal = authenticate(provider.access_token(person, scope="openid read search curate unknown"))

    assert (principal.name, principal.client) == ("hanako", "assistant")
    assert principal.scopes == {Scope.READ, Scope.SEARCH}  # no role of theirs can use curate
    assert principal.group_ids == {Group.objects.get().pk}
    user = User.objects.get(username="hanako")
    assert not user.has_usable_password()
    assert set(AuditEvent.objects.values_list("action", flat=True)) == {"ACCOUNT_CREATE", "CONFIG_CHANGE"}


def test_a_token_without_scopes_of_the_hub_may_do_nothing(provider, person):
    assert authenticate(provider.access_token(person, scope="openid")).scopes == frozenset()


def test_the_same_token_costs_three_queries_and_asks_nobody_for_half_a_minute(
    provider, person, django_assert_num_queries
):
    token = provider.access_token(person)
    authenticate(token)
    asked = provider.asked.total()
    with django_assert_num_queries(3):  # the account, the person, the scopes that collections give
        authenticate(token)
    assert provider.asked.total() == asked


def test_rest_takes_the_token_and_says_where_another_comes_from(provider, person):
    allowed = Client().get("/api/v1/collections", headers={"Authorization": f"Bearer {provider.access_token(person)}"})
    refused = Client().get("/api/v1/collections", headers={"Authorization": "Bearer a.b.c"})

    assert allowed.status_code == 200
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused["WWW-Authenticate"]
    url = refused["WWW-Authenticate"].partition('resource_metadata="')[2].partition('"')[0]
    described = Client().get(url.partition("8000")[2] or "/.well-known/oauth-protected-resource/api/v1").json()
    assert described["authorization_servers"] == [provider.issuer]
    assert set(described["scopes_supported"]) == {scope.value for scope in Scope} - {"admin"}


def forged(provider: OidcServer, person: Person, kind: str) -> str:
    claims = provider.access_claims(person)
    now = int(time.time())
    pem = (
        private_key(1)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    header = {"kid": "key-1", "typ": "at+jwt"}

    def by_hand(head: dict[str, Any], signature: bytes = b"") -> str:
        parts = [json.dumps(head).encode(), json.dumps(claims).encode(), signature]
        return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)

    def hmac_with(key: bytes) -> str:
        head = by_hand({**header, "alg": "HS256"}).rpartition(".")[0]
        signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(head.encode(), key)
        return f"{head}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"

    def by_other_key(kid: str) -> str:
        return jwt.encode(claims, private_key(99), algorithm="RS256", headers={**header, "kid": kid})

    def carrying_its_key() -> str:
        headers = {**header, "jwk": public_jwk(99)}
        return jwt.encode(claims, private_key(99), algorithm="RS256", headers=headers)

    made = {
        "none": lambda: by_hand({**header, "alg": "none"}),
        "none in capitals": lambda: by_hand({**header, "alg": "NoNe"}),
        "HMAC with the public key": lambda: hmac_with(pem),
        "HMAC with an empty key": lambda: hmac_with(b""),
        "another key under a known id": lambda: by_other_key("key-1"),
        "a key that it brings itself": carrying_its_key,
        "a key id that nobody has": lambda: by_other_key("../../etc/passwd"),
        "another algorithm of the same key": lambda: jwt.encode(
            claims, private_key(1), algorithm="PS256", headers=header
        ),
        "another issuer": lambda: provider.sign({**claims, "iss": "https://evil.example"}),
        "the issuer with a slash": lambda: provider.sign({**claims, "iss": provider.issuer + "/"}),
        "another audience": lambda: provider.sign({**claims, "aud": "https://other.example"}),
        "an audience that begins alike": lambda: provider.sign({**claims, "aud": provider.audience + ".evil.example"}),
        "no audience": lambda: provider.sign({k: v for k, v in claims.items() if k != "aud"}),
        "the audience of another client": lambda: provider.sign({**claims, "aud": "another-client"}),
        "expired": lambda: provider.sign({**claims, "exp": now - 31}),
        "no end": lambda: provider.sign({k: v for k, v in claims.items() if k != "exp"}),
        "not valid yet": lambda: provider.sign({**claims, "nbf": now + 60}),
        "issued in the future": lambda: provider.sign({**claims, "iat": now + 60}),
        "no subject": lambda: provider.sign({k: v for k, v in claims.items() if k != "sub"}),
        "an ID token": lambda: provider.sign({**claims, "nonce": "n"}),
        "a logout token": lambda: provider.sign(claims, typ="logout+jwt"),
        "bound to a key": lambda: provider.sign({**claims, "cnf": {"jkt": "x"}}),
        "too long": lambda: provider.sign({**claims, "x": "x" * 20_000}),
        "no JSON": lambda: "e30.e30.e30",
        "changed": lambda: provider.sign(claims)[:-4] + "AAAA",
    }
    return made[kind]()


KINDS = (
    *("none", "none in capitals", "HMAC with the public key", "HMAC with an empty key", "another key under a known id"),
    *("a key that it brings itself", "a key id that nobody has", "another algorithm of the same key", "another issuer"),
    *("the issuer with a slash", "another audience", "an audience that begins alike", "no audience", "expired"),
    *("the audience of another client", "no end", "not valid yet", "issued in the future", "no subject"),
    *("an ID token", "a logout token", "bound to a key", "too long", "no JSON", "changed"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_token_opens_nothing_and_makes_nobody(provider, person, kind):
    with pytest.raises(Unauthenticated):
        authenticate(forged(provider, person, kind))
    assert not User.objects.filter(username="hanako").exists()
    assert not ProviderCredential.objects.exists()


def test_clocks_may_differ_by_half_a_minute(provider, person):
    now = int(time.time())
    assert authenticate(provider.access_token(person, exp=now - 20, nbf=now + 20, iat=now + 20))


def test_tokens_of_other_clients_are_refused_where_clients_are_named(provider, person, configure):
    configure(clients=["assistant"])
    assert authenticate(provider.access_token(person)).client == "assistant"
    with pytest.raises(Unauthenticated, match="client"):
        authenticate(provider.access_token(person, client_id="another"))


def test_a_new_key_is_fetched_when_it_is_met_and_an_unknown_one_at_most_twice_a_minute(provider, person):
    authenticate(provider.access_token(person))
    ProviderState.objects.update(attempted_at=timezone.now() - timedelta(seconds=31))
    provider.rotate()
    assert authenticate(provider.access_token(person))
    with pytest.raises(Unauthenticated):  # the old key is gone with the rotation
        authenticate(jwt.encode(provider.access_claims(person), private_key(1), "RS256", headers={"kid": "key-1"}))
    before = provider.asked["/jwks"]
    for number in range(20):
        with pytest.raises(Unauthenticated):
            authenticate(provider.sign(provider.access_claims(person), kid=f"unknown-{number}"))
    assert provider.asked["/jwks"] == before


def test_a_deactivated_person_is_refused_within_a_minute(provider, person):
    token = provider.access_token(person)
    authenticate(token)
    person.is_active = False
    grow_old(31)
    with pytest.raises(Unauthenticated, match="vouch"):
        authenticate(token)
    with pytest.raises(Unauthenticated):  # nor with a new one
        authenticate(provider.access_token(person))
    person.is_active = True
    with pytest.raises(Unauthenticated, match="vouch"):  # what has ended has ended
        authenticate(token)
    assert authenticate(provider.access_token(person))


def test_a_revoked_token_is_refused_while_another_of_the_same_person_goes_on(provider, person):
    lost = provider.access_token(person, jti="lost")
    kept = provider.access_token(person)
    authenticate(lost)
    authenticate(kept)
    provider.revoked.add("lost")
    grow_old(31)
    with pytest.raises(Unauthenticated):
        authenticate(lost)
    assert authenticate(kept)


def test_who_changes_groups_has_other_rights_within_a_minute(provider, person):
    curators = Group.objects.create(name="整備班")
    HubRoleGrant.objects.create(group=curators, role=HubRole.CURATOR)
    ProviderGroup.objects.create(provider="office", value="curators", group=curators, ceiling=Classification.C3)
    token = provider.access_token(person, scope="openid read curate")
    before = authenticate(token)
    person.groups = ["curators"]
    grow_old(31)
    after = authenticate(token)

    assert (before.hub_roles, before.ceiling) == (frozenset(), Classification.C1)
    assert (after.hub_roles, after.ceiling) == (frozenset({HubRole.CURATOR}), Classification.C3)
    assert after.group_ids == {curators.pk}
    told = AuditEvent.objects.filter(action="CONFIG_CHANGE").latest("pk")
    assert told.principal == "provider:office"
    assert (told.details["joined"], told.details["left"]) == (["整備班"], ["品質管理課"])


def test_a_meaning_that_is_changed_or_deleted_counts_at_once_for_who_came_in_by_it(provider, person):
    curators, other = Group.objects.create(name="整備班"), Group.objects.create(name="点検班")
    row = ProviderGroup.objects.create(
        provider="office", value="curators", group=curators, ceiling=Classification.C3, is_administrator=True
    )
    person.groups = ["curators"]
    token = provider.access_token(person, scope="openid read curate")
    assert authenticate(token).group_ids == {curators.pk}
    client = client_of(make_user("管理長", is_superuser=True))
    given = {"provider": "office", "value": "curators", "group": other.pk, "ceiling": Classification.C2.value}
    assert client.post(reverse("admin:access_providergroup_change", args=[row.pk]), given).status_code == 302
    changed = authenticate(token)
    assert (changed.group_ids, changed.ceiling, changed.is_superuser) == (
        frozenset({other.pk}),
        Classification.C2,
        False,
    )
    assert client.post(reverse("admin:access_providergroup_delete", args=[row.pk]), {"post": "yes"}).status_code == 302
    left = authenticate(token)
    assert (left.group_ids, left.ceiling) == (frozenset(), Classification.C1)
    assert AuditEvent.objects.filter(principal="provider:office", details__left=["点検班"]).exists()


def test_groups_given_here_stay_and_a_missing_claim_brings_nothing(provider, person):
    token = provider.access_token(person)
    authenticate(token)
    user = User.objects.get(username="hanako")
    by_hand = Group.objects.create(name="手動")
    user.groups.add(by_hand)
    person.groups = None
    provider.has_introspection = False
    keys.forget()
    ProviderState.objects.all().delete()
    grow_old(31)
    principal = authenticate(token)
    assert principal.group_ids == {by_hand.pk}
    assert principal.scopes == frozenset()


def test_administrators_by_group_are_so_as_long_as_they_are_in_it(provider, person):
    ProviderGroup.objects.create(provider="office", value="admins", is_administrator=True)
    person.groups = ["admins"]
    token = provider.access_token(person, scope="openid read admin")
    assert authenticate(token).is_superuser
    person.groups = []
    grow_old(31)
    assert not authenticate(token).is_superuser


def test_what_was_given_by_hand_stays_when_the_provider_no_longer_brings_it(provider, person):
    admins, checkers = Group.objects.create(name="管理班"), Group.objects.create(name="点検班")
    row = ProviderGroup.objects.create(provider="office", value="admins", group=admins, is_administrator=True)
    ProviderGroup.objects.create(provider="office", value="checkers", group=checkers)
    token = provider.access_token(person, scope="openid read admin")
    authenticate(token)
    user = User.objects.get(username="hanako")
    user.groups.add(admins)
    User.objects.filter(pk=user.pk).update(is_superuser=True)
    person.groups = ["admins", "checkers"]
    grow_old(31)
    assert authenticate(token).group_ids == {admins.pk, checkers.pk}

    person.groups = []
    grow_old(31)
    left = authenticate(token)
    assert (left.group_ids, left.is_superuser) == (frozenset({admins.pk}), True)

    person.groups = ["admins"]
    grow_old(31)
    authenticate(token)
    client = client_of(make_user("管理長", is_superuser=True))
    assert client.post(reverse("admin:access_providergroup_delete", args=[row.pk]), {"post": "yes"}).status_code == 302
    kept = authenticate(token)
    assert (kept.group_ids, kept.is_superuser) == (frozenset({admins.pk}), True)


def test_what_the_provider_gave_and_a_person_took_by_hand_is_given_again(provider, person):
    ProviderGroup.objects.create(provider="office", value="admins", is_administrator=True)
    person.groups = ["admins"]
    token = provider.access_token(person, scope="openid read admin")
    authenticate(token)
    User.objects.filter(username="hanako").update(is_superuser=False)
    grow_old(31)
    assert authenticate(token).is_superuser
    person.groups = []
    grow_old(31)
    assert not authenticate(token).is_superuser


def test_only_members_of_the_named_groups_come_in(provider, person, configure):
    configure(allowed_groups=["qa"])
    token = provider.access_token(person)
    authenticate(token)
    person.groups = ["others"]
    grow_old(31)
    with pytest.raises(Unauthenticated):
        authenticate(token)
    stranger = provider.add("jiro", groups=["others"])
    with pytest.raises(Unauthenticated, match="None of your groups"):
        authenticate(provider.access_token(stranger))
    assert not User.objects.filter(username="jiro").exists()


def test_a_provider_that_is_away_is_waited_for_until_the_limit_and_then_named(provider, person, configure):
    configure({"hub_oidc_away_minutes": 10})
    token = provider.access_token(person)
    authenticate(token)
    provider.is_away = True
    grow_old(300)
    assert authenticate(token)
    with pytest.raises(Unavailable, match="庁内認証"):  # a token of which it has never been asked
        authenticate(provider.access_token(person))
    grow_old(601)
    with pytest.raises(Unavailable, match="office"):
        authenticate(token)
    provider.is_away = False
    grow_old(601)
    assert authenticate(token)


def test_keys_count_as_long_as_the_provider_may_be_away(provider, person, configure):
    configure({"hub_oidc_away_minutes": 10}, check_tokens=False)
    token = provider.access_token(person)
    authenticate(token)
    provider.is_away = True
    for minutes, is_allowed in ((9, True), (11, False)):
        keys.forget()
        at = timezone.now() - timedelta(minutes=minutes)
        ProviderState.objects.update(fetched_at=at, attempted_at=at)
        if is_allowed:
            assert authenticate(token)
        else:
            with pytest.raises(Unavailable):
                authenticate(token)


def test_a_provider_that_was_never_reached_is_named_with_the_reason(provider, person):
    provider.is_away = True
    answer = Client().get("/api/v1/collections", headers={"Authorization": f"Bearer {provider.access_token(person)}"})
    assert answer.status_code == 503
    assert answer.json()["code"] == "provider_away"
    assert "openid-configuration" in answer.json()["detail"]


def test_somebody_deactivated_here_stays_outside(provider, person):
    token = provider.access_token(person)
    authenticate(token)
    User.objects.filter(username="hanako").update(is_active=False)
    with pytest.raises(Unauthenticated):
        authenticate(token)
    with pytest.raises(Unauthenticated):
        authenticate(provider.access_token(person))


def test_nobody_takes_over_an_account_by_its_name_or_address(provider, person):
    local = new_user(username="hanako", email="hanako@office.example", is_superuser=True)
    principal = authenticate(provider.access_token(person))
    assert principal.user_id != local.pk
    assert principal.name == "hanako@office"
    assert not principal.is_superuser


@pytest.mark.parametrize(
    ("email", "is_verified", "is_superuser", "is_linked"),
    [
        ("hanako@office.example", True, False, True),
        ("hanako@office.example", False, False, False),
        ("hanako@office.example", True, True, False),
        ("other@office.example", True, False, False),
    ],
)
def test_an_address_links_accounts_only_where_that_is_set_and_it_is_verified(
    provider, person, configure, email, is_verified, is_superuser, is_linked
):
    configure(link_by_email=True)
    local = new_user(email=email, is_superuser=is_superuser)
    local.set_password("a local password")
    local.save()
    person.email_verified = is_verified
    principal = authenticate(provider.access_token(person))
    local.refresh_from_db()
    assert (principal.user_id == local.pk) is is_linked
    assert local.has_usable_password() is not is_linked


def test_a_person_s_own_access_token_ends_with_the_provider_s_word(provider, person):
    authenticate(provider.access_token(person))
    user = User.objects.get(username="hanako")
    row, own = create_token(principal=local_operator(), user=user, name="own", scopes=ALL_SCOPES)
    assert authenticate(own).token_id == row.pk
    grow_old(31)  # no session is left that could be asked about
    with pytest.raises(Unauthenticated):
        authenticate(own)
    authenticate(provider.access_token(person))
    assert authenticate(own).token_id == row.pk
    assert AccessToken.objects.get().revoked_at is None


def test_without_a_provider_nothing_of_it_is_asked(provider, person, configure, django_assert_num_queries):
    configure({"hub_oidc_providers": ()})
    with django_assert_num_queries(1), pytest.raises(Unauthenticated):
        authenticate(provider.access_token(person))
    assert provider.asked.total() == 0
    assert "authorization_servers" not in Client().get("/.well-known/oauth-protected-resource/api/v1").json()
