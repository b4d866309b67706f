"""Running a review: load, judge check by check, store each result as it comes.

Whoever holds the review's lease works on it, and other workers may help. Killed at any moment, the next holder keeps
what is stored and goes on with the checks that are left, so the result is the same as that of one undisturbed run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from hub.access.principals import system_principal
from hub.access.services import record_event
from hub.core import bus
from hub.core.lease import Lease, LeaseLost, claim, free
from knowledge.guidelines.queries import articles_of, editions_in_force
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import DocumentStatus, VersionContent
from knowledge.models.documents import IN_WORK
from knowledge.ontology.queries import topics_for
from knowledge.types.notices import Notice
from review.concealed import concealed_in
from review.engine import CheckSpec, Judgement, judge, overall_verdict
from review.judging.advising import advise
from review.judging.excerpts import INJECTION_RULE
from review.judging.sampling import SamplingProvider
from review.judging.sitting import PENDING, Sitting, is_for_model, with_opinion
from review.models import (
    CheckItemVersion,
    CheckListEntry,
    CheckListVersion,
    Review,
    ReviewEdition,
    ReviewStatus,
)
from review.related import RelatedGoneError, related_of
from review.results import store_result
from review.rules.criteria import rules_of
from review.sharing import claim_check, lock_running
from review.types import RelatedDocument, RuleInput, Verdict

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
    sitting = work.sitting = Sitting(review=review, target=work.target, lease=lease, sampling=sampling)
    left = work.open_checks()
    patience_ends = time.monotonic() + settings.CONFIG.hub_lease_s
    while left := [
        pair for pair in left if not _judge_one(work, lease, *pair, insist=time.monotonic() > patience_ends)
    ]:
        time.sleep(HELPER_POLL_S)
    said = () if sitting.is_waiting else advise(sitting)
    if sitting.is_waiting:
        Review.objects.filter(pk=review.pk).update(attempts=0)
        lease.release()
        return
    verdicts = [Verdict(verdict) for verdict in review.results.values_list("verdict", flat=True)]
    _finish(review, lease, status=ReviewStatus.COMPLETED, verdict=overall_verdict(verdicts), notices=said)


def _judge_one(work: Work, lease: Lease, position: int, entry: CheckListEntry, *, insist: bool) -> bool:
    lease.renew()
    return work.judge(position, entry, insist=insist)


@dataclass(slots=True, kw_only=True)
class Work:
    """A review and one of the workers that judge it.

    ``fence`` makes sure, in a transaction, that this worker may still write. Only with a ``sitting`` are models asked.
    """

    review: Review
    target: RuleInput
    entries: Sequence[CheckListEntry]
    fence: Callable[[], None]
    sitting: Sitting | None = None

    @classmethod
    def on(cls, review: Review, *, fence: Callable[[], None]) -> Work:
        """Load what is judged. Raises LeaseLost when the document is gone."""
        content = VersionContent.objects.filter(pk=review.version_id).first()
        if content is None:
            raise LeaseLost
        entries = pinned_entries(review)
        target = _target(review, content, related_of(review))
        if review.version is not None and _looks_for_instructions(entries):
            target = replace(target, concealed=concealed_in(review.version, target.text))
        return cls(review=review, target=target, entries=entries, fence=fence)

    def open_checks(self) -> list[tuple[int, CheckListEntry]]:
        """The checks without a result, with their positions in the check list."""
        done = set(self.review.results.values_list("item_version_id", flat=True))
        return [(at, entry) for at, entry in enumerate(self.entries) if entry.item_version_id not in done]

    def judge(self, position: int, entry: CheckListEntry, *, insist: bool = False) -> bool:
        """Judge one check and store its result; False while another worker is at it, unless ``insist``."""
        started = time.monotonic()
        check = _spec(entry.item_version)
        with transaction.atomic():
            if not claim_check(self.review.pk, entry.item_version_id) and not insist:
                return False
            if self.review.results.filter(item_version=entry.item_version_id).exists():
                return True
            judgement = judge(check, self.target, force_strategy=self.review.options.get("force_strategy"))
            is_open = is_for_model(entry.item_version, judgement)
            progress = None if is_open else self._store(position, entry, judgement, started)
        if is_open and self.sitting is not None:
            progress = self._ask(self.sitting, position, entry, judgement, started)
        if progress is not None:
            _tell(self.review, status=ReviewStatus.RUNNING, progress=progress, check_item_id=check.code)
        return True

    def _ask(
        self, sitting: Sitting, position: int, entry: CheckListEntry, judgement: Judgement, started: float
    ) -> int | None:
        """Ask the model, outside of any transaction, and store what it says; None while its caller has to be asked."""
        opinion = sitting.opinion(entry.item_version, judgement)
        if opinion is PENDING:
            return None
        with transaction.atomic():
            progress = self._store(position, entry, with_opinion(judgement, opinion), started)
            sitting.store(entry.item_version, opinion)
        return progress

    def _store(self, position: int, entry: CheckListEntry, judgement: Judgement, started: float) -> int | None:
        """Write a result in the running transaction; gives the review's progress, None when it is there already."""
        elapsed_ms = int((time.monotonic() - started) * 1000)
        item_version = entry.item_version
        if not store_result(
            self.review, item_version, position, judgement, self.target, elapsed_ms=elapsed_ms, fence=self.fence
        ):
            return None
        progress = 100 * self.review.results.count() // len(self.entries)
        Review.objects.filter(pk=self.review.pk).update(progress=progress, attempts=0)
        return progress


def _looks_for_instructions(entries: Sequence[CheckListEntry]) -> bool:
    """Whether the original file has to be looked through: a check looks for instructions to models."""
    used = (rule for entry in entries for rule in rules_of(entry.item_version.criteria))
    return any(rule["rule_id"] == INJECTION_RULE for rule in used)


def _pin_editions(review: Review, lease: Lease) -> None:
    """Note the start and, with it, the guideline editions in force: one published later changes nothing here."""
    with transaction.atomic():
        lease.lock()
        if Review.objects.filter(pk=review.pk, started_at__isnull=True).update(started_at=Now()):
            pins = [ReviewEdition(review=review, edition=edition) for edition in editions_in_force()]
            ReviewEdition.objects.bulk_create(pins)


def pinned_entries(review: Review) -> list[CheckListEntry]:
    """The check item versions that this review judges, in the check list's order."""
    return entries_of(review.checklist_version, review.options.get("check_items") or ())


def entries_of(master: CheckListVersion, check_items: Sequence[str]) -> list[CheckListEntry]:
    """The entries of a check list, in its order: all, or those of some items. One query."""
    entries = master.entries.select_related("item_version__item").order_by("position")
    return list(entries.filter(item_version__item__code__in=check_items) if check_items else entries)


def _target(review: Review, content: VersionContent, related: tuple[RelatedDocument, ...]) -> RuleInput:
    if review.version is None:
        raise LeaseLost
    document = review.version.document
    return RuleInput(
        text=content.markdown,
        title=content.title,
        document_type=document.document_type_id or "other",
        sections=sections_of(content),
        blocks=blocks_of(content),
        topics=topics_for(review.checklist_version.checklist.ontology_domain),
        articles=articles_of(list(review.guideline_editions.values_list("edition_id", flat=True))),
        document_name=review.version.filename,
        related=related,
    )


def _spec(item_version: CheckItemVersion) -> CheckSpec:
    return CheckSpec(
        code=item_version.item.code,
        check_type=item_version.check_type,
        strategy=item_version.strategy,
        criteria=item_version.criteria,
    )


def _finish(
    review: Review,
    lease: Lease,
    *,
    status: str,
    verdict: str = "",
    error: str = "",
    notices: Sequence[Notice] = (),
) -> None:
    with transaction.atomic():
        lease.lock()
        Review.objects.filter(pk=review.pk).update(
            status=status,
            verdict=verdict or Verdict.ERROR,
            error=error,
            notices=[notice.as_dict() for notice in notices],
            progress=100 if status == ReviewStatus.COMPLETED else F("progress"),
            finished_at=Now(),
            lease_token="",
            lease_expires_at=None,
        )
        record_event(
            principal=system_principal("review"),
            action="REVIEW_COMPLETE",
            resource=f"review:{review.public_id}",
            status=status,
            verdict=verdict,
        )
    _tell(review, status=status, progress=100, verdict=verdict)


def _tell(review: Review, *, status: str, progress: int, **more: str) -> None:
    event = {"review_id": review.public_id, "status": str(status), "progress": progress, **more}
    bus.publish(f"review:{review.public_id}", event)


def not_waiting_for_caller() -> Q:
    """Reviews that no caller is about to answer for."""
    return Q(sampling_until__isnull=True) | Q(sampling_until__lt=Now())


def take_stuck() -> list[int]:
    """Find reviews that can go on and that nobody works on: never started, waiting for their document, or crashed."""
    unfinished = Review.objects.filter(status__in=(ReviewStatus.QUEUED, ReviewStatus.RUNNING))
    ready = unfinished.filter(free(), not_waiting_for_caller()).exclude(version__status__in=IN_WORK)
    return list(ready.order_by("created_at").values_list("pk", flat=True)[:STUCK_LIMIT])
