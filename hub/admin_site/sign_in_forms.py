"""The forms that check a password: signing in, and changing one's own. Both stand behind the brake on guessing."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from unfold.forms import AdminOwnPasswordChangeForm, AuthenticationForm

from hub.access.sign_in import locked_until, only_sign_in_as, wait_message


class SignInForm(AuthenticationForm):  # type: ignore[misc]  # Unfold has no types
    """Unfold's form, which says how long to wait where a sign-in is refused."""

    def clean(self) -> dict[str, Any]:
        """:raises ValidationError: the sign-in is refused; with code ``locked`` whatever the password was."""
        username = str(self.cleaned_data.get("username", ""))
        with only_sign_in_as(username):
            try:
                cleaned: dict[str, Any] = super().clean()
                return cleaned
            except ValidationError as error:
                refused = error  # what was counted is kept
        _say_wait(self.request, username)
        raise refused


class OwnPasswordForm(AdminOwnPasswordChangeForm):  # type: ignore[misc]  # Unfold has no types
    """Unfold's form, with the old password checked as at a sign-in: a session left open is no way to guess it."""

    def __init__(self, user: User, *args: object, request: HttpRequest, **options: object) -> None:
        super().__init__(user, *args, **options)
        self.request = request

    def clean_old_password(self) -> str:
        """:raises ValidationError: it is wrong, or too many wrong ones were given."""
        given: str = self.cleaned_data["old_password"]
        username = self.user.get_username()
        with only_sign_in_as(username):
            is_right = authenticate(self.request, username=username, password=given) is not None
        if not is_right:
            _say_wait(self.request, username)
            raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return given


def _say_wait(request: HttpRequest, username: str) -> None:
    until = locked_until(request, username)
    if until is not None:
        raise ValidationError(wait_message(until), code="locked")
