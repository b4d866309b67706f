"""`manage.py createsuperuser`: Django's own, without passwords that the pages refuse, with a line in the trail."""

from __future__ import annotations

from django.contrib.auth.management.commands import createsuperuser
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.db import transaction

from hub.access.principals import local_operator
from hub.access.services import record_event
from hub.core.commands import cli_call


class _CheckedUsers:
    """Makes superusers as ``User.objects`` does, after the checks that Django lets one skip or leaves out."""

    def db_manager(self, using: str) -> _CheckedUsers:
        return self

    def __getattr__(self, name: str) -> object:
        return getattr(User.objects, name)

    def create_superuser(self, **fields: str) -> User:
        """:raises ValidationError: the password is refused; without one the person can't sign in, which may be."""
        password = fields.pop("password", None)
        if password is not None:
            validate_password(password, User(**fields))
        with cli_call(), transaction.atomic():
            user = User.objects.create_superuser(**fields, password=password)
            record_event(local_operator(), "ACCOUNT_ADD", f"user:{user.pk}", name=str(user), is_superuser=True)
        return user


class _CheckedUser:
    """The user model, as the command sees it."""

    _default_manager = _CheckedUsers()

    def __getattr__(self, name: str) -> object:
        return getattr(User, name)

    def __call__(self, **fields: str) -> User:
        return User(**fields)


class Command(createsuperuser.Command):
    def handle(self, **options: object) -> None:
        self.UserModel = _CheckedUser()  # type: ignore[assignment]
        super().handle(**options)
