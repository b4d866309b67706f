"""Whether a worker is alive, doing its work here when none is, and what work there is."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from hub.access.principals import Principal, Scope
from hub.core.waiting import waiting_elsewhere
from hub.evaluation.models import UNFINISHED_RUNS, EvaluationRun
from knowledge.documents.sources import visible_sources
from knowledge.ingest import pipeline
from knowledge.models import DocumentVersion, Source, WorkerHeartbeat
from knowledge.models.documents import IN_WORK

ALIVE_WITHIN = timedelta(seconds=10)
CLOCKS_APART = timedelta(seconds=20)
FORGET_AFTER = timedelta(hours=1)
POLL_S = 0.5


def beat(name: str) -> None:
    """Give a sign of life of the worker ``name``."""
    seen = {"seen_at": Now(), "clock": timezone.now()}
    WorkerHeartbeat.objects.update_or_create(name=name, defaults=seen, create_defaults={**seen, "started_at": Now()})
    WorkerHeartbeat.objects.filter(seen_at__lt=Now() - FORGET_AFTER).delete()


def forget(name: str) -> None:
    """A worker that stops in order says so; others need not wait for its silence."""
    WorkerHeartbeat.objects.filter(name=name).delete()


def worker_is_alive() -> bool:
    """Whether some worker gave a sign of life in the last 10 seconds (by the database's clock)."""
    return WorkerHeartbeat.objects.filter(seen_at__gte=Now() - ALIVE_WITHIN).exists()


def wrong_clocks() -> dict[str, float]:
    """By how many seconds the clocks of live workers are ahead of the database's, of those that are CLOCKS_APART off.

    Such a worker discards scheduled work as expired, or does it late: messages say by the sender's clock until when.
    """
    live = WorkerHeartbeat.objects.filter(seen_at__gte=Now() - ALIVE_WITHIN, clock__isnull=False).order_by("name")
    ahead = {one.name: one.clock - one.seen_at for one in live if one.clock is not None}
    return {name: by.total_seconds() for name, by in ahead.items() if abs(by) >= CLOCKS_APART}


def work_through(
    version_ids: Collection[int], *, on_change: Callable[[int], None] | None = None, timeout_s: float | None = None
) -> bool:
    """Wait until the versions are finished, working on them here for as long as no worker is alive.

    ``on_change`` gets the number of versions finished so far. Gives False when ``timeout_s`` passed first.
    """
    started = time.monotonic()
    while True:
        waiting = list(
            DocumentVersion.objects.filter(pk__in=version_ids, status__in=IN_WORK).values_list("pk", flat=True)
        )
        if on_change:
            on_change(len(version_ids) - len(waiting))
        if not waiting:
            return True
        if timeout_s is not None and time.monotonic() - started > timeout_s:
            return False
        if worker_is_alive() or not any(_work_here(version_id) for version_id in waiting):
            leave_it_to_workers()


def leave_it_to_workers() -> None:
    """Wait a moment while somebody else works, using nothing that others could use."""
    with waiting_elsewhere():
        time.sleep(POLL_S)


def wait_for_run(
    run_id: int,
    *,
    execute: Callable[[int], bool],
    timeout_s: float | None,
    on_progress: Callable[[int, str], None] | None = None,
    work_here: bool = False,
) -> bool:
    """Wait until an evaluation run is finished. False when time ran out.

    ``execute`` does the work here while no worker is alive, or with ``work_here`` anyway (inside a transaction no
    worker can see the run). ``on_progress`` gets progress and state.
    """
    started = time.monotonic()
    while True:
        progress, status = EvaluationRun.objects.values_list("progress", "status").get(pk=run_id)
        if on_progress:
            on_progress(progress, status)
        if status not in UNFINISHED_RUNS:
            return True
        if timeout_s is not None and time.monotonic() - started >= timeout_s:
            return False
        if (worker_is_alive() and not work_here) or not execute(run_id):
            leave_it_to_workers()


def _work_here(version_id: int) -> bool:
    """Do what can be done of one version now; False when somebody else has it, or it pauses before another try."""
    did_something = False
    while pipeline.advance(version_id):
        did_something = True
    still = DocumentVersion.objects.filter(pk=version_id, status__in=IN_WORK).exists()
    return did_something or not still


def versions_in_work(principal: Principal) -> QuerySet[DocumentVersion]:
    """The versions in the pipeline that the caller may read, with documents and collections selected."""
    principal.require(Scope.READ)
    return (
        DocumentVersion.objects.visible_to(principal)
        .filter(status__in=IN_WORK)
        .select_related("document__collection")
        .order_by("-id")
    )


def scans_in_work(principal: Principal) -> QuerySet[Source]:
    """The sources of collections that the caller may read that are being scanned, or wait for it, by name."""
    asked_for = Q(scanned_at__isnull=True, enabled=True)
    return visible_sources(principal, Scope.READ).filter(asked_for | Q(report__state="running") | ~Q(lease_token=""))
