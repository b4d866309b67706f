"""The order of ingestion and its rules: who may work on a version, what follows a stage, what a failure does.

State lives in the version's row. :func:`advance` does one stage and may be called by anyone, any number of times, at
once: only the holder of the lease works, and a stage that ran twice leaves the same rows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Greatest, Now
from django.utils import timezone

from hub.core import bus
from hub.core.errors import HubError
from hub.core.lease import Lease, LeaseLost, claim, free, lease_duration
from hub.core.measures import STAGE_SECONDS, timed
from hub.core.queue import enqueue
from hub.core.tracing import Fact, span
from knowledge.ingest import stages
from knowledge.ingest.graph import update_graph_now
from knowledge.ingest.page_readings import forget_readings
from knowledge.models import DocumentStatus, DocumentVersion
from knowledge.models.documents import IN_WORK
from knowledge.parsers.errors import ParseError

logger = logging.getLogger(__name__)

Stage = Callable[[DocumentVersion, Lease], DocumentStatus]
STAGES: dict[str, Stage] = {
    DocumentStatus.PARSING: stages.parse,
    DocumentStatus.READING: stages.read,
    DocumentStatus.CHUNKING: stages.chunk,
    DocumentStatus.EMBEDDING: stages.embed,
}
NOT_YET_READ = [status for status in IN_WORK if status != DocumentStatus.READING]  # of READING OCR has a queue
PROGRESS_AT = {
    DocumentStatus.PARSING: 1,
    DocumentStatus.READING: 2,
    DocumentStatus.CHUNKING: 10,
    DocumentStatus.EMBEDDING: 20,
}
BACKOFF = timedelta(seconds=5)
SWEEP_LIMIT = 200
MANY = 5
LONGEST_LEASE = 8


def advance(version_id: int) -> bool:
    """Do the next stage of a version. True when the one after it is due; False when finished, held, paused or gone."""
    started = Case(
        When(status=DocumentStatus.STORED, then=Value(DocumentStatus.PARSING)),
        default=F("status"),
    )
    in_work = DocumentVersion.objects.filter(status__in=IN_WORK)
    lease = claim(in_work, version_id, status=started, attempts=F("attempts") + 1)
    if lease is None:
        return False
    version = DocumentVersion.objects.select_related("document", "policy").get(pk=version_id)
    try:
        if version.attempts > 1:
            # Its last worker died, or the machine is too slow for a lease of the usual length to be renewed in time.
            lease.lengthen(min(2 ** (version.attempts - 1), LONGEST_LEASE))
        return _run_stage(version, lease)
    except LeaseLost:
        logger.info("version %s was taken over or deleted while at work", version.public_id)
        return False


def _run_stage(version: DocumentVersion, lease: Lease) -> bool:
    if version.attempts > settings.CONFIG.hub_max_attempts:
        _fail(
            version,
            lease,
            code="gave_up",
            ja=f"処理が {version.attempts - 1} 回続けて中断されました。ファイルを確認して再試行してください。",
            en=f"Work on it broke off {version.attempts - 1} times in a row. Check the file, then retry.",
        )
        return False
    _publish(version, progress=PROGRESS_AT.get(DocumentStatus(version.status), version.progress))
    try:
        facts: dict[str, Fact] = {"hub.version_id": version.public_id, "hub.attempt": version.attempts}
        with span(f"ingest {version.status}", facts), timed(STAGE_SECONDS, version.status):
            following = STAGES[version.status](version, lease)
    except ParseError as error:
        _fail(version, lease, code=error.code, ja=error.text.ja, en=error.text.en)
        return False
    except LeaseLost:
        raise
    except Exception as error:  # noqa: BLE001 (the stage boundary: whatever a stage raises ends in a state people see)
        return _retry_later(version, lease, error)
    return _finish_stage(version, lease, following)


def _retry_later(version: DocumentVersion, lease: Lease, error: Exception) -> bool:
    """Any other failure may pass: the sweeper tries again after growing pauses; the last try fails visibly."""
    logger.error("stage %s of version %s failed", version.status, version.public_id, exc_info=error)
    if version.attempts >= settings.CONFIG.hub_max_attempts:
        detail = str(error) if isinstance(error, HubError) else type(error).__name__
        code = error.error_code if isinstance(error, HubError) else "internal_error"
        _fail(
            version,
            lease,
            code=code,
            ja=f"{version.attempts} 回試みましたが処理できませんでした（{detail}）。",
            en=f"It could not be processed in {version.attempts} tries ({detail}).",
        )
        return False
    lease.release(retry_in=BACKOFF * 2 ** (version.attempts - 1))
    return False


def _finish_stage(version: DocumentVersion, lease: Lease, following: DocumentStatus) -> bool:
    more = following in IN_WORK
    progress = PROGRESS_AT.get(following, version.progress) if more else 100
    changes: dict[str, object] = {
        "status": following,
        "progress": Greatest("progress", progress),
        "lease_token": "",
        "lease_expires_at": None,
        "attempts": 0,
        "queued_at": Now(),
    }
    if not more:
        changes["finished_at"] = Now()
    lease.change(**changes)
    version.status = following
    _publish(version, progress=progress)
    if not more:
        update_graph_now(version.document_id)
    return more


def _fail(version: DocumentVersion, lease: Lease, *, code: str, ja: str, en: str) -> None:
    lease.change(
        status=DocumentStatus.FAILED,
        status_code=code,
        status_reason_ja=ja,
        status_reason_en=en,
        lease_token="",
        lease_expires_at=None,
        finished_at=timezone.now(),
    )
    version.status = DocumentStatus.FAILED
    _publish(version, progress=version.progress)


def _publish(version: DocumentVersion, *, progress: int) -> None:
    document_id = version.document.public_id
    bus.publish(
        f"document:{document_id}", {"document_id": document_id, "status": str(version.status), "progress": progress}
    )


def reset(version_id: int) -> None:
    """Put a version back to the start of the pipeline, whatever its state; a worker loses its lease.

    Pages that OCR could not read, or that another engine read, are read again.
    """
    forget_readings(version_id)
    DocumentVersion.objects.filter(pk=version_id).update(
        status=DocumentStatus.STORED,
        status_code="",
        status_reason_ja="",
        status_reason_en="",
        progress=0,
        attempts=0,
        lease_token="",
        lease_expires_at=None,
        finished_at=None,
        ocr_cancelled=False,
        ocr_pages=None,
        ocr_pages_read=None,
        ocr_started_at=None,
        goes_first=False,
        reset_at=Now(),
        queued_at=Now(),
    )


def queue(version_id: int) -> None:
    """Queue a version's next stage: among pages for OCR, in the queue of imports, or among people's work.

    The queue is chosen before the message is sent, so that other people's messages never wait behind an import's.
    """
    enqueue(next_task(version_id), version_id=version_id)


def queue_on_commit(version_id: int) -> None:
    """Queue a version's next stage once the running transaction has committed; what fails then, the sweep does."""
    transaction.on_commit(partial(queue, version_id), robust=True)


def next_task(version_id: int) -> str:
    """The name of the task that does a version's next stage. Three queries at most."""
    if DocumentVersion.objects.filter(pk=version_id, status=DocumentStatus.READING).exists():
        return "knowledge.read_version"
    return "knowledge.advance_bulk_version" if is_one_of_many(version_id) else "knowledge.advance_version"


def is_one_of_many(version_id: int) -> bool:
    """Whether MANY versions that its document's owner brought before wait or are worked on. Two queries.

    Documents without an owner, such as those of watched sources, count as one owner's. One that goes first is not.
    """
    versions = DocumentVersion.objects.filter(pk=version_id, goes_first=False)
    before = DocumentVersion.objects.filter(status__in=NOT_YET_READ, pk__lt=version_id)
    return any(
        before.filter(document__owner=owner)[:MANY].count() == MANY
        for owner in versions.values_list("document__owner", flat=True)
    )


def let_go_first(version_id: int) -> None:
    """Have a version that a review waits for worked on before the import that it came with, MANY of an owner at a time.

    Its message in the queue of imports finds nothing left to do, or is a second worker's: leases know of both.
    Permissions are the caller's to check. Three queries at most.
    """
    waiting = DocumentVersion.objects.filter(pk=version_id, status__in=NOT_YET_READ, goes_first=False)
    first = DocumentVersion.objects.filter(status__in=NOT_YET_READ, goes_first=True)
    for owner in waiting.values_list("document__owner", flat=True):
        if first.filter(document__owner=owner)[:MANY].count() < MANY and waiting.update(goes_first=True):
            queue_on_commit(version_id)


def give_leases_back(versions: QuerySet[DocumentVersion]) -> None:
    """Let the next sweep take up versions whose workers are known to be gone, without waiting for their leases."""
    versions.update(lease_token="", lease_expires_at=None, queued_at=F("created_at"))


def queue_stuck_readings(limit: int = SWEEP_LIMIT) -> list[int]:
    """As `queue_stuck`, for versions whose pages are to be read with OCR."""
    return _queue_stuck((DocumentStatus.READING,), limit)


def queue_stuck(limit: int = SWEEP_LIMIT) -> list[int]:
    """Queue versions in work that nobody works on: their worker died, or their task was lost. Gives them, oldest first.

    A version given out is not given out again for two leases, so that a long queue is not filled with copies. Where
    each belongs is found before any is given out: if the database goes away midway, the next sweep finds all of them.
    """
    return _queue_stuck(NOT_YET_READ, limit)


def _queue_stuck(statuses: Sequence[DocumentStatus], limit: int) -> list[int]:
    crashed = Q(lease_expires_at__lt=Now())
    lost = Q(lease_expires_at__isnull=True, queued_at__lt=Now() - 2 * lease_duration())
    stuck = DocumentVersion.objects.filter(crashed | lost, free(), status__in=statuses).order_by("queued_at")
    with transaction.atomic():
        ids = list(stuck.select_for_update(skip_locked=True).values_list("pk", flat=True)[:limit])
        for one in ids:
            transaction.on_commit(partial(enqueue, next_task(one), version_id=one), robust=True)
        DocumentVersion.objects.filter(pk__in=ids).update(queued_at=Now(), lease_expires_at=None)
    return ids
