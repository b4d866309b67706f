"""Wrong passwords: after a few the right one is refused too, for a while, from where they came."""

from __future__ import annotations

import hashlib
import io
import re

import pytest
from axes.models import AccessAttempt
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connections
from django.db.models import F
from django.test import Client
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import local_operator
from hub.access.services import principal_for_user
from hub.access.sign_in import end_wait
from hub.core.errors import Forbidden
from tests.hub.admin.support import PASSWORD, make_user

pytestmark = pytest.mark.django_db
HERE, THERE = "192.0.2.1", "198.51.100.7"
MOST = 5
MOST_ANYWHERE = 30


@pytest.fixture
def user() -> User:
    return make_user("佐藤", is_superuser=True)


def sign_in(username: str, password: str, *, address: str = HERE, language: str = "ja", browser: str = "test"):
    """Fill in the sign-in page in a new browser; gives the answer to the form, 302 when the person is let in."""
    client = Client(
        enforce_csrf_checks=True,
        REMOTE_ADDR=address,
        headers={"Accept-Language": language, "User-Agent": browser},
    )
    page = client.get(reverse("admin:login")).content.decode()
    csrf = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert csrf is not None
    fields = {"username": username, "password": password, "csrfmiddlewaretoken": csrf[1], "next": "/admin/"}
    return client.post(reverse("admin:login"), fields)


def guess(username: str, times: int, *, address: str = HERE) -> None:
    for number in range(times):
        sign_in(username, f"wrong {number}", address=address, browser=f"browser {number}")


def let_the_wait_pass() -> None:
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - django_settings.AXES_COOLOFF_TIME)


def actions() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


def test_after_too_many_wrong_passwords_the_right_one_is_refused_until_the_wait_is_over(user):
    guess("佐藤", MOST - 1)
    assert sign_in("佐藤", "wrong").status_code == 429
    assert sign_in("佐藤", PASSWORD).status_code == 429
    let_the_wait_pass()
    assert sign_in("佐藤", PASSWORD).status_code == 302


def test_only_one_password_for_a_name_is_checked_at_a_time(user):
    """Passwords that are sent at once would else all be checked before the first wrong one is counted."""
    name = hashlib.sha256("sign-in:佐藤".encode()).hexdigest()
    another_request = connections.create_connection("default")
    try:
        with another_request.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [int(name[:15], 16)])
        for password in ("wrong", PASSWORD):
            answer = sign_in("佐藤", password)
            assert [error.code for error in answer.context["form"].errors.as_data()["__all__"]] == ["busy"]
        assert sign_in("鈴木", "wrong").context["form"].errors.as_data()["__all__"][0].code == "invalid_login"
    finally:
        another_request.close()
    assert not AccessAttempt.objects.filter(username="佐藤").exists()
    assert sign_in("佐藤", PASSWORD).status_code == 302


def test_fewer_wrong_passwords_than_that_are_forgiven_by_the_right_one(user):
    for _round in range(2):
        guess("佐藤", MOST - 1)
        assert sign_in("佐藤", PASSWORD).status_code == 302


def test_others_at_the_same_address_and_the_person_elsewhere_are_let_in_meanwhile(user):
    make_user("鈴木")
    guess("佐藤", MOST)
    assert sign_in("鈴木", PASSWORD).status_code == 302
    assert sign_in("佐藤", PASSWORD, address=THERE).status_code == 302


def test_a_guess_spread_over_many_addresses_is_refused_everywhere_but_where_the_person_signs_in(user):
    assert sign_in("佐藤", PASSWORD, address=THERE).status_code == 302
    for number in range(MOST_ANYWHERE // (MOST - 1) + 1):
        guess("佐藤", MOST - 1, address=f"203.0.113.{number}")
    assert sign_in("佐藤", PASSWORD, address="203.0.113.200").status_code == 429
    assert sign_in("佐藤", PASSWORD, address=THERE).status_code == 302
    let_the_wait_pass()
    assert sign_in("佐藤", PASSWORD, address="203.0.113.200").status_code == 302


def test_tries_that_are_refused_do_not_make_the_wait_longer(user):
    guess("佐藤", MOST)
    counted = list(AccessAttempt.objects.values_list("attempt_time", "failures_since_start"))
    guess("佐藤", 3)
    assert list(AccessAttempt.objects.values_list("attempt_time", "failures_since_start")) == counted


def test_a_name_that_nobody_has_is_answered_like_one_that_somebody_has(user):
    answers = [[sign_in(name, "wrong") for _try in range(MOST + 1)] for name in ("佐藤", "誰か")]
    assert [answer.status_code for answer in answers[0]] == [answer.status_code for answer in answers[1]]
    shown = [re.findall(r"パスワードの間違い[^<]*", answer[-1].content.decode()) for answer in answers]
    assert shown[0] == shown[1] != []


@pytest.mark.parametrize(
    ("language", "text"), [("ja", r"パスワードの間違いが多すぎます。15 分後"), ("en", "Try again in 15 minutes")]
)
def test_the_page_says_how_long_to_wait(user, language, text):
    guess("佐藤", MOST)
    answer = sign_in("佐藤", PASSWORD, language=language)
    assert re.search(text, answer.content.decode())
    assert 14 * 60 < int(answer["Retry-After"]) <= 15 * 60


def test_changing_ones_own_password_is_no_way_to_guess_it(user):
    client = Client(REMOTE_ADDR=HERE, headers={"Accept-Language": "ja"})
    client.force_login(user)
    new = "霧雨の裏庭-かたつむり-47番"
    wrong = {"old_password": "wrong", "new_password1": new, "new_password2": new}
    for _try in range(MOST):
        answer = client.post(reverse("admin:password_change"), wrong)
    assert answer.status_code == 429
    refused = client.post(reverse("admin:password_change"), {**wrong, "old_password": PASSWORD})
    assert "パスワードの間違いが多すぎます" in refused.content.decode()
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
    let_the_wait_pass()
    assert client.post(reverse("admin:password_change"), {**wrong, "old_password": PASSWORD}).status_code == 302
    user.refresh_from_db()
    assert user.check_password(new)


def test_signing_in_and_out_failing_and_being_locked_are_in_the_audit_trail(user):
    guess("佐藤", MOST + 2)
    assert actions() == ["LOGIN_FAILED"] * MOST + ["LOGIN_LOCKED"]
    locked = AuditEvent.objects.get(action="LOGIN_LOCKED")
    assert (locked.principal, locked.resource, locked.address, locked.door) == (
        "佐藤",
        f"user:{user.pk}",
        HERE,
        "admin",
    )
    assert locked.details["until"]
    let_the_wait_pass()
    client = Client(REMOTE_ADDR=THERE)
    client.post(reverse("admin:login"), {"username": "佐藤", "password": PASSWORD})
    client.post(reverse("admin:logout"))
    assert actions()[-2:] == ["LOGIN", "LOGOUT"]
    assert AuditEvent.objects.filter(action="LOGIN", user=user, address=THERE).count() == 1


def test_neither_passwords_nor_names_that_nobody_has_are_written_down(user):
    sign_in("佐藤", "ひみつの言葉-1")
    sign_in("ひみつの言葉-2", "")
    sign_in("ひみつの言葉-3", "x")
    told = str(list(AuditEvent.objects.values_list("principal", "resource", "details", "agent")))
    assert "言葉" not in told
    assert "ひみつ…" in told
    assert "ひみつの言葉-1" not in str(list(AccessAttempt.objects.values()))


def test_an_administrator_ends_the_wait_with_a_command(user):
    guess("佐藤", MOST)
    said = io.StringIO()
    call_command("unlock", "佐藤", stdout=said)
    assert "may sign in" in said.getvalue()
    assert sign_in("佐藤", PASSWORD).status_code == 302
    assert AuditEvent.objects.get(action="LOGIN_UNLOCK").resource == f"user:{user.pk}"
    call_command("unlock", "佐藤", stdout=said)
    assert "no wrong passwords" in said.getvalue()


def test_an_administrator_ends_the_wait_on_the_page_of_users(user):
    guess("佐藤", MOST)
    other = Client(REMOTE_ADDR=THERE)
    other.force_login(make_user("管理", is_superuser=True))
    asked = {"action": "end_wait", "_selected_action": [user.pk], "index": 0}
    other.post(reverse("admin:auth_user_changelist"), asked)
    assert sign_in("佐藤", PASSWORD).status_code == 302


def test_nobody_else_ends_the_wait(user):
    with pytest.raises(Forbidden):
        end_wait(principal=principal_for_user(make_user("鈴木")), username="佐藤")
    assert end_wait(principal=local_operator(), username="佐藤") == 0
