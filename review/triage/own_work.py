"""What waits for one person: findings that are theirs, waivers that end, signatures that a review still lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from review.models import COUNTED, COUNTED_STATES, Finding, Review, ReviewStatus, Triage
from review.triage.signing import may_sign_second

MOST_SHOWN = 50
SOON = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWork:
    """At most MOST_SHOWN of each kind; the first to end or to be due, or the newest, come first."""

    assigned: Sequence[Finding]
    """Findings of reviews that nobody signed off, assigned to the person, that are not settled."""
    assigned_total: int
    ending: Sequence[Finding]
    """Waivers that end within SOON, of reviews in which the person decides."""
    to_sign: Sequence[Review]
    """Reviews that somebody signed and that lack a second signature, which the person may give."""
    unsigned: Sequence[Review]
    """Reviews that the person asked for, that are finished and not signed off; ``open_findings`` counts theirs."""


def own_work(principal: Principal, *, now: datetime) -> OwnWork:
    """Find what waits for the caller, as far as they may see it. Six queries, and one for each review named.

    Reading the findings is written to the audit trail, once for each of their reviews.
    """
    principal.require(Scope.READ)
    mine = assigned_findings(principal)
    waived = _of_unsigned_reviews(principal, Scope.TRIAGE).filter(triage=Triage.WAIVED, expires_at__lte=now + SOON)
    work = OwnWork(
        assigned=list(
            mine.order_by(F("due_on").asc(nulls_last=True), "-result__review_id", "result__position", "ordinal")[
                :MOST_SHOWN
            ]
        ),
        assigned_total=mine.count(),
        ending=list(waived.order_by("expires_at")[:MOST_SHOWN]),
        to_sign=[one for one in _signed_once(principal)[:MOST_SHOWN] if may_sign_second(principal, one)],
        unsigned=list(_unsigned(principal)[:MOST_SHOWN]),
    )
    with transaction.atomic(savepoint=False):  # all lines wait for the disk once
        for review_id in sorted({one.result.review.public_id for one in (*work.assigned, *work.ending)}):
            record_event(principal, "RESULT_VIEW", f"review:{review_id}", part="own_work")
    return work


def assigned_findings(principal: Principal) -> QuerySet[Finding]:
    """The findings of reviews that nobody signed off, assigned to the caller, that are not settled and they may see."""
    return _of_unsigned_reviews(principal).filter(assignee_id=principal.user_id, triage__in=COUNTED)


def _of_unsigned_reviews(principal: Principal, scope: Scope = Scope.READ) -> QuerySet[Finding]:
    parts = ("result__review__version__document", "result__review__checklist_version__checklist")
    findings = Finding.objects.visible_to(principal, scope).select_related(*parts)
    return findings.filter(result__review__signed_at=None, state__in=COUNTED_STATES)


def _of_open_reviews(principal: Principal, scope: Scope) -> QuerySet[Review]:
    reviews = Review.objects.visible_to(principal, scope).filter(signed_at=None, status=ReviewStatus.COMPLETED)
    return reviews.select_related("version__document", "checklist_version__checklist").order_by("-id")


def _signed_once(principal: Principal) -> QuerySet[Review]:
    return _of_open_reviews(principal, Scope.TRIAGE).filter(signatures__isnull=False).distinct()


def _unsigned(principal: Principal) -> QuerySet[Review]:
    own = _of_open_reviews(principal, Scope.TRIAGE).filter(requested_by_id=principal.user_id)
    is_open = Q(results__findings__triage=Triage.OPEN, results__findings__state__in=COUNTED_STATES)
    return own.annotate(open_findings=Count("results__findings", filter=is_open))
