"""Who is to work on a finding, and until when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hub.access.names import name_with_login
from hub.access.principals import Classification, Principal
from hub.access.services import cleared_for, principal_for_user
from hub.core.errors import InvalidInput
from knowledge.models import CollectionGrant
from review.models import COUNTED, Finding, Review
from review.runs.finding_schemas import FindingOut

MOST_OFFERED = 200


def people_to_assign(principal: Principal, review: Review) -> dict[str, str]:
    """The names, by user name, of those who are offered for a review's findings, at most MOST_OFFERED. One query.

    They are the caller, and who has a role in force in the document's collection, as far as their ceiling reaches all
    documents of the review. Superusers without a role there may be given findings, too, but not everybody who decides
    is told of them: only those are offered who have one already. Expects what ``get_review`` selects.
    """
    if review.version is None:
        return {}
    document = review.version.document
    level = max(document.classification, document.collection.classification, review.related_level or 0)
    holders = CollectionGrant.objects.in_force().filter(collection=document.collection_id).holders()
    assigned = Finding.objects.filter(result__review=review).values("assignee")
    offered = Q(pk__in=holders.values("pk")) | Q(pk=principal.user_id) | Q(is_superuser=True, pk__in=assigned)
    people = User.objects.filter(offered, cleared_for(Classification(level)), is_active=True)
    return {person.get_username(): name_with_login(person) for person in people.order_by("username")[:MOST_OFFERED]}


def find_assignee(name: str | None, findings: Iterable[Finding]) -> User | None:
    """Find who is to work on the findings: somebody who may read them. Others answer like unknown names."""
    if not name:
        return None
    user = User.objects.filter(username=name, is_active=True).first()
    wanted = {finding.pk for finding in findings}
    readable = Finding.objects.visible_to(principal_for_user(user)).filter(pk__in=wanted).count() if user else 0
    if user is None or readable < len(wanted):
        raise InvalidInput(
            _('assignee: "{name}" is no user who may read this review.'), code="unknown_assignee", name=name
        )
    return user


def is_late(finding: Finding | FindingOut, *, today: date) -> bool:
    """Whether a finding is still to be settled though its last day is past. ``today`` is a day of the hub's zone."""
    return finding.due_on is not None and finding.due_on < today and finding.triage in COUNTED


def due_in_words(finding: Finding | FindingOut, *, today: date) -> str:
    """The last day on which a finding is to be settled, and whether it is late; empty without one."""
    if finding.due_on is None:
        return ""
    text = gettext("late: {day}") if is_late(finding, today=today) else gettext("due on {day}")
    return text.format(day=finding.due_on)
