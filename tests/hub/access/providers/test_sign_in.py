"""Signing in to the admin at an identity provider: there and back, what is refused, and when the session ends."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.provider_models import ProviderAccount, ProviderCredential, ProviderGroup
from hub.access.providers import keys
from hub.access.services import authenticate, create_token
from hub.access.sessions import prune_credentials
from hub.core.errors import Unauthenticated
from tests.factories import new_user
from tests.hub.access.providers.conftest import Configure
from tests.hub.access.providers.test_bearer import grow_old
from tests.oidc_server import OidcServer, Person, oidc_server

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("signs_in_at_providers")]
START, BACK, INDEX = "/admin/sign-in/office/", "/admin/sign-in/office/callback/", "/admin/"
HOME = "/"


@pytest.fixture
def person(provider: OidcServer, configure: Configure) -> Person:
    provider.person = provider.add("hanako", email="hanako@office.example", groups=["qa"])
    ProviderGroup.objects.create(provider="office", value="qa", group=Group.objects.create(name="品質管理課"))
    return provider.person


def leave(browser: Client, **query: str) -> str:
    """Begin a sign-in, and give where the browser is sent."""
    answer = browser.get(START, query)
    assert answer.status_code == 302
    return str(answer["Location"])


def visit(url: str) -> dict[str, str]:
    """Do at the provider what a browser does there; gives what it sends back."""
    answer = httpx2.get(url)
    assert answer.status_code == 302, answer.text
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["Location"]).query).items()}


def sign_in(browser: Client, **query: str) -> str:
    answer = browser.get(BACK, visit(leave(browser, **query)))
    assert answer.status_code == 302
    return str(answer["Location"])


def is_in(browser: Client) -> bool:
    return bool(browser.get(INDEX).status_code == 200)


def reasons() -> list[str]:
    return [event.details["reason"] for event in AuditEvent.objects.filter(action="LOGIN_FAILED").order_by("pk")]


def test_a_person_signs_in_with_pkce_state_and_nonce_and_has_the_rights_of_their_groups(provider, person):
    browser = Client()
    assert "/admin/sign-in/office/" in browser.get("/admin/login/").content.decode()
    url = leave(browser)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert browser.get(BACK, visit(url))["Location"] == HOME

    assert asked["code_challenge_method"] == "S256"
    assert len(asked["state"]) >= 32
    assert len(asked["nonce"]) >= 32
    assert asked["redirect_uri"] == settings.CONFIG.public_url + BACK
    assert is_in(browser)
    user = User.objects.get(username="hanako")
    assert not user.is_superuser
    assert [group.name for group in user.groups.all()] == ["品質管理課"]
    line = AuditEvent.objects.get(action="LOGIN")
    assert (line.user_id, line.details) == (user.pk, {"provider": "office"})


def test_tokens_are_encrypted_in_the_table(provider, person, django_assert_num_queries):
    sign_in(Client())
    credential = ProviderCredential.objects.get()
    assert "refresh_token" in credential.tokens
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT tokens FROM access_providercredential")
        assert cursor.fetchone()[0].startswith("sealed1.")


def test_the_same_person_comes_back_to_the_same_account_under_another_name(provider, person):
    sign_in(Client())
    person.username, person.email = "hanako-new", "new@office.example"
    sign_in(Client())
    assert User.objects.get().email == "new@office.example"


@pytest.mark.parametrize("place", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example"])
def test_next_leads_to_no_other_site(provider, person, place):
    assert sign_in(Client(), next=place) == HOME


def test_next_leads_on_within_the_hub(provider, person):
    assert sign_in(Client(), next="/admin/search/") == "/admin/search/"


def test_a_code_is_good_for_once(provider, person):
    browser = Client()
    answer = visit(leave(browser))
    browser.get(BACK, answer)
    browser.logout()
    assert browser.get(BACK, answer)["Location"] == "/admin/login/"
    assert not is_in(browser)


def test_an_answer_to_another_browser_is_refused(provider, person):
    """Else a guesser could have others work in the guesser's account."""
    victim = Client()
    assert victim.get(BACK, visit(leave(Client())))["Location"] == "/admin/login/"
    leave(victim)
    victim.get(BACK, visit(leave(Client())))
    assert not is_in(victim)
    assert reasons()


def test_a_stolen_code_in_a_sign_in_of_one_s_own_is_refused(provider, person):
    """The code belongs to the code challenge of the browser that asked for it."""
    stolen = visit(leave(Client()))["code"]
    browser = Client()
    own = visit(leave(browser))
    assert browser.get(BACK, {**own, "code": stolen})["Location"] == "/admin/login/"
    assert "invalid_grant" in reasons()[-1]
    assert not is_in(browser)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nonce", "another"),
        ("iss", "https://evil.example"),
        ("aud", "another-client"),
        ("aud", ["hub", "another-client"]),
        ("exp", 1),
        ("sub", "somebody-else"),
    ],
)
def test_a_changed_id_token_is_refused(provider, person, name, value):
    provider.tamper = lambda claims: claims.update({name: value})
    browser = Client()
    assert sign_in(browser) == "/admin/login/"
    assert not is_in(browser)
    assert len(reasons()) == 1


def test_an_id_token_without_nonce_is_refused(provider, person):
    provider.tamper = lambda claims: claims.pop("nonce")
    assert sign_in(Client()) == "/admin/login/"


def test_an_answer_of_another_provider_is_refused(provider, person, configure):
    browser = Client()
    assert browser.get(BACK, {**visit(leave(browser)), "iss": "https://evil.example"})["Location"] == "/admin/login/"
    office = settings.CONFIG.hub_oidc_providers[0]
    with oidc_server() as other:
        branch = office.model_copy(update={"id": "branch", "issuer": other.issuer})
        settings.CONFIG.__dict__["hub_oidc_providers"] = (office, branch)
        answer = visit(leave(browser))
        answer.pop("iss")
        assert browser.get("/admin/sign-in/branch/callback/", answer)["Location"] == "/admin/login/"
        assert other.asked["/token"] == 0
    assert not is_in(browser)


def test_what_the_provider_refuses_is_said_and_signs_nobody_out(provider, person):
    browser = Client()
    browser.force_login(new_user(is_staff=True), backend="django.contrib.auth.backends.ModelBackend")
    browser.get(BACK, {"error": "login_required"})
    assert is_in(browser)
    provider.person = None
    url = leave(browser)
    browser.get(BACK, visit(url))
    assert reasons()[-1] == "access_denied"
    assert is_in(browser)


def test_somebody_with_the_address_of_a_local_account_gets_one_of_their_own(provider, person):
    local = new_user(username="boss", email="hanako@office.example", is_superuser=True, is_staff=True)
    sign_in(Client())
    assert ProviderAccount.objects.get().user_id != local.pk


def test_who_may_not_be_made_is_told_the_subject_to_be_added_by(provider, person, configure):
    configure(create_users=False)
    browser = Client()
    sign_in(browser)
    assert "sub-hanako" in browser.get("/admin/login/").content.decode()
    user = new_user(is_staff=True)
    ProviderAccount.objects.create(user=user, provider="office", subject="sub-hanako")
    sign_in(browser)
    assert browser.session["_auth_user_id"] == str(user.pk)


@pytest.mark.parametrize("change", ["deactivated", "signed out there"])
def test_a_session_ends_within_a_minute_and_the_person_s_tokens_with_it(provider, person, change):
    browser = Client()
    sign_in(browser)
    user = User.objects.get(username="hanako")
    _row, own = create_token(principal=local_operator(), user=user, name="own", scopes=ALL_SCOPES)
    assert authenticate(own)
    if change == "deactivated":
        person.is_active = False
    else:
        provider.end_sessions_of(person)
    grow_old(31)
    assert not is_in(browser)
    with pytest.raises(Unauthenticated):
        authenticate(own)
    assert AuditEvent.objects.filter(action="ACCOUNT_ENDED", resource=f"user:{user.pk}").exists()


def test_a_change_of_groups_counts_in_a_session_within_a_minute(provider, person):
    browser = Client()
    sign_in(browser)
    person.groups = []
    grow_old(31)
    assert is_in(browser)
    assert not User.objects.get(username="hanako").groups.exists()


def test_refresh_tokens_rotate_and_the_session_goes_on(provider, person):
    browser = Client()
    sign_in(browser)
    for _turn in range(3):
        grow_old(31)
        assert is_in(browser)
    assert provider.asked["/token"] == 4


def test_a_provider_that_is_away_keeps_people_in_for_a_while_and_lets_local_accounts_in(provider, person, configure):
    configure({"hub_oidc_away_minutes": 10})
    browser, local = Client(), Client()
    sign_in(browser)
    provider.is_away = True
    grow_old(300)
    assert is_in(browser)
    grow_old(601)
    assert not is_in(browser)
    keys.forget()
    from hub.access.provider_models import ProviderState

    ProviderState.objects.update(fetched_at=timezone.now() - timedelta(hours=1), attempted_at=None)
    assert local.get(START)["Location"] == "/admin/login/"
    page = local.get("/admin/login/").content.decode()
    assert "庁内認証" in page
    user = new_user(username="breakglass", is_staff=True)
    user.set_password("山の上の古い郵便局 7")
    user.save()
    local.post("/admin/login/", {"username": "breakglass", "password": "山の上の古い郵便局 7", "next": INDEX})
    assert is_in(local)


def test_signing_out_leads_on_to_the_provider_and_ends_the_session_there(provider, person):
    browser = Client()
    sign_in(browser)
    page = browser.post("/admin/logout/").content.decode()
    url = page.partition('content="0;url=')[2].partition('"')[0].replace("&amp;", "&")
    assert urlsplit(url).path == "/end_session"
    answer = httpx2.get(url)
    assert answer.headers["Location"].startswith(f"{settings.CONFIG.public_url}/admin/login/")
    assert not is_in(browser)
    assert ProviderCredential.objects.get().ended_at is not None
    assert all(family["ended"] for family in provider.families.values())


def test_a_deactivated_local_user_does_not_come_in_by_the_provider(provider, person):
    sign_in(Client())
    User.objects.update(is_active=False)
    browser = Client()
    assert sign_in(browser) == "/admin/login/"
    assert not is_in(browser)


def test_without_a_provider_its_pages_are_not_there_and_nothing_of_it_is_loaded(configure):
    configure({"hub_oidc_providers": ()})
    assert Client().get(START).status_code == 404
    assert Client().get(BACK).status_code == 404
    script = "import django; django.setup(); import hub.site.urls, sys; print([m for m in sys.modules if "
    script += "m.startswith(('mozilla_django_oidc', 'hub.access.providers')) or m == 'jwt.api_jwk'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "mozilla_django_oidc" not in done.stdout
    assert "hub.access.providers" not in done.stdout


def old(browser: Client) -> None:
    session = browser.session
    session["confirmed_at"] = 0
    session.save()


def test_what_is_final_asks_the_provider_for_the_password_again(provider, person):
    ProviderGroup.objects.create(provider="office", value="admins", is_administrator=True)
    person.groups = ["admins"]
    browser = Client()
    sign_in(browser)
    old(browser)
    asked = browser.post("/admin/access/accesstoken/add/", {"name": "t"})["Location"]
    page = browser.get(asked).content.decode()
    assert "/admin/sign-in/office/?again=1" in page.replace("&amp;", "&")
    url = leave(browser, again="1", next="/admin/access/accesstoken/add/")
    assert "prompt=login" in url
    assert browser.get(BACK, visit(url))["Location"] == "/admin/access/accesstoken/add/"
    assert browser.session["confirmed_at"] > 0


def test_a_provider_that_did_not_ask_again_or_somebody_else_there_proves_nothing(provider, person):
    browser = Client()
    sign_in(browser)
    old(browser)
    browser.get(BACK, visit(leave(browser, again="1").replace("prompt=login", "prompt=none")))
    assert "did not ask" in reasons()[-1] or "再認証" in reasons()[-1]
    provider.person = provider.add("jiro")
    browser.get(BACK, visit(leave(browser, again="1")))
    assert browser.session["confirmed_at"] == 0
    assert browser.session["_auth_user_id"] == str(User.objects.get(username="hanako").pk)


def test_what_ended_or_expired_is_removed_a_day_later_and_the_rest_stays(provider, person):
    sign_in(Client())
    authenticate(provider.access_token(person))
    authenticate(provider.access_token(person, jti="second"))
    live, expired, ended = ProviderCredential.objects.order_by("pk")
    ProviderCredential.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(hours=25))
    ProviderCredential.objects.filter(pk=ended.pk).update(ended_at=timezone.now() - timedelta(hours=25))
    assert prune_credentials(timezone.now()) == 2
    assert ProviderCredential.objects.get() == live
