"""Signing a review off: what stands in the way, and that nothing changes afterwards."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from hub.access.models import AuditEvent
from hub.access.principals import Role
from hub.access.services import principal_for_user, record_event
from hub.core.errors import Conflict
from knowledge.models import CollectionGrant, Document
from review.models import CheckResult, Finding, Review, Signature
from review.triage.signing import sign_off, sign_off_state
from review.triage.verdicts import decide_result
from tests.factories import new_user
from tests.review.triage.deciding import OPERATOR, decide, settle_everything

pytestmark = pytest.mark.django_db


def test_signing_off_is_refused_with_what_is_left_to_decide(review):
    CheckResult.objects.filter(pk=review.results.first().pk).update(verdict="skipped")
    critical = Finding.objects.filter(result__review=review).exclude(result=review.results.first()).first()
    Finding.objects.filter(pk=critical.pk).update(severity="critical")
    unverified = Finding.objects.filter(result__review=review).exclude(pk=critical.pk).last()
    unverified.evidence = [{**(unverified.evidence or [{}])[0], "verified": False}]
    unverified.save(update_fields=["evidence"])
    state = sign_off_state(OPERATOR, review.public_id)
    codes = {(one.code, one.finding_id) for one in state.blocking}
    assert {("skipped", None), ("critical", critical.public_id), ("unverified", unverified.public_id)} <= codes
    with pytest.raises(Conflict, match=critical.public_id) as refused:
        sign_off(principal=OPERATOR, review_id=review.public_id)
    assert refused.value.error_code == "sign_off_blocked"


def test_a_signed_review_can_not_be_changed(review):
    settle_everything(review)
    state = sign_off(principal=OPERATOR, review_id=review.public_id, comment="承認")
    assert state.signed
    finding = Finding.objects.filter(result__review=review).first()
    with pytest.raises(Conflict, match=review.public_id):
        decide(finding, triage="rejected")
    with pytest.raises(Conflict):
        decide_result(
            principal=OPERATOR, review_id=review.public_id, check_item_id="BD-A01", verdict="pass", reason="x"
        )
    with pytest.raises(Conflict):
        sign_off(principal=OPERATOR, review_id=review.public_id)
    assert AuditEvent.objects.filter(action="REVIEW_SIGN_OFF").count() == 1


@pytest.fixture
def two_sign(settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})


def reviewer_of(review, *, username=""):
    user = new_user(username=username) if username else new_user()
    CollectionGrant.objects.create(collection=review.version.document.collection, user=user, role=Role.REVIEWER)
    return principal_for_user(user)


def test_two_people_sign_where_the_deployment_asks_for_it(review, two_sign):
    settle_everything(review)
    first, second = reviewer_of(review), reviewer_of(review)
    assert not sign_off(principal=first, review_id=review.public_id).signed
    with pytest.raises(Conflict) as again:
        sign_off(principal=first, review_id=review.public_id)
    assert again.value.error_code == "second_person_needed"
    state = sign_off(principal=second, review_id=review.public_id)
    assert state.signed
    assert [one.name for one in state.signatures] == [first.name, second.name]


def test_a_person_with_a_new_name_is_no_second_person_and_one_with_the_old_name_is(review, two_sign):
    settle_everything(review)
    first = reviewer_of(review, username="sato")
    sign_off(principal=first, review_id=review.public_id)
    user = User.objects.get(pk=first.user_id)
    user.username = "suzuki"
    user.save()
    with pytest.raises(Conflict) as again:
        sign_off(principal=principal_for_user(user), review_id=review.public_id)
    assert again.value.error_code == "second_person_needed"
    assert sign_off(principal=reviewer_of(review, username="sato"), review_id=review.public_id).signed


def test_the_local_operator_is_nobody_of_the_two(review, two_sign):
    settle_everything(review)
    with pytest.raises(Conflict) as refused:
        sign_off(principal=OPERATOR, review_id=review.public_id)
    assert refused.value.error_code == "no_person"
    assert sign_off_state(OPERATOR, review.public_id).signatures == []


def test_neither_who_uploaded_the_document_nor_who_asked_for_the_review_is_one_of_the_two(review, two_sign, tmp_path):
    settle_everything(review)
    document = review.version.document
    owner, requester, replacer = reviewer_of(review), reviewer_of(review), reviewer_of(review)
    Document.objects.filter(pk=document.pk).update(owner_id=owner.user_id)
    Review.objects.filter(pk=review.pk).update(requested_by_id=requester.user_id)
    record_event(principal=replacer, action="DOCUMENT_UPLOAD", resource=f"document:{document.public_id}")
    for involved in (owner, requester, replacer):
        with pytest.raises(Conflict) as refused:
            sign_off(principal=involved, review_id=review.public_id)
        assert refused.value.error_code == "second_person_needed"
    assert not sign_off(principal=reviewer_of(review), review_id=review.public_id).signed
    assert sign_off(principal=reviewer_of(review), review_id=review.public_id).signed


def test_a_signature_that_was_given_by_somebody_involved_before_does_not_count(review, two_sign):
    settle_everything(review)
    requester = reviewer_of(review)
    Review.objects.filter(pk=review.pk).update(requested_by_id=requester.user_id)
    for signer in (requester, OPERATOR):
        Signature.objects.create(review=review, signer_id=signer.user_id, signer_name=signer.name)
    assert not sign_off(principal=reviewer_of(review), review_id=review.public_id).signed
    assert sign_off(principal=reviewer_of(review), review_id=review.public_id).signed


def test_what_is_signed_is_what_was_seen(review):
    settle_everything(review)
    seen = sign_off_state(OPERATOR, review.public_id).revision
    passed, *others = review.results.filter(verdict="pass").select_related("item_version__item")
    decide_result(
        principal=OPERATOR,
        review_id=review.public_id,
        check_item_id=passed.item_version.item.code,
        verdict="fail",
        reason="満たしていない",
    )
    with pytest.raises(Conflict, match=rf"チェック: 合格 {len(others)}, .*不合格") as refused:
        sign_off(principal=OPERATOR, review_id=review.public_id, revision=seen)
    assert refused.value.error_code == "changed_meanwhile"
    seen = sign_off_state(OPERATOR, review.public_id).revision
    for change in (lambda one: decide(one, comment="後から"), lambda one: decide(one, triage="rejected")):
        change(Finding.objects.filter(result__review=review).first())
        with pytest.raises(Conflict, match="開いた後に変更"):
            sign_off(principal=OPERATOR, review_id=review.public_id, revision=seen)
    seen = sign_off_state(OPERATOR, review.public_id).revision
    assert sign_off(principal=OPERATOR, review_id=review.public_id, revision=seen).signed


def test_two_people_sign_the_same_result(review, two_sign):
    settle_everything(review)
    first, second = reviewer_of(review), reviewer_of(review)
    seen = sign_off_state(second, review.public_id).revision
    sign_off(principal=first, review_id=review.public_id, revision=seen)
    decide(Finding.objects.filter(result__review=review).first(), triage="rejected")
    with pytest.raises(Conflict, match="開いた後に変更"):
        sign_off(principal=second, review_id=review.public_id, revision=seen)
    seen = sign_off_state(second, review.public_id).revision
    assert not sign_off(principal=second, review_id=review.public_id, revision=seen).signed
    assert sign_off(principal=first, review_id=review.public_id, revision=seen).signed


@pytest.mark.parametrize("loses", ["the role", "the account"])
def test_a_first_signature_does_not_outlive_the_right_to_give_it(review, two_sign, loses):
    settle_everything(review)
    first, second, third = (reviewer_of(review) for _number in range(3))
    sign_off(principal=first, review_id=review.public_id)
    if loses == "the role":
        CollectionGrant.objects.filter(user=first.user_id).update(role=Role.READER)
    else:
        User.objects.filter(pk=first.user_id).update(is_active=False)
    state = sign_off(principal=second, review_id=review.public_id)
    assert not state.signed
    assert [one.name for one in state.signatures] == [second.name]
    assert [one.name for one in state.signatures_void] == [first.name]
    state = sign_off(principal=third, review_id=review.public_id)
    assert state.signed
    assert [one.name for one in state.signatures] == [second.name, third.name]
    assert state.signatures_void == []
    last = AuditEvent.objects.filter(action="REVIEW_SIGN_OFF").latest("pk")
    assert (last.details["signatures"], last.details["void"]) == (2, [first.name])


def test_a_change_after_the_first_signature_takes_it_back(review, two_sign):
    settle_everything(review)
    sign_off(principal=reviewer_of(review), review_id=review.public_id)
    decide(Finding.objects.filter(result__review=review).first(), comment="やはり確認する")
    assert sign_off_state(OPERATOR, review.public_id).signatures == []
