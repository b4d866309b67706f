"""Whose the store is: the one database that may remove bytes from it.

Two hubs on one bucket, a staging copy of a database, or a restored dump would each take the other's originals for
strays. The store names the database that removes; every other one keeps the bytes and reports that they wait.
"""

from __future__ import annotations

from django.db import connection

from knowledge.models import Blob, PendingBytes
from knowledge.storage.registry import get_blob_store


def this_database() -> str:
    """Name the database that the hub runs on: of a copy, by dump or by CREATE DATABASE, the name is another. One query.

    A copy of the whole PostgreSQL data folder has the same name.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.system_identifier, d.oid FROM pg_control_system() c, pg_database d"
            " WHERE d.datname = current_database()"
        )
        system, database = cursor.fetchone()
    return f"{system}.{database}"


def owns_store() -> bool:
    """Tell whether this database may remove bytes; a store without an owner that holds nothing unknown becomes ours.

    :raises StorageUnavailable: the store does not answer.
    """
    owner = get_blob_store().read_owner()
    if not owner and not unknown_names():
        claim_store()
        return True
    return owner == this_database()


def claim_store() -> None:
    """Make this database the one that removes bytes. An operator's decision where the store has another owner."""
    get_blob_store().write_owner(this_database())


def unknown_names() -> list[str]:
    """List what is stored and not known to this database: other hubs' bytes, or those of a dump's later uploads."""
    known = set(Blob.objects.values_list("pk", flat=True).iterator())
    known.update(PendingBytes.objects.values_list("pk", flat=True).iterator())
    return [name for name in get_blob_store().iter_names() if name not in known]
