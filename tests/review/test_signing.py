"""Signing a review off: what stands in the way, and that nothing changes afterwards."""

from __future__ import annotations

import pytest

from hub.access.models import AuditEvent
from hub.access.principals import Role
from hub.core.errors import Conflict
from review import services
from review.models import CheckResult, Finding
from tests.factories import principal_with
from tests.review.deciding import OPERATOR, decide, settle_everything

pytestmark = pytest.mark.django_db


def test_signing_off_is_refused_with_what_is_left_to_decide(review):
    CheckResult.objects.filter(pk=review.results.first().pk).update(verdict="skipped")
    critical = Finding.objects.filter(result__review=review).exclude(result=review.results.first()).first()
    Finding.objects.filter(pk=critical.pk).update(severity="critical")
    unverified = Finding.objects.filter(result__review=review).exclude(pk=critical.pk).last()
    unverified.evidence = [{**(unverified.evidence or [{}])[0], "verified": False}]
    unverified.save(update_fields=["evidence"])
    state = services.sign_off_state(OPERATOR, review.public_id)
    codes = {(one.code, one.finding_id) for one in state.blocking}
    assert {("skipped", ""), ("critical", critical.public_id), ("unverified", unverified.public_id)} <= codes
    with pytest.raises(Conflict, match=critical.public_id) as refused:
        services.sign_off(principal=OPERATOR, review_id=review.public_id)
    assert refused.value.error_code == "sign_off_blocked"


def test_a_signed_review_can_not_be_changed(review):
    settle_everything(review)
    state = services.sign_off(principal=OPERATOR, review_id=review.public_id, comment="承認")
    assert state.is_signed
    finding = Finding.objects.filter(result__review=review).first()
    with pytest.raises(Conflict, match=review.public_id):
        decide(finding, triage="rejected")
    with pytest.raises(Conflict):
        services.decide_result(
            principal=OPERATOR, review_id=review.public_id, check_item_id="BD-A01", verdict="pass", reason="x"
        )
    with pytest.raises(Conflict):
        services.sign_off(principal=OPERATOR, review_id=review.public_id)
    assert AuditEvent.objects.filter(action="REVIEW_SIGN_OFF").count() == 1


def test_two_people_sign_where_the_deployment_asks_for_it(review, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    settle_everything(review)
    second = principal_with(Role.REVIEWER, review.version.document.collection)
    assert not services.sign_off(principal=OPERATOR, review_id=review.public_id).is_signed
    with pytest.raises(Conflict) as again:
        services.sign_off(principal=OPERATOR, review_id=review.public_id)
    assert again.value.error_code == "second_person_needed"
    state = services.sign_off(principal=second, review_id=review.public_id)
    assert state.is_signed
    assert [one.signer_name for one in state.signatures] == ["operator", second.name]


def test_a_change_after_the_first_signature_takes_it_back(review, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    settle_everything(review)
    services.sign_off(principal=OPERATOR, review_id=review.public_id)
    decide(Finding.objects.filter(result__review=review).first(), comment="やはり確認する")
    assert services.sign_off_state(OPERATOR, review.public_id).signatures == []
