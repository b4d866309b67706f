"""A token ends: after a year at the latest, and when its owner's password changes, however that was done."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AccessToken
from hub.access.principals import Scope, local_operator
from hub.access.services import authenticate, create_token
from hub.core.errors import InvalidInput, Unauthenticated
from hub.site.first_start import make_first_admin
from tests.hub.admin.support import PASSWORD, client_of, make_user

pytestmark = pytest.mark.django_db
NEW = "霧雨の裏庭-かたつむり-47番"
YEAR = timedelta(days=365)


def issue(user: User, **more) -> str:
    return create_token(principal=local_operator(), user=user, name="t", scopes=frozenset({Scope.READ}), **more)[1]


def is_usable(token: str) -> bool:
    try:
        authenticate(token)
    except Unauthenticated:
        return False
    return True


def on_ones_own_page(user: User) -> None:
    asked = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert client_of(user).post(reverse("admin:password_change"), asked).status_code == 302


def on_the_page_of_an_administrator(user: User) -> None:
    page = reverse("admin:auth_user_password_change", args=[user.pk])
    asked = {"usable_password": "true", "password1": NEW, "password2": NEW}
    assert client_of(make_user("管理", is_superuser=True)).post(page, asked).status_code == 302


def by_the_command(user: User) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("getpass.getpass", lambda prompt="": NEW)
        call_command("changepassword", user.username, stdout=io.StringIO())


def in_a_shell(user: User) -> None:
    user.set_password(NEW)
    user.save(update_fields=["password"])


def in_the_database(user: User) -> None:
    User.objects.filter(pk=user.pk).update(password="md5$salt$0123")


@pytest.mark.parametrize(
    "change",
    [on_ones_own_page, on_the_page_of_an_administrator, by_the_command, in_a_shell, in_the_database],
    ids=lambda way: way.__name__,
)
def test_a_changed_password_ends_the_tokens_of_that_person_and_of_nobody_else(change):
    user, other = make_user("dave"), make_user("鈴木")
    token, others = issue(user), issue(other)
    assert is_usable(token)
    change(user)
    assert not is_usable(token)
    assert is_usable(others)
    user.refresh_from_db()
    assert is_usable(issue(user))


def test_the_same_password_hashed_anew_at_a_sign_in_ends_nothing(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    user = make_user("dave")
    token = issue(user)
    before = user.password
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.ScryptPasswordHasher",
        "django.contrib.auth.hashers.MD5PasswordHasher",
    ]
    assert Client().post(reverse("admin:login"), {"username": "dave", "password": PASSWORD}).status_code == 302
    user.refresh_from_db()
    assert user.password != before
    assert is_usable(token)


def test_the_pages_say_that_a_token_ended_with_the_password():
    user = make_user("dave")
    issue(user)
    in_the_database(user)
    admin = client_of(make_user("管理", is_superuser=True))
    assert "パスワード変更により無効" in admin.get(reverse("admin:access_accesstoken_changelist")).content.decode()
    listed = io.StringIO()
    call_command("token", "list", stdout=listed)
    assert "ended with the password" in listed.getvalue()


def test_a_token_without_a_wish_lasts_a_year_that_of_the_first_start_too():
    assert make_first_admin() is not None
    left = AccessToken.objects.get().expires_at - timezone.now()
    assert YEAR - timedelta(hours=1) < left <= YEAR


@pytest.mark.parametrize("days", [-1, 366, 100_000])
def test_no_longer_life_and_no_end_in_the_past_are_given(days):
    user = User.objects.create(username="dave")
    with pytest.raises(InvalidInput):
        issue(user, expires_at=timezone.now() + timedelta(days=days))
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize("days", [0, 366, 10**12])
def test_the_command_takes_no_longer_life(days):
    User.objects.create(username="dave")
    with pytest.raises(CommandError, match="HUB_TOKEN_MAX_DAYS"):
        call_command("token", "create", user="dave", expires=days)
    assert not AccessToken.objects.exists()


def test_the_form_suggests_a_year_and_takes_no_longer_life():
    client = client_of(make_user("dave", is_superuser=True))
    page = reverse("admin:access_accesstoken_add")
    last = timezone.localtime(timezone.now() + YEAR)
    assert str(last.year) in client.get(page).content.decode()
    asked = {"name": "t", "user": User.objects.get().pk, "scopes": ["read"], "expires_at_1": "00:00:00"}
    refused = client.post(page, {**asked, "expires_at_0": f"{last + timedelta(days=2):%Y-%m-%d}"}).content.decode()
    assert "最長 365 日" in refused
    assert not AccessToken.objects.exists()
    client.post(page, {**asked, "expires_at_0": f"{last - timedelta(days=2):%Y-%m-%d}"})
    assert AccessToken.objects.get().expires_at < last
