"""Passwords that a guesser tries first are refused wherever a password is set."""

from __future__ import annotations

import io
import secrets

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.site.first_start import make_first_admin
from tests.hub.admin.support import PASSWORD, client_of, make_user

pytestmark = pytest.mark.django_db


GUESSED = ["dave12345678", "aaaaaaaaaaaa", "123456789012"]
GOOD = "霧雨の裏庭-かたつむり-47番"


@pytest.mark.parametrize("password", GUESSED)
def test_a_guessed_password_is_refused_on_the_page_that_adds_a_user(password):
    client = client_of(make_user("佐藤", is_superuser=True))
    asked = {"username": "dave", "usable_password": "true", "password1": password, "password2": password}
    assert client.post(reverse("admin:auth_user_add"), asked).status_code == 200
    assert not User.objects.filter(username="dave").exists()
    client.post(reverse("admin:auth_user_add"), {**asked, "password1": GOOD, "password2": GOOD})
    assert User.objects.get(username="dave").check_password(GOOD)


@pytest.mark.parametrize("password", GUESSED)
def test_a_guessed_password_is_refused_on_the_page_where_an_administrator_sets_it(password):
    client = client_of(make_user("佐藤", is_superuser=True))
    dave = make_user("dave")
    page = reverse("admin:auth_user_password_change", args=[dave.pk])
    asked = {"usable_password": "true", "password1": password, "password2": password}
    assert client.post(page, asked).status_code == 200
    dave.refresh_from_db()
    assert dave.check_password(PASSWORD)
    client.post(page, {**asked, "password1": GOOD, "password2": GOOD})
    dave.refresh_from_db()
    assert dave.check_password(GOOD)


@pytest.mark.parametrize("password", GUESSED)
def test_a_guessed_password_is_refused_on_the_page_where_people_change_their_own(password):
    dave = make_user("dave")
    page = reverse("admin:password_change")
    asked = {"old_password": PASSWORD, "new_password1": password, "new_password2": password}
    assert client_of(dave).post(page, asked).status_code == 200
    dave.refresh_from_db()
    assert dave.check_password(PASSWORD)
    client_of(dave).post(page, {**asked, "new_password1": GOOD, "new_password2": GOOD})
    dave.refresh_from_db()
    assert dave.check_password(GOOD)


@pytest.mark.parametrize("password", GUESSED)
def test_a_guessed_password_is_refused_by_createsuperuser_without_questions(password, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", password)
    with pytest.raises(CommandError):
        call_command("createsuperuser", interactive=False, username="dave", email="dave@example.jp")
    assert not User.objects.exists()
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", GOOD)
    call_command("createsuperuser", interactive=False, username="dave", email="dave@example.jp", stdout=io.StringIO())
    assert User.objects.get().check_password(GOOD)


def test_createsuperuser_can_not_be_asked_to_take_a_guessed_password_all_the_same(monkeypatch):
    typed = iter(["dave12345678", "dave12345678"])
    monkeypatch.setattr("getpass.getpass", lambda *_prompt: next(typed))
    monkeypatch.setattr("builtins.input", lambda prompt="": "y" if "Bypass" in prompt else "dave")
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    with pytest.raises(CommandError):
        call_command("createsuperuser", username="dave", email="d@example.jp", stdin=terminal, stderr=io.StringIO())
    assert not User.objects.exists()


def test_the_password_of_the_first_start_is_taken():
    first = make_first_admin()
    assert first is not None
    validate_password(first.password, User.objects.get())
    signed_in = Client().post(reverse("admin:login"), {"username": first.username, "password": first.password})
    assert signed_in.status_code == 302


@pytest.mark.parametrize(
    "password",
    [
        *(
            "password12345678",
            "Passw0rd-2025/04/01",
            "P@ssw0rd-20262026",
            "Sakura2025-04-01",
            "qwertyuiop12345",
            "1qaz2wsx3edc4rfv",
        ),
        *(
            "zyxwvutsrqponmlk",
            "abcabcabcabcabc",
            "admin-admin-admin",
            "reiwa7tokyo20252025",
            "0123456789-0123456789",
            "2025/04/01 12:30:00",
        ),
        *(
            "DaveMiller20252026",
            "relliMdave12345678",
            "!!!!????####!!!!",
            "ｐａｓｓｗｏｒｄ１２３",
            "あいうえおかきくけこさしすせそた",
        ),
        *("パスワード2025年パスワード!", "4dm1n1str4t0r!4dm1n"),
    ],
)
def test_passwords_made_of_what_everybody_tries_are_refused(password):
    dave = User(username="dave", first_name="Dave", last_name="Miller", email="dave.miller@example.jp")
    with pytest.raises(ValidationError):
        validate_password(password, dave)


@pytest.mark.parametrize(
    "password",
    [
        GOOD,
        "correct horse battery",
        "kM7xdaveqP2zL9rW",
        "梅雨明けの裏庭-三毛猫が-9匹",
        "tT9$wq!Lz0pV-8r",
        "4821 0937 5561 8204",
        secrets.token_urlsafe(12),
    ],
    ids=lambda password: password if len(password) != 16 else "generated",
)
def test_other_passwords_are_taken(password):
    validate_password(password, User(username="dave", email="dave@example.jp"))
    validate_password(password)


def test_the_page_says_why_in_the_readers_language():
    dave = make_user("dave")
    asked = {"old_password": PASSWORD, "new_password1": "dave12345678", "new_password2": "dave12345678"}
    page = reverse("admin:password_change")
    english = client_of(dave, language="en").post(page, asked).content.decode()
    assert "fewer than 5 characters of this password are left" in english
    japanese = client_of(dave).post(page, asked).content.decode()
    assert "5 文字より少なく" in japanese


def test_the_commands_that_set_passwords_leave_a_line_each(monkeypatch, capsys):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", GOOD)
    call_command("createsuperuser", interactive=False, username="総括", email="")
    made = AuditEvent.objects.get(action="ACCOUNT_ADD")
    assert (made.resource, made.door) == (f"user:{User.objects.get(username='総括').pk}", "cli")
    monkeypatch.setattr(
        "hub.access.management.commands.changepassword.Command._get_pass", lambda *_args, **_more: GOOD + "2"
    )
    call_command("changepassword", "総括")
    changed = AuditEvent.objects.get(action="ACCOUNT_CHANGE")
    assert (changed.resource, changed.details["changed"]) == (made.resource, ["password"])
    assert GOOD not in str(changed.details)
