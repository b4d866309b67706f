"""Scanning watched sources: which are due, one bounded piece of a scan, and its report.

Whoever holds the lease of a source's row scans it. A scan that is stopped or killed is gone on with by the next one,
behind the last file that its report names.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Now
from django.utils import timezone

from hub.access.principals import system_principal
from hub.access.services import record_event
from hub.core.errors import HubError
from hub.core.ids import new_id
from hub.core.languages import in_both
from hub.core.lease import Lease, LeaseLost, claim, free
from knowledge.documents.folder_reports import FolderReport
from knowledge.documents.passes import Pass, Plan
from knowledge.models import DocumentVersion, Source
from knowledge.sources import open_source

logger = logging.getLogger(__name__)

SLICE_S = 20.0
SAVE_EVERY_S = 2.0
MOST_FAILURES = 100
COUNTS = ("new", "changed", "unchanged", "removed")


def due_sources() -> list[int]:
    """Sources whose time has come and that nobody scans now, the longest waiting first."""
    due = Source.objects.filter(_is_due(), free())
    return list(due.order_by(F("scanned_at").asc(nulls_first=True)).values_list("pk", flat=True))


def _is_due() -> Q:
    every = ExpressionWrapper(F("scan_every_minutes") * Value(timedelta(minutes=1)), output_field=DurationField())
    return Q(enabled=True) & (Q(scanned_at__isnull=True) | Q(scanned_at__lte=Now() - every))


def scan(source_id: int, *, slice_s: float = SLICE_S) -> bool:
    """Do a piece of a due scan; True when more of it is left.

    False when it is finished, has failed (its report says why), is not due, or is in another's hands.
    """
    lease = claim(Source.objects.filter(_is_due()), source_id)
    if lease is None:
        return False
    source = Source.objects.select_related("collection", "policy").get(pk=source_id)
    try:
        return _Scan(source, lease).run(until=time.monotonic() + slice_s)
    except LeaseLost:
        logger.info("scan of source %s was taken over, or the source is gone", source_id)
        return False


class _Scan:
    """One leased piece of a scan."""

    def __init__(self, source: Source, lease: Lease) -> None:
        self._source = source
        self._lease = lease
        earlier = source.report
        self._base: dict[str, Any] = earlier if earlier.get("state") == "running" else {}
        self._report = FolderReport()
        self._identity = str(earlier.get("identity", ""))
        self._saved_at = time.monotonic()
        self._after = str(self._base.get("after", ""))
        self._batch = str(self._base.get("batch", "")) or new_id("scan")
        undo = earlier.get("undo", {})
        self._earlier_undo: dict[str, Any] = {} if undo.get("taken_back") else undo

    def run(self, *, until: float) -> bool:
        """Scan until the monotonic time ``until``; whatever goes wrong ends in the report."""
        try:
            finished = self._pass(until)
        except LeaseLost:
            raise
        except HubError as error:
            said = in_both(error)
            self._finish("failed", ja=said.ja, en=said.en)
            return False
        except Exception as error:
            name = type(error).__name__
            self._finish("failed", ja=f"内部エラー（{name}）。ログを確認してください。", en=f"Internal error ({name}).")
            raise
        if not finished:
            self._save(lease_token="", lease_expires_at=None)
            return True
        self._finish("completed")
        return False

    def _pass(self, until: float) -> bool:
        source = self._source
        reader = open_source(source.kind, source.location)
        plan = Plan(
            principal=system_principal(f"source:{source.name}"),
            reader=reader,
            collection=source.collection.slug,
            chunk_options=source.policy.options() if source.policy else None,
            incremental=True,
            watched=True,
            lease=self._lease,
            last_identity=self._identity,
            batch=self._batch,
        )
        work = Pass(plan, self._report, after=self._after)

        def note_progress() -> None:
            self._after = work.after
            if time.monotonic() - self._saved_at >= SAVE_EVERY_S:
                self._save()

        finished = work.run(until=until, on_file=note_progress)
        self._identity = reader.identity()
        return finished

    def _as_json(self, state: str) -> dict[str, Any]:
        base, report = self._base, self._report
        failures = [
            {"path": problem.path, "reason_ja": problem.ja, "reason_en": problem.en} for problem in report.problems
        ]
        counts = {name: base.get(name, 0) + getattr(report, name) for name in COUNTS}
        return {
            "state": state,
            **counts,
            "failed": base.get("failed", 0) + len(failures),
            "failures": [*base.get("failures", []), *failures][:MOST_FAILURES],
            "seconds": round(base.get("seconds", 0.0) + report.seconds, 3),
            "identity": self._identity,
            "after": self._after,
            "batch": self._batch,
            "undo": self._undo(counts),
        }

    def _undo(self, counts: dict[str, int]) -> dict[str, Any]:
        """What can be taken back: this scan, once it has taken something in; before that what there was before it."""
        versions = DocumentVersion.objects.filter(batch__owner=None, batch__name=self._batch)
        if not (counts["new"] or counts["changed"]) or not versions.exists():
            return self._earlier_undo
        at = timezone.now().isoformat()
        return {"batch": self._batch, "at": at, "new": counts["new"], "changed": counts["changed"]}

    def _save(self, **changes: object) -> None:
        self._write(report=self._as_json("running"), **changes)
        self._saved_at = time.monotonic()

    def _finish(self, state: str, *, ja: str = "", en: str = "") -> None:
        facts = {**self._as_json(state), "reason_ja": ja, "reason_en": en, "after": ""}
        self._write(report=facts, scanned_at=Now(), lease_token="", lease_expires_at=None)
        if any(facts[name] for name in ("new", "changed", "removed", "failed")) or state == "failed":
            record_event(
                system_principal("source"),
                "SOURCE_SCANNED",
                f"source:{self._source.name}",
                state=state,
                **{name: facts[name] for name in (*COUNTS, "failed")},
            )

    def _write(self, **changes: object) -> None:
        with transaction.atomic():
            self._lease.lock()
            Source.objects.filter(pk=self._source.pk).update(**changes)
