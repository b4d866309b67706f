"""Who is to work on a finding, and until when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hub.access.names import name_with_login
from hub.access.principals import Classification, Principal, Scope, roles_with
from hub.access.services import cleared_for, principal_for_user
from hub.core.errors import InvalidInput
from knowledge.models import CollectionGrant
from review.models import COUNTED, Finding, Review
from review.runs.finding_schemas import FindingOut

MOST_OFFERED = 200


def people_to_assign(principal: Principal, review: Review) -> dict[str, str]:
    """The names, by user name, of those who are offered for a review's findings, at most MOST_OFFERED. One query.

    They are who has a role in force in the document's collection with which findings are decided, as far as their
    ceiling reaches all documents of the review. Superusers without a role there may be given findings, too, but not
    everybody who decides is told of them: only the caller and those are offered who have one already. Expects what
    ``get_review`` selects.
    """
    if review.version is None:
        return {}
    document = review.version.document
    level = max(document.classification, document.collection.classification, review.related_level or 0)
    deciding = CollectionGrant.objects.in_force().filter(
        collection=document.collection_id, role__in=roles_with(Scope.TRIAGE)
    )
    assigned = Finding.objects.filter(result__review=review).values("assignee")
    known = Q(pk=principal.user_id) | Q(pk__in=assigned)
    offered = Q(pk__in=deciding.holders().values("pk")) | Q(known, is_superuser=True)
    people = User.objects.filter(offered, cleared_for(Classification(level)), is_active=True)
    return {person.get_username(): name_with_login(person) for person in people.order_by("username")[:MOST_OFFERED]}


def find_assignee(name: str | None, findings: Sequence[Finding]) -> User | None:
    """Find who is to work on the findings: somebody who may decide on them. Others answer like unknown names."""
    if not name:
        return None
    user = User.objects.filter(username=name).first()
    if user is None or not may_be_given(user, findings):
        raise InvalidInput(
            _('assignee: "{name}" is no user who may decide in this review.'), code="unknown_assignee", name=name
        )
    return user


def may_be_given(user: User, findings: Sequence[Finding]) -> bool:
    """Whether somebody may be given findings, as they are stored, to work on: whether they may decide on each."""
    decides = Finding.objects.visible_to(principal_for_user(user), Scope.TRIAGE)
    wanted = {finding.pk for finding in findings}
    return user.is_active and decides.filter(pk__in=wanted).count() == len(wanted)


def is_late(finding: Finding | FindingOut, *, today: date) -> bool:
    """Whether a finding is still to be settled though its last day is past. ``today`` is a day of the hub's zone."""
    return finding.due_on is not None and finding.due_on < today and finding.triage in COUNTED


def due_in_words(finding: Finding | FindingOut, *, today: date) -> str:
    """The last day on which a finding is to be settled, and whether it is late; empty without one."""
    if finding.due_on is None:
        return ""
    text = gettext("late: {day}") if is_late(finding, today=today) else gettext("due on {day}")
    return text.format(day=finding.due_on)
