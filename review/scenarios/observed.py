"""What of a scenario's steps the hub has seen done: by the document that a person walks through with, and by the trail.

Every fact is one that the caller may read: of documents and reviews those that they see, of the audit trail their own
lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from hub.access.models import AuditEvent
from hub.access.principals import Principal
from knowledge.models import Document
from review.models import (
    CheckListVersion,
    CheckResult,
    EventKind,
    Finding,
    Review,
    ReviewStatus,
    ScenarioStep,
    StepProof,
    Triage,
)
from review.runs.reviews import list_reviews
from review.triage.verdicts import HUMAN, UNDECIDED

MEASURING = ("EVALUATION_RUN", "EVALUATION_BASELINE")
KEEPING = ("EVALUATION_CASE_FROM_FINDING", "EVALUATION_CASE_FROM_RESULT")
DRAFTING = ("MASTER_CHANGE", "CONFIG_CHANGE")  # as storing a draft is called in the trail, and as it was before
COMPARING = ("difference", "side_by_side")
SINCE_START = (*MEASURING, "REVIEW_START", "AUDIT_READ")
MOST_REVIEWS = 50
NOTHING: frozenset[str] = frozenset()


class OwnLine(NamedTuple):
    """What a person did to something, and when last."""

    action: str
    resource: str
    part: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of one person's walk: the document, its finished reviews (newest first), the person's own lines."""

    document: Document | None = None
    reviews: Sequence[Review] = ()
    lines: Sequence[OwnLine] = ()
    published_at: datetime | None = None
    reviews_again: bool = False
    """Whether the scenario has the document reviewed again, so that what was decided before is behind the person."""

    def did(self, *actions: str, after: datetime | None = None, parts: Sequence[str] = ()) -> bool:
        """Whether the person did one of these things, after a moment, to one of these parts."""
        return any(
            line.action in actions and (after is None or line.at > after) and (not parts or line.part in parts)
            for line in self.lines
        )

    def did_to(self, review: Review, action: str, *, after: datetime) -> bool:
        """Whether the person did something to a review after a moment."""
        resource = f"review:{review.public_id}"
        return any((line.action, line.resource) == (action, resource) and line.at > after for line in self.lines)

    @property
    def newest(self) -> Review | None:
        return self.reviews[0] if self.reviews else None

    @property
    def to_decide(self) -> Sequence[Review]:
        """The reviews of which one has to be decided: the newest, or where the scenario reviews again, any."""
        return self.reviews if self.reviews_again else self.reviews[:1]


def _has_new_version(facts: Facts) -> bool:
    """Whether a version has been taken in after the first that was reviewed."""
    current = facts.document.current_version if facts.document else None
    return bool(facts.reviews) and current is not None and current.number > facts.reviews[-1].version_number


def _signed_report_is_taken(facts: Facts) -> bool:
    newest = facts.newest
    if newest is None or newest.signed_at is None:
        return False
    return facts.did_to(newest, "REPORT_DOWNLOAD", after=newest.signed_at)


def _after_publication(*actions: str) -> Callable[[Facts], bool]:
    return lambda facts: facts.published_at is not None and facts.did(*actions, after=facts.published_at)


PROOFS: Mapping[str, Callable[[Facts], bool]] = {
    StepProof.TEXT_READY: lambda facts: facts.document is not None and facts.document.current_version_id is not None,
    StepProof.TEXT_READ: lambda facts: facts.did("DOCUMENT_READ"),
    StepProof.REVIEWED: lambda facts: bool(facts.reviews),
    StepProof.RESULTS_READ: lambda facts: facts.did("RESULT_VIEW"),
    StepProof.FINDINGS_DECIDED: lambda facts: any(not one.has_open_findings for one in facts.to_decide),  # type: ignore[attr-defined]  # annotated
    StepProof.CHECKS_DECIDED: lambda facts: any(not one.has_undecided_checks for one in facts.to_decide),  # type: ignore[attr-defined]  # annotated
    StepProof.NEW_VERSION: _has_new_version,
    StepProof.REVIEWED_AGAIN: lambda facts: len({one.version_number for one in facts.reviews}) > 1,
    StepProof.CHANGES_READ: lambda facts: facts.did("RESULT_VIEW", parts=COMPARING),
    StepProof.REPORT_TAKEN: lambda facts: facts.did("REPORT_DOWNLOAD"),
    StepProof.ANSWERS_READ_IN: lambda facts: any(one.has_answers for one in facts.reviews),  # type: ignore[attr-defined]  # annotated
    StepProof.CASES_KEPT: lambda facts: facts.did(*KEEPING),
    StepProof.SIGNED_OFF: lambda facts: facts.newest is not None and facts.newest.signed_at is not None,
    StepProof.SIGNED_REPORT_TAKEN: _signed_report_is_taken,
    StepProof.MEASURED: lambda facts: facts.did(*MEASURING),
    StepProof.DRAFTED: lambda facts: facts.did(*DRAFTING) or facts.published_at is not None,
    StepProof.PUBLISHED: lambda facts: facts.published_at is not None,
    StepProof.MEASURED_AFTER: _after_publication(*MEASURING),
    StepProof.REVIEWED_AFTER: _after_publication("REVIEW_START"),
    StepProof.TRAIL_READ_AFTER: _after_publication("AUDIT_READ"),
}

SINCE = (
    *(StepProof.MEASURED, StepProof.DRAFTED, StepProof.PUBLISHED),
    *(StepProof.MEASURED_AFTER, StepProof.REVIEWED_AFTER, StepProof.TRAIL_READ_AFTER),
)
"""What is asked of the time since a person began, of whatever document."""


def observed_actions(
    principal: Principal, steps: Iterable[ScenarioStep], *, document: Document | None, started_at: datetime
) -> frozenset[str]:
    """The actions of a scenario's steps that the hub has seen done by the person, or on the document they walk with.

    At most five queries; none where no step could be seen done.
    """
    proved = [step for step in steps if step.proof and (step.proof in SINCE or document is not None)]
    reviews_again = any(step.proof == StepProof.REVIEWED_AGAIN for step in proved)
    if principal.user_id is None or not proved:
        return NOTHING
    since = started_at if any(step.proof in SINCE for step in proved) else None
    facts = replace(_facts(principal, document, since), reviews_again=reviews_again)
    return frozenset(step.action for step in proved if PROOFS[step.proof](facts))


def _facts(principal: Principal, document: Document | None, since: datetime | None) -> Facts:
    reviews = list(_finished(principal, document)[:MOST_REVIEWS]) if document is not None else []
    return Facts(
        document=document,
        reviews=reviews,
        lines=_own_lines(principal, document, reviews, since),
        published_at=_last_publication(principal, since) if since is not None else None,
    )


def _finished(principal: Principal, document: Document) -> QuerySet[Review]:
    """The finished reviews of a document that the person may read, the newest first, with what each leaves to do."""
    readable = Finding.objects.readable_by(principal).filter(result__review=OuterRef("pk"))
    checks = CheckResult.objects.filter(review=OuterRef("pk"), verdict__in=UNDECIDED).exclude(method=HUMAN)
    answers = readable.filter(events__kind=EventKind.ANSWER)
    found = list_reviews(principal, document_id=document.public_id, status=ReviewStatus.COMPLETED)
    return found.annotate(
        has_open_findings=Exists(readable.counted().filter(triage=Triage.OPEN)),
        has_undecided_checks=Exists(checks),
        has_answers=Exists(answers),
    )


def _own_lines(
    principal: Principal, document: Document | None, reviews: Sequence[Review], since: datetime | None
) -> list[OwnLine]:
    asked = Q(pk__in=())
    if document is not None:
        names = [one.public_id for one in reviews]
        resources = [f"document:{document.public_id}", *(f"review:{name}" for name in names)]
        asked |= Q(resource__in=resources) | Q(action__in=KEEPING, details__review__in=names)
    if since is not None:
        drafts = Q(resource__startswith="checklistversion:") | Q(resource__startswith="checkitemversion:")
        asked |= Q(at__gte=since) & (Q(action__in=SINCE_START) | Q(drafts, action__in=DRAFTING))
    lines = AuditEvent.objects.order_by().filter(asked, user=principal.user_id)
    grouped = lines.values_list("action", "resource", "details__part").annotate(last=Max("at"))
    return [OwnLine(action, resource, part or "", last) for action, resource, part, last in grouped]


def _last_publication(principal: Principal, since: datetime) -> datetime | None:
    """When a check list that the person wrote or approved was last published since a moment."""
    person = principal.user_id
    own = Q(author=person) | Q(approved_by=person) | Q(writer_ids__contains=[person])
    approved = CheckListVersion.objects.filter(own, approved_at__gte=since)
    newest: datetime | None = approved.aggregate(newest=Max("approved_at"))["newest"]
    return newest
