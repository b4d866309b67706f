from __future__ import annotations

import errno

import pytest
import redis
from django.core.exceptions import PermissionDenied, SuspiciousOperation, TooManyFieldsSent
from django.db import DataError, InterfaceError, InternalError, OperationalError, ProgrammingError
from django.http import UnreadablePostError
from ninja.errors import HttpError
from psycopg.errors import SyntaxError, UndefinedColumn, UndefinedTable

from hub.core.errors import Conflict
from hub.rest.errors import to_hub_error


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Conflict("版が変わりました。"), 409, "conflict"),
        (PermissionDenied(), 403, "forbidden"),
        (SuspiciousOperation("Host"), 400, "bad_request"),
        (TooManyFieldsSent("fields"), 413, "limit_exceeded"),
        (UnreadablePostError("cut"), 400, "incomplete_body"),
        (OperationalError("server closed the connection"), 503, "unavailable"),
        (InterfaceError("connection is closed"), 503, "unavailable"),
        (InternalError("index is corrupted"), 503, "unavailable"),
        (caused_by(ProgrammingError("no table"), UndefinedTable()), 503, "not_migrated"),
        (caused_by(ProgrammingError("no column"), UndefinedColumn()), 503, "not_migrated"),
        (caused_by(ProgrammingError("syntax"), SyntaxError()), 500, "internal_error"),
        (DataError("value out of range"), 500, "internal_error"),
        (redis.ConnectionError("refused"), 503, "unavailable"),
        (OSError(errno.ENOSPC, "No space left on device"), 503, "storage_full"),
        (OSError(errno.EFBIG, "File too large"), 503, "storage_full"),
        (OSError(errno.ENOENT, "No such file"), 500, "internal_error"),
        (HttpError(418, "nobody here raises this"), 500, "internal_error"),
        (ValueError("bug"), 500, "internal_error"),
    ],
)
def test_each_exception_has_one_meaning(error: Exception, status: int, code: str):
    meaning = to_hub_error(error)

    assert (meaning.status, meaning.error_code) == (status, code)
    assert str(meaning)


def test_only_faults_of_the_moment_invite_a_retry():
    assert to_hub_error(OperationalError()).retryable
    assert not to_hub_error(ValueError()).retryable
