"""Idempotency-Key: a write that is sent twice is done once, and answered the same both times.

:func:`idempotent` wraps whole operations (authentication, parsing, handler), so that what is kept is the answer as it
went over the wire. :class:`hub.rest.conventions.HubAPI` puts it around every operation.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.models import IdempotencyRecord
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
AsyncRun = Callable[..., Awaitable[HttpResponseBase]]


class IdempotencyKeyReused(InvalidInput):
    """The key came before, with another request."""

    code = "idempotency_key_reused"
    title = _("Idempotency key reused")


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


def idempotent(run: Run | AsyncRun) -> Run | AsyncRun:
    """Wrap a ninja operation's ``run`` (sync or async) so that writes honour Idempotency-Key."""
    if iscoroutinefunction(run):

        @functools.wraps(run)
        async def answer_async(request: HttpRequest, **path: Any) -> HttpResponseBase:  # noqa: ANN401
            claim = await sync_to_async(_begin)(request)
            if isinstance(claim, HttpResponse):
                return claim
            response = await cast(AsyncRun, run)(request, **path)
            await sync_to_async(_finish)(claim, response)
            return response

        return answer_async

    @functools.wraps(run)
    def answer(request: HttpRequest, **path: Any) -> HttpResponseBase:  # noqa: ANN401
        claim = _begin(request)
        if isinstance(claim, HttpResponse):
            return claim
        response = cast(Run, run)(request, **path)
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
    # a user id is forever, a name may go to another person
    return claim_key(key, principal=f"user:{principal.user_id}", digest=digest, now=timezone.now())


def claim_key(key: str, *, principal: str, digest: str, now: datetime) -> Claim | HttpResponse:
    """Take the work of ``key`` on, or give the kept answer of the first request.

    :raises IdempotencyKeyReused: the first request was another one (less than 24 h ago).
    :raises RequestInProgress: it is at work, and began less than 60 s ago.
    """
    record, is_new = IdempotencyRecord.objects.get_or_create(
        principal=principal, key=key, defaults={"request_digest": digest, "created_at": now}
    )
    if is_new:
        return Claim(record_id=record.pk, claimed_at=now)
    if record.created_at <= now - LIFETIME:
        return _take_over(record, digest=digest, now=now)
    if record.request_digest != digest:
        raise IdempotencyKeyReused(
            _("This Idempotency-Key was used for another request. Use a new key for each new request.")
        )
    if record.status is not None:
        return _replay(record)
    if record.created_at <= now - CRASHED_AFTER:
        return _take_over(record, digest=digest, now=now)
    raise _in_progress()


def _in_progress() -> HubError:
    return RequestInProgress(
        _("The first request with this Idempotency-Key is still at work. Send it again in {retry_after_s} seconds."),
        retry_after_s=RETRY_AFTER_S,
    )


def _take_over(record: IdempotencyRecord, *, digest: str, now: datetime) -> Claim:
    # of several requests that find the same leftover, the one that moves its time gets it
    leftover = IdempotencyRecord.objects.filter(pk=record.pk, created_at=record.created_at)
    if not leftover.update(created_at=now, request_digest=digest, status=None, headers={}, body=b""):
        raise _in_progress()
    return Claim(record_id=record.pk, claimed_at=now)


def _replay(record: IdempotencyRecord) -> HttpResponse:
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
    held.update(status=response.status_code, headers=headers, body=response.content)


def prune_idempotency_records(now: datetime) -> int:
    """Delete keys older than 24 h; returns how many."""
    deleted, _by_model = IdempotencyRecord.objects.filter(created_at__lte=now - LIFETIME).delete()
    return deleted
