"""What it means to a caller, and to the log, that PostgreSQL fails."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from django.db import (
    DEFAULT_DB_ALIAS,
    Error,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
    connections,
)
from django.db.backends.utils import CursorWrapper
from django.utils.translation import gettext_lazy as _
from psycopg.errors import UndefinedColumn, UndefinedTable

from hub.core.errors import Unavailable
from hub.core.postgresql_backend.base import DatabaseWrapper

logger = logging.getLogger(__name__)
# Source: PostgreSQL manual, "PostgreSQL Error Codes". An error that has none comes from the client's side.
_CONNECTION_CLASS = "08"
_SERVER_GOES = frozenset({"57P01", "57P02", "57P03"})  # admin_shutdown, crash_shutdown, cannot_connect_now


def unavailable_by(error: BaseException) -> Unavailable | None:
    """Say what a failure of the database means to a caller; None for one that is a bug, or that the input caused."""
    match error:
        case ProgrammingError(__cause__=UndefinedTable() | UndefinedColumn()):
            return Unavailable(
                _("The database lacks a table or a column that the hub needs. Run: manage.py migrate"),
                code="not_migrated",
            )
        case OperationalError() | InterfaceError() | InternalError():
            return database_down()
    return None


def database_down() -> Unavailable:
    """Say that the database does not answer."""
    return Unavailable(_("The database does not answer now. Try again in a few seconds."))


def is_connection_lost(error: BaseException) -> bool:
    """Tell whether an error is of the connection, or of none being had, and not of one statement."""
    state = getattr(error.__cause__, "sqlstate", None)
    return isinstance(error, OperationalError | InterfaceError) and (
        state is None or state.startswith(_CONNECTION_CLASS) or state in _SERVER_GOES
    )


def in_one_line(error: BaseException) -> str:
    """Name a failure of the database for the log, without the excerpt of the statement, which may quote a caller."""
    first = str(error).partition("\n")[0]
    return f"{type(error.__cause__ or error).__name__}: {first}"


def prepared_cursor(using: str = DEFAULT_DB_ALIAS) -> CursorWrapper:
    """A cursor for statements whose text never changes: each connection lets the server plan them once.

    For what stands before every call; planning the look-up of a token takes four times as long as all else about it.
    """
    return cast(DatabaseWrapper, connections[using]).prepared_cursor()


@contextmanager
def raising_unavailable(what: str) -> Iterator[None]:
    """Let a failure of the database leave as Unavailable, which every door can tell; ``what`` is named in the log."""
    try:
        yield
    except Error as error:
        meaning = unavailable_by(error)
        if meaning is None:
            raise
        logger.error("%s failed: %s", what, in_one_line(error))
        raise meaning from error
