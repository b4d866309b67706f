"""Carrying decisions over to the review of the next version, through the services, REST and the page."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token
from hub.core.errors import Conflict, InvalidInput, NotFound
from knowledge.models import CollectionGrant, Document
from review.models import EventKind, Finding, Review, Triage
from review.runs.reviews import get_review
from review.triage.carry_over import carry_triage
from review.triage.comparing import compare_reviews
from review.triage.decisions import TriageChange, triage_finding
from review.types import JUDGED_BY_MODEL
from tests.factories import new_collection, principal_with
from tests.hub.admin.support import client_of, make_user
from tests.review.conftest import DESIGN, review_text

pytestmark = pytest.mark.django_db
OPERATOR = local_operator()
SENTENCE = "検索（FR-001）は <b>FR-006</b> の設定に従う。"
VAGUE = "必要に応じて適切に対応する。"
FIRST = DESIGN.replace(SENTENCE, f"{SENTENCE}\n\n")
SECOND = (
    FIRST.replace("- 版数: 1.2", "- 版数: 1.1")  # fixed
    .replace(SENTENCE, "")  # moved
    .replace(VAGUE, "必要に応じて適切に対処し、結果を残す。")  # changed
) + f"\n## 4. 画面\n\n{SENTENCE}\n"
FIXED, MOVED, CHANGED, SAME = (
    "document.version_mismatch",
    "traceability.undefined_reference",
    "wording.ambiguous",
    "coverage.missing_topic",
)


def found(review: Review, rule_id: str) -> Finding:
    return Finding.objects.filter(result__review=review, rule_id=rule_id).order_by("result__position", "ordinal")[0]


def twin(review: Review, finding: Finding) -> Finding:
    """The finding of a later review that took over from this one."""
    return Finding.objects.get(result__review=review, carried__finding_id=finding.public_id)


def decide(finding: Finding, **change: Any) -> Finding:
    return triage_finding(principal=OPERATOR, finding_id=finding.public_id, change=TriageChange(**change))


def carry(review: Review, base: Review, principal=OPERATOR):
    return carry_triage(principal=principal, review_id=review.public_id, base_id=base.public_id)


@pytest.fixture(scope="module")
def reviewed_twice(django_db_setup, django_db_blocker, tmp_path_factory):
    """Reviews of two versions of a design; each test's changes are taken back after it."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        folder: Path = tmp_path_factory.mktemp("twice")
        ids = [review_text(folder, text).public_id for text in (FIRST, SECOND)]
        yield ids
        transaction.set_rollback(True)


@pytest.fixture
def base(reviewed_twice, db) -> Review:
    return get_review(OPERATOR, reviewed_twice[0])


@pytest.fixture
def review(reviewed_twice, db) -> Review:
    return get_review(OPERATOR, reviewed_twice[1])


def test_decisions_on_unchanged_findings_are_taken_over_with_where_they_came_from(base, review):
    ends = timezone.now() + timedelta(days=30)
    same = decide(
        found(base, SAME),
        triage="waived",
        reason="次期で対応",
        expires_at=ends,
        comment="担当と合意",
        due_on=date(2026, 12, 1),
    )
    told = carry(review, base)
    new = twin(review, same)
    assert (new.triage, new.triage_reason, new.expires_at, new.triaged_by) == (
        "waived",
        "次期で対応",
        ends,
        "operator",
    )
    assert new.due_on == date(2026, 12, 1)
    assert new.carried == {
        "review_id": base.public_id,
        "finding_id": same.public_id,
        "version": 1,
        "triage": "waived",
        "mark": "same",
    }
    comment, note = new.events.order_by("id")
    assert (comment.kind, comment.text, comment.origin) == (EventKind.COMMENT, "担当と合意", same.public_id)
    assert comment.at == same.events.get(kind=EventKind.COMMENT).at
    assert (note.kind, note.before, note.after, note.origin) == (EventKind.CARRY, "waived", "waived", same.public_id)
    assert (told.carried, told.moved, told.changed, told.reopened) == (1, 0, 0, 0)
    assert AuditEvent.objects.filter(action="TRIAGE_CARRY", resource=f"review:{review.public_id}").count() == 1


def test_a_finding_that_moved_keeps_its_decision_and_is_marked(base, review):
    old = decide(found(base, MOVED), triage="rejected", reason="別冊で定義")
    assert carry(review, base).moved == 1
    new = twin(review, old)
    assert (new.triage, new.carried["mark"]) == ("rejected", "moved")


def test_what_was_let_pass_is_open_again_where_the_words_have_changed(base, review):
    old = decide(found(base, CHANGED), triage="rejected", reason="運用で決める")
    told = carry(review, base)
    new = twin(review, old)
    assert (new.triage, new.triage_reason, new.carried["mark"]) == ("open", "", "changed")
    assert new.carried["triage"] == "rejected"
    assert new.events.get().text == "運用で決める"
    assert (told.changed, told.reopened) == (1, 1)


def test_accepting_stands_whatever_changed(base, review):
    old = decide(found(base, CHANGED), triage="accepted")
    carry(review, base)
    assert (twin(review, old).triage, twin(review, old).carried["mark"]) == ("accepted", "changed")


def test_a_waiver_that_has_ended_and_what_was_said_to_be_fixed_are_open_again(base, review):
    topics = Finding.objects.filter(result__review=base, rule_id=SAME)[:2]
    waived = decide(topics[0], triage="waived", reason="次期", expires_at=timezone.now() + timedelta(days=1))
    said_fixed = decide(topics[1], triage="fixed")
    Finding.objects.filter(pk=waived.pk).update(expires_at=timezone.now() - timedelta(days=1))
    told = carry(review, base)
    assert {twin(review, one).triage for one in (waived, said_fixed)} == {"open"}
    assert twin(review, said_fixed).carried["triage"] == "fixed"
    assert told.reopened == 2


def test_what_is_gone_is_closed_in_the_earlier_review_unless_that_is_signed(base, review):
    gone = decide(found(base, FIXED), triage="accepted")
    told = carry(review, base)
    gone.refresh_from_db()
    assert (gone.triage, told.closed) == ("fixed", Finding.objects.filter(result__review=base, triage="fixed").count())
    assert gone.events.last().origin == review.public_id


@pytest.mark.parametrize("change", [{"rests_on": ["doc_requirements"]}, {"rule_id": JUDGED_BY_MODEL}])
def test_what_was_not_looked_at_again_stays_as_it_is(base, review, change):
    gone = found(base, FIXED)
    Finding.objects.filter(pk=gone.pk).update(**change)
    carry(review, base)
    gone.refresh_from_db()
    assert gone.triage == "open"
    compared = compare_reviews(OPERATOR, review.public_id, base_id=base.public_id)
    assert gone.pk in {compared.base_findings[index][1].pk for index in compared.matching.undecided}


def test_a_signed_review_is_read_and_not_touched(base, review):
    same, gone = decide(found(base, SAME), triage="accepted"), found(base, FIXED)
    Review.objects.filter(pk=base.pk).update(signed_at=timezone.now())
    told = carry(review, base)
    gone.refresh_from_db()
    assert (told.carried, told.closed, gone.triage) == (1, 0, "open")
    assert twin(review, same).triage == "accepted"


def test_verdicts_follow_what_was_carried(base, review):
    for finding in Finding.objects.filter(result__review=base, rule_id=MOVED):
        decide(finding, triage="rejected", reason="別冊で定義")
    check = found(review, MOVED).result
    before = check.verdict
    carry(review, base)
    check.refresh_from_db()
    assert before in ("fail", "warning")
    assert (check.verdict, check.original_verdict) == ("pass", before)


def test_the_second_time_and_what_people_touched_here_change_nothing(base, review):
    decide(found(base, SAME), triage="accepted", comment="対応する")
    decide(found(base, MOVED), triage="rejected", reason="別冊")
    mine = decide(found(review, MOVED), triage="accepted")
    assert carry(review, base).carried == 1
    again = carry(review, base)
    mine.refresh_from_db()
    assert (again.carried, again.closed, mine.triage, mine.carried) == (0, 0, "accepted", {})


@pytest.mark.parametrize(("role", "is_kept"), [(Role.CURATOR, True), (Role.READER, False)])
def test_an_assignee_who_may_no_longer_decide_on_the_document_is_not_taken_over(base, review, role, is_kept):
    document = Document.objects.get(public_id=base.document_id_text)
    person = principal_with(Role.REVIEWER, document.collection)
    old = decide(found(base, SAME), assignee=person.name)
    CollectionGrant.objects.filter(user_id=person.user_id).update(role=role)
    carry(review, base)
    assert bool(twin(review, old).assignee) == is_kept


def test_only_an_earlier_review_of_the_same_document_that_one_may_triage(base, review, tmp_path):
    with pytest.raises(InvalidInput):
        carry(base, review)
    other = review_text(tmp_path, "# 別の設計\n\n本文\n", name="別.md")
    with pytest.raises(InvalidInput):
        carry(other, review)
    with pytest.raises(Conflict) as none_there:
        carry_triage(principal=OPERATOR, review_id=other.public_id)
    assert none_there.value.error_code == "no_earlier_review"
    with pytest.raises(NotFound):
        carry(review, base, principal_with(Role.REVIEWER, new_collection()))
    Review.objects.filter(pk=review.pk).update(signed_at=timezone.now())
    with pytest.raises(Conflict):
        carry(review, base)


def test_the_page_offers_it_once_and_shows_the_marks(base, review):
    client = client_of(make_user("佐藤", is_superuser=True), language="en")
    page = reverse("admin:review_review_triage", args=[review.pk])
    door = reverse("admin:review_review_carry", args=[review.pk])
    assert door not in client.get(page).content.decode()  # nobody decided anything yet
    old = decide(found(base, MOVED), triage="rejected", reason="別冊で定義")
    assert door in client.get(page).content.decode()
    client.post(door, {"base": base.public_id})
    shown = client.get(page).content.decode()
    assert door not in shown
    part = reverse("admin:review_review_triage_finding", args=[review.pk, twin(review, old).public_id])
    assert base.public_id in client.get(part, headers={"X-Requested-With": "fetch"}).content.decode()


def test_rest_carries_over_and_shows_where_a_decision_came_from(client, base, review):
    old = decide(found(base, SAME), triage="accepted")
    token = create_token(principal=OPERATOR, user=make_user("鈴木", is_superuser=True), name="t", scopes=ALL_SCOPES)[1]
    headers = {"Authorization": f"Bearer {token}"}
    door = f"/api/v1/reviews/{review.public_id}/carry-triage"
    done = client.post(door, json.dumps({}), content_type="application/json", headers=headers).json()
    assert (done["base_review_id"], done["carried"]) == (base.public_id, 1)
    new = twin(review, old)
    history = client.get(f"/api/v1/findings/{new.public_id}/history", headers=headers).json()["history"]
    assert [(line["kind"], line["origin"]) for line in history] == [("carry", old.public_id)]
    shown = client.get(f"/api/v1/reviews/{review.public_id}", headers=headers).json()["findings"]
    assert [one["carried"]["mark"] for one in shown if one["carried"]] == ["same"]
    assert new.triage == Triage.ACCEPTED
