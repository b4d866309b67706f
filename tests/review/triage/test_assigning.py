"""Who is offered a finding to work on, and until when it is to be settled."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from hub.access.models import Clearance
from hub.access.principals import Classification, Role
from hub.access.services import principal_for_user
from hub.core.errors import Conflict
from knowledge.models import CollectionGrant, Document
from review.models import Finding, Review
from review.runs.reviews import get_review
from review.triage.assigning import is_late, people_to_assign
from review.triage.decisions import finding_history
from review.triage.signing import sign_off
from tests.factories import new_collection, new_user
from tests.review.triage.deciding import OPERATOR, decide, settle_everything

pytestmark = pytest.mark.django_db
FIRST, LATER = date(2026, 12, 1), date(2026, 12, 15)


def test_those_who_may_decide_in_the_review_are_offered_and_nobody_whose_role_has_ended(
    review: Review, django_assert_num_queries
):
    collection = review.version.document.collection
    own, member, ended, elsewhere, gone, reader, auditor = (new_user() for _number in range(7))
    group = Group.objects.create(name="第二係")
    group.user_set.add(member)
    grants = {"collection": collection, "role": Role.REVIEWER}
    for person, role in ((reader, Role.READER), (auditor, Role.AUDITOR)):
        CollectionGrant.objects.create(user=person, collection=collection, role=role)
    CollectionGrant.objects.create(user=own, **grants)
    CollectionGrant.objects.create(group=group, **grants)
    CollectionGrant.objects.create(user=ended, until=timezone.now() - timedelta(minutes=1), **grants)
    CollectionGrant.objects.create(user=elsewhere, collection=new_collection(), role=Role.REVIEWER)
    CollectionGrant.objects.create(user=gone, **grants)
    gone.is_active = False
    gone.save()
    handed_on = new_user()
    CollectionGrant.objects.create(user=handed_on, until=timezone.now() + timedelta(days=1), delegator=ended, **grants)
    found = get_review(OPERATOR, review.public_id)
    with django_assert_num_queries(1):
        assert list(people_to_assign(OPERATOR, found)) == sorted([own.username, member.username])
    assert reader.username not in people_to_assign(principal_for_user(reader), found)


def test_people_below_the_document_s_classification_are_not_offered(review: Review):
    collection = review.version.document.collection
    cleared, uncleared, lowered = (new_user() for _number in range(3))
    for user in (cleared, uncleared, lowered):
        CollectionGrant.objects.create(user=user, collection=collection, role=Role.REVIEWER)
    Clearance.objects.create(user=cleared, ceiling=Classification.C3)
    Clearance.objects.create(user=lowered, ceiling=Classification.C1)
    assert list(people_to_assign(OPERATOR, get_review(OPERATOR, review.public_id))) == sorted(
        [cleared.username, uncleared.username]
    )
    Document.objects.filter(pk=review.version.document_id).update(classification=Classification.C3)
    assert list(people_to_assign(OPERATOR, get_review(OPERATOR, review.public_id))) == [cleared.username]


def test_the_due_day_is_set_moved_and_taken_away_and_the_history_keeps_it(review: Review):
    finding = Finding.objects.filter(result__review=review).first()
    for day in (FIRST, FIRST, LATER, ""):
        decide(finding, due_on=day)
    finding.refresh_from_db()
    assert finding.due_on is None
    lines = [(line.kind, line.before, line.after) for line in finding_history(OPERATOR, finding.public_id)]
    assert lines == [("due", "", "2026-12-01"), ("due", "2026-12-01", "2026-12-15"), ("due", "2026-12-15", "")]
    assert finding.revision == 3


def test_a_finding_is_late_after_its_day_until_it_is_settled(review: Review):
    finding = decide(Finding.objects.filter(result__review=review).first(), due_on=FIRST)
    assert not is_late(finding, today=FIRST)
    assert is_late(finding, today=FIRST + timedelta(days=1))
    assert is_late(decide(finding, triage="accepted"), today=LATER)
    assert not is_late(decide(finding, triage="fixed"), today=LATER)


def test_the_due_day_of_a_signed_review_stays(review: Review):
    settle_everything(review)
    sign_off(principal=OPERATOR, review_id=review.public_id)
    with pytest.raises(Conflict):
        decide(Finding.objects.filter(result__review=review).first(), due_on=FIRST)
