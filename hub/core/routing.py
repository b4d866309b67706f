"""Which database the running work reads: the primary, or a replica that may lag. Writes go to the primary always."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from hub.core.database import in_one_line
from hub.core.database_urls import REPLICA

_alias: ContextVar[str] = ContextVar("hub_read_alias", default=DEFAULT_DB_ALIAS)


@contextmanager
def reading_from(alias: str) -> Iterator[None]:
    """Send the reads of the block to a database."""
    token = _alias.set(alias)
    try:
        yield
    finally:
        _alias.reset(token)


def read_connection() -> BaseDatabaseWrapper:
    """The connection for SQL of reads that may lag: the replica's inside of `ask_replica`, else the primary's."""
    return connections[_alias.get()]


class ReadRouter:
    """Sends the ORM's reads where `read_connection` reads, and everything else to the primary."""

    def db_for_read(self, model: Any, **_hints: Any) -> str:  # noqa: ANN401 - as Django calls it
        """Name the database of the running work, wherever a related row came from."""
        return _alias.get()

    def db_for_write(self, model: Any, **_hints: Any) -> str:  # noqa: ANN401
        """Name the primary."""
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Any, other: Any, **_hints: Any) -> bool:  # noqa: ANN401
        """Let rows of a replica and of the primary be related: they are the same rows."""
        return True

    def allow_migrate(self, db: str, app_label: str, **_hints: Any) -> bool | None:  # noqa: ANN401
        """Keep migrations away from replicas, which get their tables from the primary."""
        return False if db.startswith(REPLICA) else None


class ReplicaFailed(Exception):
    """A statement failed at a replica. No part of the hub goes on without it: the primary is asked for everything."""


def raise_if_at_replica(error: Error) -> None:
    """Raise ReplicaFailed where reads go to a replica: what failed there, such as by a conflict, the primary can do."""
    if _alias.get() != DEFAULT_DB_ALIAS:
        raise ReplicaFailed(in_one_line(error)) from error
