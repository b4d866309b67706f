"""Running a review from its start to its verdict; what is done at each check is in :mod:`review.runs.work`.

Whoever holds the review's lease works on it, and other workers may help. Killed at any moment, the next holder keeps
what is stored and goes on with the checks that are left, so the result is the same as that of one undisturbed run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from hub.access.principals import system_principal
from hub.access.services import record_event
from hub.core.lease import Lease, LeaseLost, claim, free
from knowledge.guidelines.editions import editions_in_force
from knowledge.models import DocumentStatus
from knowledge.models.documents import IN_WORK
from knowledge.types.notices import Notice
from review.judging.advising import advise
from review.judging.engine import overall_verdict
from review.judging.model_session import ModelSession
from review.judging.sampling import SamplingProvider
from review.models import CheckListEntry, Review, ReviewEdition, ReviewStatus
from review.runs.related import RelatedGoneError
from review.runs.steps import ModelSteps
from review.runs.work import Work, lock_running, publish_progress
from review.types import Verdict

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 4
STUCK_LIMIT = 50
HELPER_POLL_S = 0.1
"""How often a worker looks whether its helpers are done."""


def execute(
    review_id: int,
    *,
    sampling: SamplingProvider | None = None,
    call_for_help: Callable[[int], None] | None = None,
) -> bool:
    """Work on a review until it is finished. False when it is finished, held by another, or waits for its document.

    Whoever runs it inside a tool call gives ``sampling``, the caller's model: checks that it has to be asked about
    first are left, and the review goes on when it is executed again. A worker gives ``call_for_help``, which has other
    workers ``assist``; the result is the same with and without them.
    """
    document_done = ~Q(version__status__in=IN_WORK)
    waiting = Review.objects.filter(status__in=(ReviewStatus.QUEUED, ReviewStatus.RUNNING))
    if sampling is None:
        waiting = waiting.filter(not_waiting_for_caller())
    if not waiting.filter(document_done, pk=review_id).exists():
        return False
    lease = claim(waiting, review_id, status=ReviewStatus.RUNNING, attempts=F("attempts") + 1)
    if lease is None:
        return False
    review = _loaded(review_id)
    if review is None:
        return False
    try:
        if review.attempts > MAX_ATTEMPTS:
            _finish(review, lease, status=ReviewStatus.FAILED, error=f"interrupted {MAX_ATTEMPTS} times in a row")
        elif review.version is None or review.version.status == DocumentStatus.FAILED:
            reason = review.version.status_reason_en if review.version else "the document was deleted"
            _finish(review, lease, status=ReviewStatus.FAILED, error=reason)
        else:
            _judge_all(review, lease, sampling, call_for_help)
    except RelatedGoneError as error:
        _finish(review, lease, status=ReviewStatus.FAILED, error=str(error))
    except LeaseLost:
        logger.info("review %s was cancelled or taken over", review.public_id)
    return True


def _loaded(review_id: int) -> Review | None:
    related = ("version__document__collection", "checklist_version__checklist", "requested_by")
    return Review.objects.select_related(*related).filter(pk=review_id).first()


def assist(review_id: int) -> None:
    """Judge checks of a review beside the worker that holds it, until none is left that nobody is at.

    Only what rules decide: language models have one budget, which the holder keeps.
    """
    review = _loaded(review_id)
    if review is None or review.status != ReviewStatus.RUNNING:
        return
    try:
        work = Work.on(review, fence=partial(lock_running, review_id))
        for position, entry in reversed(work.open_checks()):
            work.judge(position, entry)
    except (LeaseLost, RelatedGoneError) as reason:
        logger.info("review %s needs no more help: %s", review.public_id, reason)


def _judge_all(
    review: Review, lease: Lease, sampling: SamplingProvider | None, call_for_help: Callable[[int], None] | None
) -> None:
    _pin_editions(review, lease)
    if call_for_help and review.options.get("parallel", True):
        call_for_help(review.pk)
    work = Work.on(review, fence=lease.lock)
    session = ModelSession(review=review, target=work.target, lease=lease, sampling=sampling)
    _judge_open(work, lease)
    # the model after all rules, so that it is given what they observed
    _judge_open(work, lease, session=session)
    steps = ModelSteps(session=session, lease=lease)
    said = () if session.is_waiting else tuple(dict.fromkeys((*steps.run(), *advise(session))))
    if session.is_waiting:
        Review.objects.filter(pk=review.pk).update(attempts=0)
        lease.release()
        return
    verdicts = [Verdict(verdict) for verdict in review.results.values_list("verdict", flat=True)]
    verdict = overall_verdict(verdicts)
    _finish(review, lease, status=ReviewStatus.COMPLETED, verdict=verdict, notices=said, steps=steps.as_json())


def _judge_open(work: Work, lease: Lease, *, session: ModelSession | None = None) -> None:
    """Judge the checks without a result, waiting for those that another worker is at."""
    left = work.open_checks()
    patience_ends = time.monotonic() + settings.CONFIG.hub_lease_s
    while left := [
        pair for pair in left if not _judge_one(work, lease, *pair, patience_ends=patience_ends, session=session)
    ]:
        time.sleep(HELPER_POLL_S)


def _judge_one(
    work: Work,
    lease: Lease,
    position: int,
    entry: CheckListEntry,
    *,
    patience_ends: float,
    session: ModelSession | None,
) -> bool:
    lease.renew()
    return work.judge(position, entry, insist=time.monotonic() > patience_ends, session=session)


def _pin_editions(review: Review, lease: Lease) -> None:
    """Note the start and, with it, the guideline editions in force: one published later changes nothing here."""
    with transaction.atomic():
        lease.lock()
        if Review.objects.filter(pk=review.pk, started_at__isnull=True).update(started_at=Now()):
            pins = [ReviewEdition(review=review, edition=edition) for edition in editions_in_force()]
            ReviewEdition.objects.bulk_create(pins)


def _finish(
    review: Review,
    lease: Lease,
    *,
    status: str,
    verdict: str = "",
    error: str = "",
    notices: Sequence[Notice] = (),
    steps: Mapping[str, Any] | None = None,
) -> None:
    with transaction.atomic():
        lease.lock()
        Review.objects.filter(pk=review.pk).update(
            status=status,
            verdict=verdict or Verdict.ERROR,
            error=error,
            notices=[notice.as_dict() for notice in notices],
            steps=steps or {},
            progress=100 if status == ReviewStatus.COMPLETED else F("progress"),
            finished_at=Now(),
            lease_token="",
            lease_expires_at=None,
        )
        record_event(
            system_principal("review"), "REVIEW_COMPLETE", f"review:{review.public_id}", status=status, verdict=verdict
        )
    publish_progress(review, status=status, progress=100, verdict=verdict)


def not_waiting_for_caller() -> Q:
    """Reviews that no caller is about to answer for."""
    return Q(sampling_until__isnull=True) | Q(sampling_until__lt=Now())


def take_stuck() -> list[int]:
    """Find reviews that can go on and that nobody works on: never started, waiting for their document, or crashed."""
    unfinished = Review.objects.filter(status__in=(ReviewStatus.QUEUED, ReviewStatus.RUNNING))
    ready = unfinished.filter(free(), not_waiting_for_caller()).exclude(version__status__in=IN_WORK)
    return list(ready.order_by("created_at").values_list("pk", flat=True)[:STUCK_LIMIT])
