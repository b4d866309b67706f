"""Idempotency-Key: a write that is sent twice is done once, and answered the same both times.

Answers to reads are never kept: a repeated read is answered as things are now. A kept answer is given again only to who
still has all the rights of then and may see all that it names.

:func:`idempotent` wraps whole operations (authentication, parsing, handler), so that what is kept is the answer as it
went over the wire. :class:`hub.rest.conventions.HubAPI` puts it around every operation.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.models import IdempotencyRecord
from hub.access.principals import Principal
from hub.access.rights import rights_of, sees_all_named
from hub.core.errors import Conflict, HubError, InvalidInput
from hub.rest.auth import BearerAuth
from hub.rest.request_digest import request_digest

KEY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
WRITE_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
LIFETIME = timedelta(hours=24)
CRASHED_AFTER = timedelta(seconds=60)
RETRY_AFTER_S = 2
_SANE_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_KEPT_HEADERS = ("Content-Type", "Location", "ETag")

Run = Callable[..., HttpResponseBase]


class IdempotencyKeyReused(InvalidInput):
    """The key came before, with another request."""

    code = "idempotency_key_reused"
    title = _("Idempotency key reused")


class AnswerWithheld(Conflict):
    """The first request was done, but its answer is not for the caller any more."""

    code = "answer_withheld"
    title = _("Answer withheld")


class RequestInProgress(Conflict):
    """The first request with this key is still at work."""

    code = "request_in_progress"
    retryable = True
    title = _("Request in progress")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to do the work of one key; it is lost to another request when it is held for over 60 s."""

    record_id: int
    claimed_at: datetime
    principal: Principal


Handler = TypeVar("Handler", bound=Callable[..., Any])


def reads(handler: Handler) -> Handler:
    """Mark a call that only reads though its method is one of writes: its answers are never kept."""
    handler.only_reads = True  # type: ignore[attr-defined]
    return handler


def is_read(handler: Callable[..., Any]) -> bool:
    """Whether a handler was marked with :func:`reads`."""
    return bool(getattr(handler, "only_reads", False))


def idempotent(run: Run) -> Run:
    """Wrap a ninja operation's ``run`` so that writes honour Idempotency-Key."""
    if is_read(run.__self__.view_func):  # type: ignore[attr-defined]  # the bound method of an operation
        return run

    @functools.wraps(run)
    def answer(request: HttpRequest, **path: Any) -> HttpResponseBase:  # noqa: ANN401
        claim = _begin(request)
        if isinstance(claim, HttpResponse):
            return claim
        response = run(request, **path)
        _finish(claim, response)
        return response

    return answer


def _begin(request: HttpRequest) -> Claim | HttpResponse | None:
    key = request.headers.get(KEY_HEADER)
    # without a token the operation itself refuses the call, or needs none
    if key is None or request.method not in WRITE_METHODS or "Authorization" not in request.headers:
        return None
    if not _SANE_KEY.fullmatch(key):
        raise InvalidInput(
            _("Idempotency-Key must be 1 to 200 visible ASCII characters, for example a UUID."), field=KEY_HEADER
        )
    principal = BearerAuth()(request)
    digest = request_digest(request, principal)
    return claim_key(key, principal=principal, digest=digest, now=timezone.now())


def claim_key(key: str, *, principal: Principal, digest: str, now: datetime) -> Claim | HttpResponse:
    """Take the work of ``key`` on, or give the kept answer of the first request.

    :raises IdempotencyKeyReused: the first request was another one (less than 24 h ago).
    :raises RequestInProgress: it is at work, and began less than 60 s ago.
    :raises AnswerWithheld: the caller lacks a right of then, or may not see what the answer names.
    """
    # a user id is forever, a name may go to another person
    record, is_new = IdempotencyRecord.objects.get_or_create(
        principal=f"user:{principal.user_id}", key=key, defaults={"request_digest": digest, "created_at": now}
    )
    if is_new:
        return Claim(record_id=record.pk, claimed_at=now, principal=principal)
    if record.created_at <= now - LIFETIME:
        return _take_over(record, principal=principal, digest=digest, now=now)
    if record.request_digest != digest:
        raise IdempotencyKeyReused(
            _("This Idempotency-Key was used for another request. Use a new key for each new request.")
        )
    if record.status is not None:
        return _replay(record, principal)
    if record.created_at <= now - CRASHED_AFTER:
        return _take_over(record, principal=principal, digest=digest, now=now)
    raise _in_progress()


def _in_progress() -> HubError:
    return RequestInProgress(
        _("The first request with this Idempotency-Key is still at work. Send it again in {retry_after_s} seconds."),
        retry_after_s=RETRY_AFTER_S,
    )


def _take_over(record: IdempotencyRecord, *, principal: Principal, digest: str, now: datetime) -> Claim:
    # of several requests that find the same leftover, the one that moves its time gets it
    leftover = IdempotencyRecord.objects.filter(pk=record.pk, created_at=record.created_at)
    if not leftover.update(created_at=now, request_digest=digest, status=None, headers={}, body=b"", rights=None):
        raise _in_progress()
    return Claim(record_id=record.pk, claimed_at=now, principal=principal)


def _replay(record: IdempotencyRecord, principal: Principal) -> HttpResponse:
    """Give the kept answer. What was withdrawn since, or classified higher, is not given out of it."""
    has_all_rights = record.rights is not None and rights_of(principal).issuperset(record.rights)
    named = b" ".join([bytes(record.body), *(value.encode() for value in record.headers.values())])
    if not (has_all_rights and sees_all_named(principal, named)):
        raise AnswerWithheld(
            _(
                "The first request with this Idempotency-Key was done, and is not done again. Its answer is not given "
                "again either: your rights, or what it is about, have changed since. Read the thing itself."
            )
        )
    headers = {**record.headers, REPLAYED_HEADER: "true"}
    return HttpResponse(bytes(record.body), status=record.status, headers=headers)


def _finish(claim: Claim | None, response: HttpResponseBase) -> None:
    """Keep the answer, or forget the key when the caller is to try again (5xx, Retry-After) or the answer streams."""
    if claim is None:
        return
    held = IdempotencyRecord.objects.filter(pk=claim.record_id, created_at=claim.claimed_at, status=None)
    invites_retry = response.status_code >= 500 or (response.status_code >= 400 and "Retry-After" in response)
    if invites_retry or not isinstance(response, HttpResponse):
        held.delete()
        return
    headers = {name: response[name] for name in _KEPT_HEADERS if name in response}
    # asked after the work, which may have given rights itself: who makes a collection may use it
    rights = sorted(rights_of(claim.principal))
    held.update(status=response.status_code, headers=headers, body=response.content, rights=rights)


def prune_idempotency_records(now: datetime) -> int:
    """Delete keys older than 24 h; returns how many."""
    deleted, _by_model = IdempotencyRecord.objects.filter(created_at__lte=now - LIFETIME).delete()
    return deleted
