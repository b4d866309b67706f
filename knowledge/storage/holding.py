"""Keeping stored bytes where they are while a backup copies what its snapshot of the database names.

The lock is PostgreSQL's, of the backup's session: whatever ends the backup, SIGKILL too, gives it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection
from django.utils.translation import gettext_lazy as _
from psycopg.errors import LockNotAvailable

from hub.core.errors import Conflict, Unavailable

HOLD = 0x68756272656D6F76 >> 1  # "hubremov": any number that no other lock of the hub has
WAIT = "30s"


def may_remove() -> bool:
    """Keep a backup from beginning until the running transaction ends; False while one copies. One query."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock_shared(%s)", [HOLD])
        return bool(cursor.fetchone()[0])


@contextmanager
def hold_removals() -> Iterator[None]:
    """Have nothing removed from the store, by any process, for the length of the block.

    :raises Conflict: another backup holds it. :raises Unavailable: the database went away inside the block, so that
        something may have been removed.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false), pg_backend_pid()", [WAIT])
        session = cursor.fetchone()[1]
        try:
            cursor.execute("SELECT pg_advisory_lock(%s)", [HOLD])
        except OperationalError as error:
            if isinstance(error.__cause__, LockNotAvailable):
                raise Conflict(_("Another backup of this hub is under way; nothing was done.")) from error
            raise
        finally:
            cursor.execute("RESET lock_timeout")
    yield
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        if cursor.fetchone()[0] != session:
            raise Unavailable(_("The connection to the database was lost meanwhile; run it again."))
        cursor.execute("SELECT pg_advisory_unlock(%s)", [HOLD])
