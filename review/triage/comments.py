"""What people remarked on findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from hub.access.principals import Principal, Scope
from review.models import EventKind, Finding, FindingEvent, Review


def comments_in(principal: Principal, review: Review) -> Mapping[str, Sequence[FindingEvent]]:
    """The comments on those of a review's findings that the caller may see, oldest first, by the finding's id.

    One query. Expects that the reading of the findings is written to the audit trail.
    """
    principal.require(Scope.READ)
    visible = Finding.objects.visible_to(principal).filter(result__review=review)
    events = FindingEvent.objects.filter(kind=EventKind.COMMENT, finding__in=visible).select_related("finding")
    found = defaultdict(list)
    for event in events.order_by("id"):
        found[event.finding.public_id].append(event)
    return found
