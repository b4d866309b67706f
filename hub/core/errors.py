"""The errors that people and programs see. Each door (REST, MCP, CLI, admin) translates them once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class HubError(Exception):
    """An expected failure with a stable ``code`` and a message that says what was wrong, where, and what to do.

    ``message`` is a template whose ``{names}`` are filled from ``data`` when it is shown, in the language that is
    active then. ``status`` is the HTTP status a REST caller gets; ``retryable`` tells whether the same call may
    succeed later.
    """

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False
    title: ClassVar[str | Promise] = _("Internal error")

    def __init__(self, message: str | Promise, *, code: str | None = None, **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = code or self.code
        self.data = data

    def __str__(self) -> str:
        return str(self.message).format(**self.data) if self.data else str(self.message)


class InvalidInput(HubError):
    """What the caller sent can't be used; the message names the field and what was expected."""

    code = "invalid_input"
    status = 422
    title = _("Invalid input")


def not_one_of(field: str, value: object, allowed: Iterable[str]) -> InvalidInput:
    """Return the refusal of a value that is none of those allowed for a field."""
    message = _("{field}: {value!r} is not one of {allowed}.")
    return InvalidInput(message, field=field, value=value, allowed=", ".join(allowed))


class NotFound(HubError):
    """There is nothing by that id, or the caller may not see it: both answer alike."""

    code = "not_found"
    status = 404
    title = _("Not found")


class Unauthenticated(HubError):
    code = "unauthenticated"
    status = 401
    title = _("Authentication needed")


class Forbidden(HubError):
    code = "forbidden"
    status = 403
    title = _("Not allowed")


class Conflict(HubError):
    """The request contradicts what is stored."""

    code = "conflict"
    status = 409
    title = _("Conflict")


class LimitExceeded(HubError):
    """A limit was passed; the message names the limit and the setting."""

    code = "limit_exceeded"
    status = 413
    title = _("Limit exceeded")


class RateLimited(HubError):
    """Too many requests; ``data["retry_after_s"]`` says when to come back."""

    code = "rate_limited"
    status = 429
    retryable = True
    title = _("Too many requests")


class TooManyAtOnce(RateLimited):
    """The caller has as many calls of a kind at work as one may have; others are answered meanwhile."""

    code = "too_many_at_once"


class Unavailable(HubError):
    """A part the hub needs (database, queue, storage, model) does not answer now."""

    code = "unavailable"
    status = 503
    retryable = True
    title = _("Temporarily unavailable")
