"""Locks by name that PostgreSQL holds until the running transaction ends, and that are gone with who held them."""

from __future__ import annotations

import hashlib

from django.db import connection


def try_lock(name: str) -> bool:
    """Take the lock for this transaction, without waiting; False while another transaction has it.

    Two names in 2^60 meet: that costs a moment's wait.
    """
    digest = hashlib.sha256(name.encode(errors="replace")).hexdigest()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [int(digest[:15], 16)])
        return bool(cursor.fetchone()[0])
