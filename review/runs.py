"""Running a review: load, judge check by check, store each result as it comes.

Whoever holds the review's lease works on it. Killed at any moment, the next holder keeps what is stored and goes on
with the checks that are left, so the result is the same as that of one undisturbed run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

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
from review.engine import CheckSpec, Judgement, judge, overall_verdict, unique_findings
from review.evidence import claimed, locate, quote
from review.judging.sampling import SamplingProvider
from review.judging.sitting import PENDING, Sitting, with_opinion
from review.models import (
    CheckItemVersion,
    CheckListEntry,
    CheckListVersion,
    CheckResult,
    Finding,
    Review,
    ReviewEdition,
    ReviewStatus,
    Suggestion,
)
from review.related import RelatedGoneError, related_of
from review.types import FindingDraft, RelatedDocument, RuleInput, Verdict

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 4
STUCK_LIMIT = 50


def execute(review_id: int, *, sampling: SamplingProvider | None = None) -> bool:
    """Work on a review until it is finished. False when it is finished, held by another, or waits for its document.

    Whoever runs it inside a tool call gives ``sampling``, the caller's model: checks that it has to be asked about
    first are left, and the review goes on when it is executed again.
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
    review = (
        Review.objects.select_related("version__document__collection", "checklist_version__checklist", "requested_by")
    ).get(pk=review_id)
    try:
        if review.attempts > MAX_ATTEMPTS:
            _finish(review, lease, status=ReviewStatus.FAILED, error=f"interrupted {MAX_ATTEMPTS} times in a row")
        elif review.version is None or review.version.status == DocumentStatus.FAILED:
            reason = review.version.status_reason_en if review.version else "the document was deleted"
            _finish(review, lease, status=ReviewStatus.FAILED, error=reason)
        else:
            _judge_all(review, lease, sampling)
    except RelatedGoneError as error:
        _finish(review, lease, status=ReviewStatus.FAILED, error=str(error))
    except LeaseLost:
        logger.info("review %s was cancelled or taken over", review.public_id)
    return True


def _judge_all(review: Review, lease: Lease, sampling: SamplingProvider | None) -> None:
    _pin_editions(review, lease)
    content = VersionContent.objects.get(pk=review.version_id)
    target = _target(review, content, related_of(review))
    entries = pinned_entries(review)
    done = set(review.results.values_list("item_version_id", flat=True))
    sitting = Sitting(review=review, target=target, lease=lease, sampling=sampling)
    for position, entry in enumerate(entries):
        if entry.item_version_id in done:
            continue
        lease.renew()
        started = time.monotonic()
        check = _spec(entry.item_version)
        judgement = judge(check, target, force_strategy=review.options.get("force_strategy"))
        opinion = sitting.opinion(entry.item_version, judgement)
        if opinion is PENDING:
            continue
        elapsed_ms = int((time.monotonic() - started) * 1000)
        with transaction.atomic():
            lease.lock()
            _store_result(review, entry.item_version, position, with_opinion(judgement, opinion), target, elapsed_ms)
            sitting.store(entry.item_version, opinion)
            progress = int(100 * (position + 1) / len(entries))
            Review.objects.filter(pk=review.pk).update(progress=progress)
        _tell(review, status=ReviewStatus.RUNNING, progress=progress, check_item_id=check.code)
    if sitting.is_waiting:
        Review.objects.filter(pk=review.pk).update(attempts=0)
        lease.release()
        return
    verdicts = [Verdict(verdict) for verdict in review.results.values_list("verdict", flat=True)]
    _finish(review, lease, status=ReviewStatus.COMPLETED, verdict=overall_verdict(verdicts))


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


def _store_result(
    review: Review,
    item_version: CheckItemVersion,
    position: int,
    judgement: Judgement,
    target: RuleInput,
    elapsed_ms: int,
) -> None:
    result = CheckResult.objects.create(
        review=review,
        item_version=item_version,
        position=position,
        verdict=judgement.verdict,
        strategy_used=judgement.strategy,
        strategy_reason_ja=judgement.strategy_reason.ja,
        strategy_reason_en=judgement.strategy_reason.en,
        notices=[notice.as_dict() for notice in judgement.notices],
        execution_time_ms=elapsed_ms,
    )
    named = unique_findings(item_version.item.code, judgement.findings)
    rows = [
        _finding_row(result, ordinal, name, draft, target, review.document_id_text)
        for ordinal, (name, draft) in enumerate(named)
    ]
    Finding.objects.bulk_create(rows)
    Suggestion.objects.bulk_create(
        _suggestion_row(row, draft) for row, (_name, draft) in zip(rows, named, strict=True) if draft.suggestion
    )


def _finding_row(
    result: CheckResult, ordinal: int, name: str, draft: FindingDraft, target: RuleInput, document_id: str
) -> Finding:
    texts = {"": (document_id, target.text)}
    texts |= {related.document_id: (related.document_id, related.text) for related in target.related}
    return Finding(
        result=result,
        ordinal=ordinal,
        fingerprint=name,
        rule_id=draft.rule_id,
        severity=draft.severity,
        message_ja=draft.message.ja,
        message_en=draft.message.en,
        location=locate(target.text, target.sections, target.blocks, draft.location),
        evidence=[
            *(quote(*texts[span.document], span) for span in draft.evidence),
            *(claimed(text, document_id) for text in draft.claimed),
        ],
        searched=list(draft.searched),
        data=dict(draft.data),
        related_guideline=result.item_version.guideline_reference,
        confidence=draft.confidence,
        confidence_basis_ja=draft.confidence_basis.ja if draft.confidence_basis else "",
        confidence_basis_en=draft.confidence_basis.en if draft.confidence_basis else "",
    )


def _suggestion_row(finding: Finding, draft: FindingDraft) -> Suggestion:
    suggestion = draft.suggestion
    if suggestion is None:
        raise ValueError("a suggestion row needs a suggestion")
    return Suggestion(
        finding=finding,
        content_ja=suggestion.content.ja,
        content_en=suggestion.content.en,
        rationale_ja=suggestion.rationale.ja,
        rationale_en=suggestion.rationale.en,
        example=suggestion.example or "",
        confidence=draft.confidence,
        references=[finding.related_guideline] if finding.related_guideline else [],
    )


def _finish(review: Review, lease: Lease, *, status: str, verdict: str = "", error: str = "") -> None:
    with transaction.atomic():
        lease.lock()
        Review.objects.filter(pk=review.pk).update(
            status=status,
            verdict=verdict or Verdict.ERROR,
            error=error,
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
