"""What may be done with reviews: every door calls these, with the caller's principal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import NamedTuple, NoReturn

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core import bus
from hub.core.errors import Conflict, InvalidInput, NotFound, not_one_of
from hub.core.queue import enqueue_on_commit
from knowledge.documents.documents import get_document
from knowledge.documents.workers import leave_it_to_workers, work_through, worker_is_alive
from knowledge.ingest.pipeline import let_go_first
from knowledge.models import Document, DocumentVersion
from review.judging.prompts import numbers_in_force
from review.judging.sweep.reading import CATEGORIES as SWEEP_CATEGORIES
from review.mappings import suspect_reasons
from review.masters.listing import get_checklist, version_in_force
from review.models import (
    UNFINISHED,
    CheckList,
    CheckListVersion,
    CheckResult,
    Finding,
    RelatedVersion,
    Review,
    ReviewStatus,
    Strategy,
)
from review.runs import execution
from review.runs.finding_schemas import FindingOut
from review.runs.related import load_parts, pin_related, related_versions, with_parts
from review.runs.schemas import ReviewOut, review_out
from review.runs.steps import CHOICES as STEP_CHOICES

FINDING_PARTS = ("suggestion", "model_suggestion", "answer", "assignee")
SUGGESTION_LEVELS = ("none", "basic", "detailed")


# How long a caller may take to answer; after that a worker ends the review, and what is open is skipped.
CALLER_PATIENCE = timedelta(minutes=10)
JUDGES = ("auto", "server", "sampling", "rules")
SWEEP_SEVERITIES = ("critical", "major", "minor")
MOST_OF_A_CATEGORY = 100
SWEEP_LIMIT = 30
"""The most findings of the reading in each category that count where a review says nothing else."""
POLLED = ("status", "progress", "version_id", "version__status", "version__progress")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOptions:
    """What a caller may ask of a review. ``max_findings`` and ``min_confidence`` limit answers, not what is stored."""

    check_items: tuple[str, ...] = ()
    related_documents: tuple[str, ...] = ()
    include_evidence: bool = True
    max_findings: int = 100
    min_confidence: float = 0.0
    suggestion_level: str = "basic"
    judge: str = "auto"
    force_strategy: str | None = None
    parallel: bool = True
    llm_provider: str = ""
    """The provider that judges instead of the configured one."""
    second_opinion: str = "auto"
    sweep: str = "auto"
    sweep_limit: int = SWEEP_LIMIT
    """The most findings of each category that the reading of the whole document may make; others are candidates."""
    sweep_severity: str = "minor"
    """The least severity of such a finding."""
    sweep_categories: tuple[str, ...] = ()
    """What the document is read for; all categories without it."""


def start_review(
    *,
    principal: Principal,
    document_id: str,
    checklist: str = "",
    options: ReviewOptions | None = None,
    waits_for_caller: bool = False,
) -> Review:
    """Queue a review of a document's latest version; it starts when the document's text is there.

    With ``waits_for_caller`` no worker takes it for CALLER_PATIENCE, since the caller's own model is asked.
    Without ``checklist`` the one for the document's type is taken. Raises NotFound, InvalidInput, Conflict.
    """
    options = options or ReviewOptions()
    document, version, master = find_subject(
        principal=principal, document_id=document_id, checklist=checklist, options=options
    )
    related = related_versions(principal, options.related_documents, reviewed=document)
    with transaction.atomic():
        review = Review.objects.create(
            version=version,
            document_id_text=document.public_id,
            version_number=version.number,
            checklist_version=master,
            options={**asdict(options), "prompts": numbers_in_force()},
            sampling_until=timezone.now() + CALLER_PATIENCE if waits_for_caller else None,
            requested_by_id=principal.user_id,
        )
        pin_related(review, related)
        record_event(
            principal,
            "REVIEW_START",
            f"review:{review.public_id}",
            document_id=document.public_id,
            checklist=master.checklist.code,
            related_documents=len(related),
        )
        for other, _version in related:
            # a line of its own, so that it is read by those who audit that document
            resource = f"document:{other.public_id}"
            record_event(principal, "REVIEW_COMPARE", resource, review=review.public_id)
        let_go_first(version.pk)
        enqueue_on_commit("review.execute", review_id=review.pk)
    return review


def join_or_start_review(
    *, principal: Principal, document_id: str, checklist: str = "", options: ReviewOptions
) -> Review:
    """The caller's own review of the same version by the same check list and options that is queued or running.

    Where there is none it is started: see ``start_review``, also for what is raised. Two equal calls at once give one.
    """
    document, version, master = find_subject(
        principal=principal, document_id=document_id, checklist=checklist, options=options
    )
    with transaction.atomic():
        # the second of two equal calls waits here until the first has its review
        DocumentVersion.objects.select_for_update(no_key=True).get(pk=version.pk)
        same = {**asdict(options), "prompts": numbers_in_force()}
        running = (
            Review.objects.visible_to(principal)
            .filter(version=version, checklist_version=master, requested_by_id=principal.user_id)
            .filter(status__in=UNFINISHED, options=same, sampling_until=None)
            .order_by("-id")
            .first()
        )
        return running or start_review(
            principal=principal, document_id=document.public_id, checklist=checklist, options=options
        )


class Subject(NamedTuple):
    """What a review would judge, and by what."""

    document: Document
    version: DocumentVersion
    master: CheckListVersion


def find_subject(*, principal: Principal, document_id: str, checklist: str, options: ReviewOptions) -> Subject:
    """Find the document's version and the approved check list. Raises NotFound, InvalidInput, Conflict."""
    principal.require(Scope.REVIEW)
    document = get_document(principal, document_id, scope=Scope.REVIEW)
    version = document.version_to_read or _refused(document)
    chosen = get_checklist(checklist) if checklist else checklist_for(document)
    master = version_in_force(chosen)
    if master is None:
        raise Conflict(_('The check list "{given}" has no approved version.'), given=chosen.code)
    _check_options(options, master)
    return Subject(document, version, master)


def checklist_for(document: Document) -> CheckList:
    """The check list that is made for a document's type. :raises InvalidInput: there is none."""
    document_type = document.document_type_id or "other"
    checklist = CheckList.objects.filter(document_types__contains=[document_type]).order_by("code").first()
    if checklist is None:
        known = ", ".join(f"{one} ({one.code})" for one in CheckList.objects.order_by("code"))
        raise InvalidInput(
            _('No check list is for documents of type "{given}". Name one of: {known}.'),
            code="checklist_needed",
            given=document.document_type or document_type,
            known=known,
        )
    return checklist


def _check_options(options: ReviewOptions, master: CheckListVersion) -> None:
    known = set(master.entries.values_list("item_version__item__code", flat=True))
    choices = (
        ("suggestion_level", options.suggestion_level, SUGGESTION_LEVELS),
        ("judge", options.judge, JUDGES),
        ("force_strategy", options.force_strategy, (None, *Strategy.values)),
        ("second_opinion", options.second_opinion, STEP_CHOICES),
        ("sweep", options.sweep, STEP_CHOICES),
        ("sweep_severity", options.sweep_severity, SWEEP_SEVERITIES),
    )
    if not 0 <= options.min_confidence <= 1:
        raise InvalidInput(_("min_confidence must be from 0 to 1."), code="min_confidence")
    for name, value, allowed in choices:
        if value not in allowed:
            raise not_one_of(name, value, (str(item) for item in allowed if item))
    if not 0 <= options.sweep_limit <= MOST_OF_A_CATEGORY:
        raise InvalidInput(_("sweep_limit: expected 0 to {limit}."), limit=MOST_OF_A_CATEGORY, field="sweep_limit")
    for name in options.sweep_categories:
        if name not in SWEEP_CATEGORIES:
            raise not_one_of("sweep_categories", name, SWEEP_CATEGORIES)
    if unknown := sorted(set(options.check_items) - known):
        raise InvalidInput(
            _("Unknown check items: {unknown}. This check list has: {known}."),
            code="unknown_check_item",
            unknown=", ".join(unknown),
            known=", ".join(sorted(known)),
        )


def _refused(document: Document) -> NoReturn:
    raise Conflict(
        _("{path} can't be reviewed, its text could not be read: {reason}"),
        code="document_failed",
        path=document.path,
        reason=(document.latest_version.status_reason if document.latest_version else None) or "-",
    )


def get_review(principal: Principal, review_id: str, *, scope: Scope = Scope.READ) -> Review:
    """Find a review with all that ``review_out`` shows, in three queries, and one more for each of decisions,
    signatures, related documents and paths of the graph that it has.

    Raises NotFound, also for hidden ones. It holds what the caller may read: findings that rest on documents hidden
    from them are left out, and notices say how many. The parts are never to be saved as a whole.
    """
    principal.require(scope)
    found = with_parts(Review.objects.visible_to(principal, scope)).filter(public_id=review_id)
    review = found.select_related("version__document__collection", "checklist_version__checklist").first()
    if review is None:
        raise NotFound(_('There is no review "{review_id}".'), code="review_not_found", review_id=review_id)
    findings = Finding.objects.select_related(*FINDING_PARTS)
    load_parts(principal, review, findings=findings, results=CheckResult.objects.select_related("item_version__item"))
    return review


def list_reviews(principal: Principal, *, document_id: str = "", status: str = "") -> QuerySet[Review]:
    """The reviews the caller may read, newest first."""
    principal.require(Scope.READ)
    reviews = Review.objects.visible_to(principal).select_related("checklist_version__checklist").order_by("-id")
    if document_id:
        reviews = reviews.filter(document_id_text=document_id)
    return reviews.filter(status=status) if status else reviews


def cancel_review(*, principal: Principal, review_id: str) -> Review:
    """Stop a review; the results it has stay. A finished one is left as it is."""
    review = get_review(principal, review_id, scope=Scope.REVIEW)
    stopped = Review.objects.filter(pk=review.pk, status__in=UNFINISHED).update(
        status=ReviewStatus.CANCELLED, finished_at=Now(), lease_token="", lease_expires_at=None
    )
    if stopped:
        record_event(principal, "REVIEW_CANCEL", f"review:{review_id}")
        bus.publish(f"review:{review_id}", {"review_id": review_id, "status": "cancelled"})
    return get_review(principal, review_id, scope=Scope.REVIEW)


def wait_for_review(
    review: Review, *, timeout_s: float | None, on_progress: Callable[[int, str], None] | None = None
) -> bool:
    """Wait until a review is finished, doing its work here while no worker is alive. False when time ran out.

    ``on_progress`` gets percent and state, only when they changed; those of the document while it is being read.
    """
    started = time.monotonic()
    last: tuple[int, str] | None = None
    while True:
        row = Review.objects.select_related("version").only(*POLLED).get(pk=review.pk)
        of = row.awaited_version or row
        now = (of.progress, str(of.status))
        if on_progress and now != last:
            on_progress(*now)
        last = now
        if row.status not in UNFINISHED:
            return True
        left = None if timeout_s is None else timeout_s - (time.monotonic() - started)
        if left is not None and left <= 0:
            return False
        if worker_is_alive() or not _work_here(row, left):
            leave_it_to_workers()


def _work_here(review: Review, left: float | None) -> bool:
    if review.version_id is not None:
        work_through([review.version_id], timeout_s=left)
    return execution.execute(review.pk)


def ordered_findings(results: Sequence[CheckResult]) -> list[tuple[CheckResult, Finding]]:
    """All findings that count, in the order of the document; what is missing comes after what is there, by check."""
    return in_document_order([(result, finding) for result in results for finding in result.findings.all()])


def in_document_order(pairs: Sequence[tuple[CheckResult, Finding]]) -> list[tuple[CheckResult, Finding]]:
    """Findings with their results as ``ordered_findings`` orders them."""

    def place(pair: tuple[CheckResult, Finding]) -> tuple[bool, int, int, int]:
        start = pair[1].location.get("start_offset")
        return (start is None, start or 0, pair[0].position, pair[1].ordinal)

    return sorted(pairs, key=place)


def show_review(principal: Principal, review: Review, *, everything: bool = False) -> ReviewOut:
    """Show a review that ``get_review`` found, ``everything`` as in reports; in the active language.

    Results that are shown are written to the audit trail.
    """
    record_view(principal, review)
    return review_facts(review, everything=everything)


def record_view(principal: Principal, review: Review, **facts: object) -> None:
    """Write that the caller was shown the results of a review; nothing while there are none. One statement."""
    if review.results.all():
        record_event(
            principal, "RESULT_VIEW", f"review:{review.public_id}", document_id=review.document_id_text, **facts
        )


def review_facts(review: Review, *, everything: bool = False) -> ReviewOut:
    """As ``show_review``, for a service that says itself in the audit trail what it shows."""
    results = list(review.results.all())
    return review_out(review, ordered_findings(results), everything=everything, suspects=suspect_reasons(results))


def show_findings(principal: Principal, findings: Sequence[Finding]) -> list[FindingOut]:
    """Show findings that the caller has just decided on, as they see them now, in the order given."""
    shown: dict[str, FindingOut] = {}
    for review_id in {finding.result.review.public_id for finding in findings}:
        everything = review_facts(get_review(principal, review_id), everything=True)
        every = (*everything.findings, *everything.overturned, *everything.candidates)
        shown |= {one.id: one for one in every}
    return [shown[finding.public_id] for finding in findings]


def replay_review(*, principal: Principal, review_id: str) -> Review:
    """Queue a new review of the same versions whose language model's verdicts come from the recorded answers.

    Its rules run again. Verdicts are the same byte for byte as long as document, check items and prompts are; a check
    whose answer is not recorded any more becomes an error that says so. Raises NotFound, Conflict.
    """
    original = get_review(principal, review_id, scope=Scope.REVIEW)
    if original.status in UNFINISHED or original.version_id is None:
        raise Conflict(
            _("Review {review_id} can't be replayed: it still runs, or its document is gone."), review_id=review_id
        )
    same = ("version_id", "document_id_text", "version_number", "checklist_version_id")
    with transaction.atomic():
        review = Review.objects.create(
            **{name: getattr(original, name) for name in same},
            options={**original.options, "replay_of": original.public_id},
            requested_by_id=principal.user_id,
        )
        copies = list(RelatedVersion.objects.filter(review=original))
        for copy in copies:
            copy.pk, copy.review = None, review
        RelatedVersion.objects.bulk_create(copies)
        record_event(
            principal,
            "REVIEW_START",
            f"review:{review.public_id}",
            document_id=original.document_id_text,
            replay_of=original.public_id,
        )
        enqueue_on_commit("review.execute", review_id=review.pk)
    return review
