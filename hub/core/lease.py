"""Who may work on what: leases on rows, and locks by name.

A lease has one holder at a time, who renews it while working, and is free again when its holder died. Times are the
database's own, so that a clock that jumps on one machine changes nothing.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Now

from hub.core.ids import new_id

RENEWALS_PER_LEASE = 6


class LeaseLost(Exception):
    """Somebody else took over, or the row is gone: stop, and write nothing more."""


@dataclass(slots=True)
class Lease:
    """A held lease on the row ``pk`` of ``rows``."""

    rows: QuerySet[Model]
    pk: int
    token: str
    duration: timedelta = field(default_factory=lambda: lease_duration())
    _renewed_at: float = field(default_factory=time.monotonic)

    def renew(self) -> None:
        """Prolong the lease if it was not done in the last few seconds. Raises LeaseLost."""
        if time.monotonic() - self._renewed_at < settings.CONFIG.hub_lease_s / RENEWALS_PER_LEASE:
            return
        self._renewed_at = time.monotonic()
        self.change(lease_expires_at=Now() + self.duration)

    def lengthen(self, factor: int) -> None:
        """Make this lease last ``factor`` times as long, from now on and whenever it is renewed. Raises LeaseLost."""
        self.duration *= factor
        self.hold_for(0)

    def hold_for(self, seconds: float) -> None:
        """Prolong the lease before work that can't renew it; a dead holder's row is free that much later.

        Raises LeaseLost.
        """
        self._renewed_at = time.monotonic()
        self.change(lease_expires_at=Now() + self.duration + timedelta(seconds=seconds))

    def lock(self) -> None:
        """Lock the row until the transaction ends: what is written is written as the holder. Raises LeaseLost."""
        meta = self.rows.model._meta
        with connection.cursor() as cursor:  # by hand: work asks so often that writing the ORM's query counts
            statement = f'SELECT FROM "{meta.db_table}" WHERE {meta.pk.column} = %s AND lease_token = %s FOR UPDATE'
            cursor.execute(statement, [self.pk, self.token])
            if not cursor.rowcount:
                raise LeaseLost

    def change(self, **changes: object) -> None:
        """Write columns of the row as its holder; in a transaction the row is locked from then on. Raises LeaseLost."""
        if not self._mine().update(**changes):
            raise LeaseLost

    def release(self, *, retry_in: timedelta | None = None) -> None:
        """Give the lease back; nobody takes it for ``retry_in``."""
        self._mine().update(lease_token="", lease_expires_at=Now() + retry_in if retry_in else None)

    def _mine(self) -> QuerySet[Model]:
        return self.rows.filter(pk=self.pk, lease_token=self.token)


def lease_duration() -> timedelta:
    """How long a silent holder keeps a lease (HUB_LEASE_S)."""
    return timedelta(seconds=settings.CONFIG.hub_lease_s)


def free() -> Q:
    """Rows whose lease nobody holds now."""
    return Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lt=Now())


def claim(rows: QuerySet[Model], pk: int, **changes: object) -> Lease | None:
    """Take the lease on a row of ``rows`` in one statement and apply ``changes``; None when it is held or not there."""
    token = new_id("lease")
    taken = rows.filter(free(), pk=pk).update(lease_token=token, lease_expires_at=Now() + lease_duration(), **changes)
    return Lease(rows=rows.model._default_manager.all(), pk=pk, token=token) if taken else None


def try_lock(name: str) -> bool:
    """Take the lock for this transaction, without waiting; False while another transaction has it.

    Two names in 2^60 meet: that costs a moment's wait.
    """
    digest = hashlib.sha256(name.encode(errors="replace")).hexdigest()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [int(digest[:15], 16)])
        return bool(cursor.fetchone()[0])
