"""What it means to a caller, and to the log, that PostgreSQL fails."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, InterfaceError, InternalError, OperationalError, ProgrammingError
from django.utils.translation import gettext_lazy as _
from psycopg.errors import UndefinedColumn, UndefinedTable

from hub.core.errors import Unavailable

logger = logging.getLogger(__name__)


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


def in_one_line(error: BaseException) -> str:
    """Name a failure of the database for the log, without the excerpt of the statement, which may quote a caller."""
    first = str(error).partition("\n")[0]
    return f"{type(error.__cause__ or error).__name__}: {first}"


@contextmanager
def told_as_unavailable(what: str) -> Iterator[None]:
    """Let a failure of the database leave as Unavailable, which every door can tell; ``what`` is named in the log."""
    try:
        yield
    except Error as error:
        meaning = unavailable_by(error)
        if meaning is None:
            raise
        logger.error("%s failed: %s", what, in_one_line(error))
        raise meaning from error
