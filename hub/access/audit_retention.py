"""Removing lines of the audit trail whose kind's time is over: whole sealed batches, after a line that says so.

Seals stay, with the digest of what they held, so that the rest can still be verified. The hub's own role can't remove
anything: on an embedded database its superuser does, elsewhere the owner of the tables, which may be another role.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.audit_seals import entries_of
from hub.access.audit_trail import owns_trail
from hub.access.models import AuditKind, AuditSeal, AuditSealedLines
from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.embedded import shared_postgres
from hub.core.errors import Forbidden

_LINES = "DELETE FROM access_auditevent WHERE kind = %s AND id = ANY(%s::bigint[])"
_ROWS = "DELETE FROM access_auditsealedlines WHERE seal_id = %s AND kind = %s"


class _Cursor(Protocol):
    def execute(self, query: Any, params: Any = None, /) -> Any:  # noqa: ANN401 (Django's and psycopg's)
        """Run a statement."""


def periods() -> dict[AuditKind, int]:
    """For how many days lines are kept, by their kind; those of other kinds are kept for good."""
    config = settings.CONFIG
    given: Mapping[AuditKind, int | None] = {
        AuditKind.READ: config.hub_audit_read_days,
        AuditKind.CHANGE: config.hub_audit_change_days,
        AuditKind.ACCESS: config.hub_audit_access_days,
    }
    return {kind: days for kind, days in given.items() if days is not None}


def remove_expired(principal: Principal, *, now: datetime | None = None) -> dict[str, int]:
    """Remove the lines whose time is over; gives how many of each kind, without kinds that had none.

    A line about it is written first. Each seal's lines are removed in a transaction of their own, so that who is
    killed leaves what the next run goes on with. Raises Forbidden where the hub's role may not remove lines.
    """
    now = now or timezone.now()
    removed: dict[str, int] = {}
    for kind, days in periods().items():
        expired = AuditSealedLines.objects.filter(kind=kind, seal__at__lt=now - timedelta(days=days))
        rows = list(expired.order_by("seal_id").values_list("seal_id", flat=True))
        if not rows:
            continue
        _require_owner()
        count = sum(int(seal.parts[kind.value]["count"]) for seal in AuditSeal.objects.filter(pk__in=rows).iterator())
        record_event(
            principal, "AUDIT_REMOVE", "audit_trail", kind=kind.value, through=rows[-1], lines=count, days=days
        )
        for seal in rows:
            _remove(seal, kind)
        removed[kind.value] = count
    return removed


def _remove(seal: int, kind: AuditKind) -> None:
    held = AuditSealedLines.objects.filter(seal_id=seal, kind=kind).values_list("lines", flat=True).first()
    numbers = list(entries_of(bytes(held))) if held is not None else []
    with _as_owner() as cursor:
        cursor.execute(_LINES, [kind.value, numbers])
        cursor.execute(_ROWS, [seal, kind.value])


def _require_owner() -> None:
    if not settings.EMBEDDED_DATABASE and not owns_trail():
        raise Forbidden(
            _(
                "The hub's database role may not remove lines of the audit trail. Run this with the owner of its "
                "tables in DATABASE_URL: manage.py audit remove-expired"
            ),
            code="not_owner_of_audit_trail",
        )


@contextmanager
def _as_owner() -> Iterator[_Cursor]:
    """One transaction that may remove what is only added otherwise."""
    if settings.EMBEDDED_DATABASE:
        database = connection.settings_dict
        server = shared_postgres(Path(database["EMBEDDED_HOME"]))
        with server.superuser(str(database["NAME"])) as superuser, superuser.transaction():
            superuser.execute("SET LOCAL session_replication_role = replica")  # past the triggers
            yield superuser
        return
    tables = ("access_auditevent", "access_auditsealedlines")
    with transaction.atomic(), connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"GRANT DELETE ON {table} TO CURRENT_USER")
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER hub_append_only")
        yield cursor
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER hub_append_only")
            cursor.execute(f"REVOKE DELETE ON {table} FROM CURRENT_USER")
