"""What each exception that can leave a REST call means to its caller, as a :class:`HubError`."""

from __future__ import annotations

import errno
import logging
from functools import singledispatch

import redis
from django.conf import settings
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.db import Error as DatabaseError
from django.http import Http404, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from ninja.errors import AuthenticationError, HttpError

from hub.core.context import request_id
from hub.core.database import in_one_line, unavailable_by
from hub.core.errors import Forbidden, HubError, InvalidInput, LimitExceeded, NotFound, Unauthenticated, Unavailable
from hub.core.waiting import Stopped

logger = logging.getLogger(__name__)


class BadRequest(HubError):
    """The request can't be read at all."""

    code = "bad_request"
    status = 400
    title = _("Bad request")


class MethodNotAllowed(HubError):
    """There is something at this address, but it does not take this method."""

    code = "method_not_allowed"
    status = 405
    title = _("Method not allowed")


class NotAcceptable(HubError):
    """None of the media types in Accept can be answered."""

    code = "not_acceptable"
    status = 406
    title = _("Not acceptable")


class UnsupportedMediaType(HubError):
    """The body's Content-Type is not one that this call reads."""

    code = "unsupported_media_type"
    status = 415
    title = _("Unsupported media type")


class ClientGone(HubError):
    """Nobody reads this answer: it stands in the counters only. 499 is what nginx and others log for it."""

    code = "client_gone"
    status = 499
    title = _("Client gone")


class InvalidFields(InvalidInput):
    """Some values of the request can't be used; ``errors`` has {field, location, message} for each.

    ``fields`` fills the message's {fields}.
    """

    def __init__(self, message: str | Promise, *, errors: list[dict[str, str]], fields: str) -> None:
        super().__init__(message, fields=fields)
        self.errors = errors


def missing_token() -> Unauthenticated:
    """Make the answer to a call without a token."""
    return Unauthenticated(_("This call needs the header Authorization: Bearer TOKEN."))


def internal_error() -> HubError:
    """Make the answer to a bug: the caller learns nothing but the request id, by which the log has the traceback."""
    return HubError(
        _("Something went wrong inside the hub. Report it together with the request id {request_id}."),
        request_id=request_id(),
    )


@singledispatch
def to_hub_error(error: BaseException) -> HubError:
    """Say what ``error`` means to a caller. An exception that nobody expected is logged with its traceback."""
    logger.error("unexpected %s in a REST call", type(error).__name__, exc_info=error)
    return internal_error()


@to_hub_error.register
def _as_it_is(error: HubError) -> HubError:
    return error


@to_hub_error.register
def _page_not_found(error: Http404) -> HubError:
    return NotFound(_("There is nothing at this address. Check the path and the id."))


@to_hub_error.register
def _permission_denied(error: PermissionDenied) -> HubError:
    return Forbidden(_("The caller may not do this."))


@to_hub_error.register
def _unauthenticated(error: AuthenticationError) -> HubError:
    return missing_token()


@to_hub_error.register
def _unreadable_body(error: HttpError) -> HubError:
    # ninja raises a bare 400 for any failure of the body parser, with the parser's own error as its cause
    if isinstance(error.__cause__, HubError):
        return error.__cause__
    return to_hub_error.dispatch(Exception)(error)


@to_hub_error.register
def _malformed_multipart(error: MultiPartParserError) -> HubError:
    return BadRequest(_("The multipart body can't be read: {reason}"), code="malformed_multipart", reason=str(error))


@to_hub_error.register
def _body_cut_off(error: UnreadablePostError) -> HubError:
    return BadRequest(_("The request body ended before it was complete. Send it again."), code="incomplete_body")


@to_hub_error.register
def _body_too_big(error: RequestDataTooBig) -> HubError:
    return LimitExceeded(
        _(
            "The request body without files is larger than {limit} bytes (DATA_UPLOAD_MAX_MEMORY_SIZE). "
            "Send large content as a file of a multipart request."
        ),
        limit=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    )


@to_hub_error.register(TooManyFieldsSent)
@to_hub_error.register(TooManyFilesSent)
def _too_many_parts(error: SuspiciousOperation) -> HubError:
    return LimitExceeded(
        _(
            "The request has too many parts: at most {fields} fields (DATA_UPLOAD_MAX_NUMBER_FIELDS) and "
            "{files} files (DATA_UPLOAD_MAX_NUMBER_FILES)."
        ),
        fields=settings.DATA_UPLOAD_MAX_NUMBER_FIELDS,
        files=settings.DATA_UPLOAD_MAX_NUMBER_FILES,
    )


@to_hub_error.register
def _suspicious(error: SuspiciousOperation) -> HubError:
    logger.warning("refused a request: %s", error)
    return BadRequest(
        _("The request was refused: its Host header or another part is not acceptable. See ALLOWED_HOSTS.")
    )


@to_hub_error.register
def _database_failure(error: DatabaseError) -> HubError:
    meaning = unavailable_by(error)
    if meaning is None:
        return to_hub_error.dispatch(Exception)(error)
    logger.error("the database failed a REST call: %s", in_one_line(error))
    return meaning


@to_hub_error.register
def _nobody_waits(error: Stopped) -> HubError:
    return ClientGone(_("The client did not wait for the answer."))


@to_hub_error.register(redis.ConnectionError)
@to_hub_error.register(redis.TimeoutError)
def _queue_down(error: Exception) -> HubError:
    logger.error("the queue failed a REST call: %s", error)
    return Unavailable(_("The queue does not answer now. Try again in a few seconds."))


@to_hub_error.register
def _system_failure(error: OSError) -> HubError:
    if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:  # the last where `ulimit -f` is what is full
        return to_hub_error.dispatch(Exception)(error)
    logger.error("no space left for a REST call: %s", error)
    return Unavailable(
        _("The hub's disk is full. Try again after the operator has made room."), code="storage_full", retry_after_s=60
    )
