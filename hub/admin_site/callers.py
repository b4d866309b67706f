"""Who is at the other end of an admin request, and what went wrong told as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest

from hub.access.principals import Principal
from hub.access.services import principal_for_user
from hub.core.errors import HubError

Fact = TypeVar("Fact")
_REMEMBERED = "_hub_admin_facts"


def principal_of(request: HttpRequest) -> Principal:
    """Give the signed-in person as a principal; looked up once per request. Raises Unauthenticated."""
    return remembered(request, "principal", lambda: principal_for_user(cast(User, request.user)))


def remembered(request: HttpRequest, name: str, find: Callable[[], Fact]) -> Fact:
    """Give a fact that holds for the whole request, asking ``find`` only the first time."""
    facts: dict[str, Any] = request.__dict__.setdefault(_REMEMBERED, {})
    if name not in facts:
        facts[name] = find()
    return cast(Fact, facts[name])


def is_staff(request: HttpRequest) -> bool:
    """Tell whether a person is signed in who may enter the admin at all (the login page asks, too)."""
    user = request.user
    return bool(user.is_active and getattr(user, "is_staff", False))


@contextmanager
def errors_as_messages(request: HttpRequest) -> Iterator[None]:
    """Show an expected failure inside the block as an error message instead of raising it."""
    try:
        yield
    except HubError as error:
        messages.error(request, str(error))
