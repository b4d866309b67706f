"""Codes of authenticators at the sign-in, sessions that are listed and ended, and asking again before what is final."""

from __future__ import annotations

import re
import time

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from hub.access import second_factor
from hub.access.factor_models import Authenticator, HubSession, RecoveryCode
from hub.access.models import AccessToken, AuditEvent
from hub.access.second_factor import STEP_S, code_at
from hub.core.encryption.errors import SealBroken
from hub.core.secrets import open_secret
from tests.factories import new_user

pytestmark = pytest.mark.django_db
SET_UP = "/admin/second-factor/"
RECOVERY = re.compile(r"<code>([0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4})</code>")
PASSWORD = "山の上の古い郵便局 7"
TOKEN = {"name": "t", "scopes": ["read"]}


@pytest.fixture
def user() -> User:
    made = new_user(username="hanako", is_staff=True, is_superuser=True)
    made.set_password(PASSWORD)
    made.save()
    return made


def sign_in(username: str = "hanako", password: str = PASSWORD, **more: str) -> tuple[Client, int]:
    browser = Client(headers={"user-agent": "試験ブラウザ"})
    answer = browser.post("/admin/login/", {"username": username, "password": password, "next": "/admin/", **more})
    return browser, answer.status_code


def begin(browser: Client) -> str:
    """Begin to set up an authenticator; gives the page that shows its key."""
    return browser.post(SET_UP, {"begin": "1", "password": PASSWORD}).content.decode()


def now_code(user: User, off: int = 0) -> str:
    return code_at(Authenticator.objects.get(user=user).secret, int(time.time()) // STEP_S + off)


@pytest.fixture
def recovery(user: User) -> list[str]:
    """The user has set up an authenticator; gives the recovery codes as the page showed them."""
    browser, _status = sign_in()
    page = begin(browser)
    assert "<svg" in page
    assert Authenticator.objects.get().secret in page
    page = browser.post("/admin/second-factor/", {"code": now_code(user, -1)}).content.decode()
    return RECOVERY.findall(page)


def test_codes_are_those_of_the_standard():
    """RFC 6238, appendix B, of which authenticators show the last six digits."""
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    found = [code_at(secret, at // 30) for at in (59, 1111111109, 1111111111, 1234567890, 2000000000, 20000000000)]
    assert found == ["287082", "081804", "050471", "005924", "279037", "353130"]


def test_the_secret_is_encrypted_and_recovery_codes_are_hashes(user, recovery):
    assert len(set(recovery)) == 10
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM access_authenticator")
        assert cursor.fetchone()[0].startswith("sealed1.")
    assert not RecoveryCode.objects.filter(digest__in=[code.replace("-", "") for code in recovery]).exists()


def test_password_and_code_are_needed_and_a_code_opens_once(user, recovery):
    assert sign_in()[1] == 200
    assert sign_in(code="000000")[1] == 200
    assert sign_in(code=now_code(user, -1))[1] == 200  # it was used to set it up
    code = now_code(user)
    assert sign_in(password="wrong", code=code)[1] == 200
    assert sign_in(code=f"{code[:3]} {code[3:]}")[1] == 302
    assert sign_in(code=code)[1] == 200


def test_a_wrong_code_and_a_wrong_password_are_answered_alike_and_counted_alike(user, recovery):
    pages = []
    for more in ({"password": "wrong"}, {"code": "000000"}, {}):
        browser = Client()
        page = browser.post("/admin/login/", {"username": "hanako", "password": PASSWORD, **more}).content.decode()
        pages.append(re.sub(r"csrfmiddlewaretoken.*?>|nonce=\S+|\svalue=\"000000\"", "", page))
    assert pages[0] == pages[1] == pages[2]
    for _turn in range(settings.CONFIG.hub_sign_in_failures):
        sign_in(code="000000")
    assert sign_in(code=now_code(user))[1] == 429
    assert AuditEvent.objects.filter(action="LOGIN_LOCKED").exists()


def test_a_recovery_code_takes_the_place_of_a_code_once(user, recovery):
    assert sign_in(code=recovery[0].upper())[1] == 302
    assert sign_in(code=recovery[0])[1] == 200
    assert second_factor.recovery_codes_left(user) == 9


def test_superusers_remove_the_second_factor_of_others_and_nobody_else_does(user, recovery):
    boss = new_user(is_staff=True, is_superuser=True)
    browser = Client()
    browser.force_login(boss, backend="django.contrib.auth.backends.ModelBackend")
    browser.post("/admin/auth/user/", {"action": "remove_second_factor", "_selected_action": [user.pk]})
    assert sign_in()[1] == 302
    assert AuditEvent.objects.get(action="ACCOUNT_FACTOR_REMOVE").user_id == boss.pk


def test_where_it_is_a_duty_nothing_opens_before_it_is_set_up(user, monkeypatch):
    changed = settings.CONFIG.model_copy(update={"hub_second_factor": "superusers"})
    monkeypatch.setattr(settings, "CONFIG", changed)
    browser, _status = sign_in()
    assert browser.get("/admin/")["Location"] == "/admin/second-factor/"
    begin(browser)
    browser.post("/admin/second-factor/", {"code": now_code(user)})
    assert browser.get("/admin/").status_code == 200


def test_the_key_of_a_set_up_is_shown_once_and_to_nobody_who_comes_later(user):
    owner, thief = sign_in()[0], sign_in()[0]
    shown = re.search(r"<code>([A-Z2-7]{32})</code>", begin(owner))
    assert shown
    step = int(time.time()) // STEP_S
    assert shown[1] not in thief.post(SET_UP, {"code": "000000"}).content.decode()
    page = owner.post(SET_UP, {"code": "000000"}).content.decode()
    assert shown[1] not in page
    assert "新しい画像を表示" in page
    assert len(RECOVERY.findall(owner.post(SET_UP, {"code": code_at(shown[1], step)}).content.decode())) == 10


def test_a_session_alone_neither_begins_a_set_up_nor_puts_its_key_in_the_owners_place(user):
    owner, thief = sign_in()[0], sign_in()[0]
    begin(owner)
    waiting = Authenticator.objects.get().secret
    for given in ({}, {"begin": "1"}, {"begin": "1", "password": "wrong"}, {"code": "000000"}):
        assert waiting not in thief.post(SET_UP, given).content.decode()
    for method in (thief.get, thief.head):
        assert waiting not in method(SET_UP).content.decode()
    assert Authenticator.objects.get().secret == waiting
    owner.post(SET_UP, {"code": now_code(user)})
    assert second_factor.has_second_factor(user)
    assert thief.get("/admin/").status_code == 302  # it began by the password alone


def test_another_beginning_makes_another_key_and_the_earlier_one_is_worth_nothing(user):
    owner, _status = sign_in()
    begin(owner)
    first = Authenticator.objects.get().secret
    assert first not in begin(owner)
    owner.post(SET_UP, {"code": code_at(first, int(time.time()) // STEP_S)})
    assert not second_factor.has_second_factor(user)


def test_the_factor_is_removed_by_password_and_code(user, recovery):
    browser, _status = sign_in(code=now_code(user))
    for given in ({}, {"password": PASSWORD}, {"code": recovery[0]}, {"password": "wrong", "code": recovery[0]}):
        browser.post(SET_UP, {"remove": "1", **given})
        assert second_factor.has_second_factor(user)
    browser.post(SET_UP, {"remove": "1", "password": PASSWORD, "code": recovery[1]})
    assert not second_factor.has_second_factor(user)


def test_a_copied_session_is_not_confirmed_with_the_owners(user):
    owner, _status = sign_in()
    key = owner.session.session_key
    owner.post("/admin/confirm/", {"password": PASSWORD})
    assert owner.session.session_key != key
    assert owner.get("/admin/").status_code == 200
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = key
    assert thief.get("/admin/").status_code == 302


def test_a_set_up_lapses(user):
    owner, _status = sign_in()
    begin(owner)
    code = now_code(user)
    Authenticator.objects.update(begun_at=timezone.now() - second_factor.SET_UP_WITHIN)
    page = owner.post(SET_UP, {"code": code}).content.decode()
    assert not second_factor.has_second_factor(user)
    assert "<svg" not in page
    begin(owner)
    owner.post(SET_UP, {"code": now_code(user)})
    assert second_factor.has_second_factor(user)


def test_another_persons_secret_does_not_open_in_ones_own_row_and_recovery_codes_still_help(user, recovery):
    other = new_user(username="jiro", is_staff=True)
    second_factor.begin(other)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE access_authenticator SET secret = (SELECT secret FROM access_authenticator WHERE user_id = %s)",
            [other.pk],
        )
    assert Authenticator.objects.get(user=other).secret
    with pytest.raises(SealBroken):
        Authenticator.objects.get(user=user).secret  # noqa: B018
    assert sign_in(code=recovery[0])[1] == 302


@pytest.mark.django_db(transaction=True)
def test_the_migration_binds_the_secrets_that_there_are_to_their_rows_and_back(user):
    secret = second_factor.begin(user)
    lost = new_user()
    second_factor.begin(lost)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE access_authenticator SET secret = 'sealed1.a2V5.AA.AA' WHERE user_id = %s", [lost.pk])
    try:
        call_command("migrate", "access", "0013", verbosity=0)
        with connection.cursor() as cursor:
            cursor.execute("SELECT secret FROM access_authenticator WHERE user_id = %s", [user.pk])
            assert open_secret(cursor.fetchone()[0], "access.authenticator.secret") == secret
    finally:
        call_command("migrate", verbosity=0)
    assert Authenticator.objects.get(user=user).secret == secret


def grow_old(browser: Client) -> None:
    session = browser.session
    session["confirmed_at"] = time.time() - settings.CONFIG.hub_confirm_minutes * 60 - 1
    session.save()


def test_what_is_final_asks_again_by_password_and_code(user, recovery):
    browser, _status = sign_in(code=now_code(user))
    grow_old(browser)
    answer = browser.post("/admin/access/accesstoken/add/", TOKEN)
    assert answer["Location"].startswith("/admin/confirm/?next=%2Fadmin%2Faccess%2Faccesstoken%2Fadd%2F")
    assert not AccessToken.objects.exists()
    assert browser.post(answer["Location"], {"password": "wrong", "code": recovery[0]}).status_code == 200
    assert browser.post(answer["Location"], {"password": PASSWORD}).status_code == 200
    confirmed = browser.post(answer["Location"], {"password": PASSWORD, "code": recovery[1]})
    assert confirmed["Location"] == "/admin/access/accesstoken/add/"
    browser.post("/admin/access/accesstoken/add/", {**TOKEN, "user": user.pk})
    assert AccessToken.objects.count() == 1


@pytest.mark.parametrize("place", ["https://evil.example/", "//evil.example"])
def test_the_proof_leads_to_no_other_site(user, place):
    browser, _status = sign_in()
    assert browser.post(f"/admin/confirm/?next={place}", {"password": PASSWORD})["Location"] == "/"


def test_looking_is_never_asked_about(user):
    browser, _status = sign_in()
    grow_old(browser)
    for path in ("/admin/", "/admin/auth/user/", f"/admin/auth/user/{user.pk}/change/", "/admin/sessions/"):
        assert browser.get(path).status_code == 200


def test_people_see_and_end_their_own_sessions_and_superusers_those_of_others(user):
    other = new_user(username="jiro", is_staff=True)
    other.set_password(PASSWORD)
    other.save()
    here, there = sign_in("jiro")[0], sign_in("jiro")[0]
    page = here.get("/admin/sessions/").content.decode()
    assert page.count("試験ブラウザ") == 2
    keys = {here.session.session_key, there.session.session_key}
    assert not any(key in page for key in keys)  # a key would open the session
    handle = re.findall(r'name="session" value="(\w+)"', page)
    assert len(handle) == 1
    here.post("/admin/sessions/", {"session": handle[0]})
    assert there.get("/admin/").status_code == 302
    assert here.get("/admin/").status_code == 200
    boss, _status = sign_in()
    here.post(f"/admin/sessions/?user={user.pk}", {})
    assert boss.get("/admin/").status_code == 200
    boss.post(f"/admin/sessions/?user={other.pk}", {})
    assert here.get("/admin/").status_code == 302
    assert not HubSession.objects.filter(user_id=other.pk).exists()
    assert AuditEvent.objects.filter(action="SESSION_END", resource=f"user:{other.pk}").count() == 2


def test_a_second_action_beside_a_final_one_does_not_let_it_through(user, recovery):
    browser, _status = sign_in(code=now_code(user))
    grow_old(browser)
    several = {"action": ["remove_second_factor", "end_wait"], "index": "0", "_selected_action": [user.pk]}
    assert browser.post("/admin/auth/user/", several)["Location"].startswith("/admin/confirm/")
