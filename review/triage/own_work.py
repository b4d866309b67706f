"""What waits for one person: findings that are theirs, waivers that end, signatures that a review still lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, QuerySet
from django.db.models.functions import Coalesce

from hub.access.principals import Principal, Scope
from hub.access.services import record_reads
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from review.models import COUNTED, COUNTED_STATES, Finding, Review, ReviewStatus, Triage
from review.triage.signing import may_sign_second, waiting_for_second

MOST_SHOWN = 20
NO_DAY = date.max
"""Stands for the day of a finding that is due on none: those come last."""
PARTS = ("result__review__version__document", "result__review__checklist_version__checklist")
SOON = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWork:
    """At most MOST_SHOWN of each kind; the first to end or to be due, or the newest, come first."""

    assigned: KeysetPage[Finding]
    """A page of the findings of reviews that nobody signed off, assigned to the person, that are not settled."""
    assigned_total: int
    ending: Sequence[Finding]
    """Waivers that end within SOON, of reviews in which the person decides."""
    to_sign: Sequence[Review]
    """Reviews that somebody signed and that lack a second signature, which the person may give."""
    unsigned: Sequence[Review]
    """Reviews that the person asked for, that are finished and not signed off; ``open_findings`` counts theirs."""


def own_work(principal: Principal, *, now: datetime, cursor: str | None = None) -> OwnWork:
    """Find what waits for the caller, as far as they may see it; of the findings assigned the page behind ``cursor``.

    Seven queries. That the findings shown were read is written to the audit trail, in a line for each of their reviews.

    :raises InvalidInput: the cursor is none of this list.
    """
    principal.require(Scope.READ)
    mine = _assigned(principal)
    by_day: QuerySet[Finding] = mine.select_related(*PARTS).annotate(until=Coalesce("due_on", NO_DAY))
    assigned = paginate_keyset(by_day, limit=MOST_SHOWN, cursor=cursor, scope=cursor_scope("own-work"), order="until")
    waived = _of_unsigned_reviews(principal, Scope.TRIAGE).filter(triage=Triage.WAIVED, expires_at__lte=now + SOON)
    work = OwnWork(
        assigned=assigned,
        assigned_total=mine.count(),
        ending=list(waived.order_by("expires_at")[:MOST_SHOWN]),
        to_sign=_to_sign(principal),
        unsigned=_unsigned(principal),
    )
    reviews = sorted({one.result.review.public_id for one in (*assigned.items, *work.ending)})
    record_reads(principal, "RESULT_VIEW", [f"review:{review_id}" for review_id in reviews], part="own_work")
    return work


def count_assigned(principal: Principal) -> int:
    """How many findings :func:`own_work` has on all pages of those assigned to the caller. One query."""
    return _assigned(principal).count()


def count_to_sign(principal: Principal) -> int:
    """How many reviews :func:`own_work` has that wait for the caller's signature."""
    return len(_to_sign(principal))


def _to_sign(principal: Principal) -> list[Review]:
    signed = list(_signed_once(principal)[:MOST_SHOWN])
    waiting = waiting_for_second(signed)
    return [one for one in signed if one.pk in waiting and may_sign_second(principal, one)]


def _assigned(principal: Principal) -> QuerySet[Finding]:
    """The findings assigned to the caller that they may see, not settled, of reviews that nobody signed off."""
    own = Finding.objects.visible_to(principal).counted().filter(assignee_id=principal.user_id, triage__in=COUNTED)
    return own.filter(result__review__signed_at=None)


def _of_unsigned_reviews(principal: Principal, scope: Scope) -> QuerySet[Finding]:
    findings = Finding.objects.visible_to(principal, scope).select_related(*PARTS)
    return findings.filter(result__review__signed_at=None, state__in=COUNTED_STATES)


def _of_open_reviews(principal: Principal, scope: Scope) -> QuerySet[Review]:
    reviews = Review.objects.visible_to(principal, scope).filter(signed_at=None, status=ReviewStatus.COMPLETED)
    return reviews.select_related("version__document", "checklist_version__checklist").order_by("-id")


def _signed_once(principal: Principal) -> QuerySet[Review]:
    return _of_open_reviews(principal, Scope.TRIAGE).filter(signatures__isnull=False).distinct()


def _unsigned(principal: Principal) -> list[Review]:
    """The newest that the caller asked for, with the number of open findings that they may see. Two queries."""
    own = list(_of_open_reviews(principal, Scope.TRIAGE).filter(requested_by_id=principal.user_id)[:MOST_SHOWN])
    findings = Finding.objects.filter(result__review__in=own).readable_by(principal).counted()
    by_review = findings.filter(triage=Triage.OPEN).values_list("result__review").annotate(Count("pk")).order_by()
    numbers = dict(by_review)
    for review in own:
        review.__dict__["open_findings"] = numbers.get(review.pk, 0)
    return own
