"""Triage and people's verdicts, through the services; REST says the same in test_triage_api.py."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import Role, Scope
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.documents.deletion import delete_document
from knowledge.models import Document
from review.models import Finding, FindingEvent, Review, Triage
from review.runs.reviews import get_review, review_facts
from review.triage.decisions import Answer, finding_history, reopen_expired_waivers, triage_findings
from review.triage.signing import sign_off
from review.triage.verdicts import CheckToDecide, decide_result, decide_results, take_back_verdicts
from tests.factories import new_collection, principal_with
from tests.review.triage.deciding import OPERATOR, change, decide, failing_check

pytestmark = pytest.mark.django_db


@pytest.fixture
def document(review) -> Document:
    return review.version.document


def test_a_rejected_finding_no_longer_counts_and_the_run_s_verdict_is_kept(review):
    result = failing_check(review)
    for finding in result.findings.all():
        decide(finding, triage="rejected", reason="設計方針による")
    result.refresh_from_db()
    assert (result.verdict, result.original_verdict) == ("pass", "fail")
    assert result.method == "rules"


def test_an_accepted_finding_still_stands(review):
    result = failing_check(review)
    for finding in result.findings.all():
        decide(finding, triage="accepted")
    result.refresh_from_db()
    assert (result.verdict, result.original_verdict) == ("fail", "")


def test_reopening_a_finding_brings_the_verdict_back(review):
    result = failing_check(review)
    for finding in result.findings.all():
        decide(finding, triage="fixed")
        decide(finding, triage="open")
    result.refresh_from_db()
    assert result.verdict == "fail"


def test_the_review_s_verdict_follows_its_checks(review):
    failing = Finding.objects.filter(result__review=review, result__verdict="fail")
    ids = list(failing.values_list("public_id", flat=True))
    triage_findings(principal=OPERATOR, finding_ids=ids, change=change(triage="rejected"))
    verdicts = set(review.results.values_list("verdict", flat=True)) - {"skipped"}
    review.refresh_from_db()
    assert "fail" not in verdicts
    assert review.verdict == ("warning" if "warning" in verdicts else "pass")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"triage": "waived"}, "reason"),
        ({"triage": "waived", "expires_at": timezone.now() + timedelta(days=1)}, "reason"),
        ({"triage": "waived", "reason": "次期で対応"}, "expires_at"),
        ({"triage": "waived", "reason": "次期で対応", "expires_at": timezone.now() - timedelta(days=1)}, "expires_at"),
        ({"triage": "fixed", "expires_at": timezone.now() + timedelta(days=1)}, "expires_at"),
        ({"triage": "done"}, "triage"),
        ({"reason": "理由だけ"}, "reason"),
        ({}, ""),
        ({"assignee": "居ない人"}, ""),
    ],
)
def test_what_can_not_be_is_refused_by_field(review, fields, field):
    finding = Finding.objects.filter(result__review=review).first()
    with pytest.raises(InvalidInput) as refused:
        decide(finding, **fields)
    assert refused.value.data.get("field", "") == field
    finding.refresh_from_db()
    assert (finding.triage, finding.revision) == ("open", 0)


def test_a_waiver_ends_and_the_finding_is_open_again(review):
    result = failing_check(review)
    ends = timezone.now() + timedelta(days=30)
    for finding in result.findings.all():
        decide(finding, triage="waived", reason="次期で対応", expires_at=ends)
    result.refresh_from_db()
    assert result.verdict == "pass"
    assert sum(reopen_expired_waivers(now=ends - timedelta(seconds=1)).done) == 0
    assert sum(reopen_expired_waivers(now=ends).done) == result.findings.count()
    assert sum(reopen_expired_waivers(now=ends).done) == 0
    result.refresh_from_db()
    assert result.verdict == "fail"
    last = result.findings.first().events.last()
    assert (last.kind, last.before, last.after) == ("reopen", "waived", "open")


def test_the_history_tells_who_changed_what_in_order(review, document):
    reviewer = principal_with(Role.REVIEWER, document.collection)
    finding = Finding.objects.filter(result__review=review).first()
    decide(finding, reviewer, triage="accepted", comment="担当に確認中", assignee=reviewer.name)
    decide(finding, triage="fixed", reason="第2版で修正")
    lines = list(finding_history(reviewer, finding.public_id))
    assert [(line.kind, line.before, line.after, line.text, line.actor_name) for line in lines] == [
        ("triage", "open", "accepted", "", reviewer.name),
        ("assign", "", reviewer.name, "", reviewer.name),
        ("comment", "", "", "担当に確認中", reviewer.name),
        ("triage", "accepted", "fixed", "第2版で修正", "operator"),
    ]
    assert AuditEvent.objects.filter(action="FINDING_TRIAGE", resource=f"review:{review.public_id}").count() == 2


def test_deciding_the_same_again_changes_nothing(review):
    finding = Finding.objects.filter(result__review=review).first()
    first = decide(finding, triage="accepted", reason="妥当")
    again = decide(finding, triage="accepted", reason="妥当")
    assert again.revision == first.revision == 1
    assert FindingEvent.objects.filter(finding=finding).count() == 1


def test_who_decides_on_an_old_state_is_told_who_was_faster(review, document):
    finding = Finding.objects.filter(result__review=review).first()
    reviewer = principal_with(Role.REVIEWER, document.collection)
    decide(finding, reviewer, triage="accepted", revision=0)
    with pytest.raises(Conflict, match=reviewer.name) as conflict:
        decide(finding, triage="rejected", revision=0)
    assert conflict.value.error_code == "changed_meanwhile"
    finding.refresh_from_db()
    assert finding.triage == "accepted"


def test_bulk_is_all_or_none(review):
    ids = list(Finding.objects.filter(result__review=review).values_list("public_id", flat=True))
    with pytest.raises(NotFound):
        triage_findings(principal=OPERATOR, finding_ids=[*ids, "fnd_nothing"], change=change(triage="accepted"))
    assert not Finding.objects.filter(triage="accepted").exists()
    triage_findings(principal=OPERATOR, finding_ids=ids, change=change(triage="accepted"))
    assert Finding.objects.filter(triage="accepted").count() == len(ids) > 3


def test_readers_and_outsiders_can_not_decide(review, document):
    finding = Finding.objects.filter(result__review=review).first()
    for who in (principal_with(Role.READER, document.collection), principal_with(Role.CURATOR, new_collection())):
        with pytest.raises(NotFound):
            decide(finding, who, triage="accepted")
        with pytest.raises(NotFound):
            sign_off(principal=who, review_id=review.public_id)
    with pytest.raises(NotFound):
        finding_history(principal_with(None, new_collection()), finding.public_id)


def test_findings_are_assigned_only_to_people_who_may_decide_on_them(review, document):
    finding = Finding.objects.filter(result__review=review).first()
    outsider, reader = principal_with(Role.REVIEWER, new_collection()), principal_with(Role.READER, document.collection)
    for other in (outsider, reader):
        with pytest.raises(InvalidInput, match=other.name):
            decide(finding, assignee=other.name)
    assert decide(finding, assignee=principal_with(Role.CURATOR, document.collection).name).assignee


def test_a_person_s_verdict_decides_a_skipped_check_and_triage_does_not_undo_it(review):
    result = failing_check(review)
    decide_result(
        principal=OPERATOR,
        review_id=review.public_id,
        check_item_id=result.item_version.item.code,
        verdict="warning",
        reason="別冊に記載がある",
    )
    decide(result.findings.first(), triage="rejected")
    shown = next(
        one
        for one in review_facts(get_review(OPERATOR, review.public_id)).results
        if one.check_item_id == result.item_version.item.code
    )
    assert (shown.verdict, shown.method) == ("warning", "human")
    assert (shown.original_verdict, shown.original_method) == ("fail", "rules")
    assert (shown.decision.reason, shown.decision.decided_by) == ("別冊に記載がある", "operator")


def test_checks_that_do_not_apply_are_decided_and_counted_by_themselves(review):
    codes = [one.item_version.item.code for one in review.results.filter(verdict="skipped")][:2]
    before = review_facts(get_review(OPERATOR, review.public_id)).summary
    checks = [CheckToDecide(check_item_id=code, revision=0) for code in codes]
    decide_results(
        principal=OPERATOR, review_id=review.public_id, checks=checks, verdict="not_applicable", reason="図面はない"
    )
    summary = review_facts(get_review(OPERATOR, review.public_id)).summary
    assert len(codes) == summary.not_applicable == before.skipped - summary.skipped == 2
    assert summary.passed == before.passed
    changed = decide_results(
        principal=OPERATOR,
        review_id=review.public_id,
        checks=[CheckToDecide(check_item_id=codes[0], revision=1), CheckToDecide(check_item_id=codes[1], revision=0)],
        verdict="pass",
        reason="確認した",
    )  # one of them was seen as it was before: it stays
    assert [one.item_version.item.code for one in changed.rows] == codes[:1]
    assert [one.data["check_item_id"] for one in changed.overtaken] == codes[1:]
    assert review.results.get(verdict="not_applicable").item_version.item.code == codes[1]


def test_a_review_whose_checks_all_do_not_apply_is_itself_not_applicable(review):
    codes = review.results.values_list("item_version__item__code", flat=True)
    decide_results(
        principal=OPERATOR,
        review_id=review.public_id,
        checks=[CheckToDecide(check_item_id=code) for code in codes],
        verdict="not_applicable",
        reason="別の文書",
    )
    assert get_review(OPERATOR, review.public_id).verdict == "not_applicable"


def test_a_person_s_verdict_is_taken_back_and_what_findings_come_to_stands_again(review):
    result = failing_check(review)
    check = CheckToDecide(check_item_id=result.item_version.item.code)
    asked = {"principal": OPERATOR, "review_id": review.public_id}
    decide_results(**asked, checks=[check], verdict="pass", reason="見間違い")
    for finding in result.findings.all():
        decide(finding, triage="rejected")
    result.refresh_from_db()
    assert (result.verdict, result.method) == ("pass", "human")
    take_back_verdicts(**asked, checks=[check])
    result.refresh_from_db()
    assert (result.verdict, result.method, result.original_verdict) == ("pass", "rules", "fail")
    decide(result.findings.first(), triage="open")
    shown = review_facts(get_review(OPERATOR, review.public_id))
    row = next(one for one in shown.results if one.check_item_id == check.check_item_id)
    assert (row.verdict, row.decision) == ("fail", None)
    assert result.decisions.get().taken_back_by == "operator"
    with pytest.raises(Conflict) as again:
        take_back_verdicts(**asked, checks=[check])
    assert again.value.error_code == "not_decided"


@pytest.mark.parametrize(("verdict", "reason"), [("skipped", "理由"), ("great", "理由"), ("pass", " ")])
def test_a_person_s_verdict_is_one_of_four_with_a_reason(review, verdict, reason):
    item = review.results.first().item_version.item.code
    with pytest.raises(InvalidInput):
        decide_result(
            principal=OPERATOR, review_id=review.public_id, check_item_id=item, verdict=verdict, reason=reason
        )


def test_a_verdict_on_an_old_state_is_a_conflict(review):
    asked = {
        "principal": OPERATOR,
        "review_id": review.public_id,
        "check_item_id": review.results.first().item_version.item.code,
        "reason": "確認済み",
        "revision": 0,
    }
    decide_result(**asked, verdict="pass")
    with pytest.raises(Conflict):
        decide_result(**asked, verdict="fail")


def test_a_review_that_still_runs_is_not_triaged(review):
    Review.objects.filter(pk=review.pk).update(status="running")
    with pytest.raises(Conflict) as refused:
        decide(Finding.objects.filter(result__review=review).first(), triage="accepted")
    assert refused.value.error_code == "review_unfinished"


def test_a_token_without_the_triage_scope_is_told_so(review):
    reader = replace(OPERATOR, scopes=frozenset({Scope.READ}))
    with pytest.raises(Forbidden, match="triage"):
        decide(Finding.objects.filter(result__review=review).first(), reader, triage=Triage.ACCEPTED)


def test_what_people_wrote_goes_with_the_document_and_who_decided_stays(review, document):
    finding = Finding.objects.filter(result__review=review).first()
    decide(finding, triage="rejected", reason="秘密の理由", answer=Answer(text="秘密の回答"))
    delete_document(principal=OPERATOR, document_id=document.public_id)
    finding.refresh_from_db()
    assert (finding.triage, finding.triage_reason, finding.triaged_by) == ("rejected", "", "operator")
    assert {event.text for event in finding.events.all()} == {""}
    assert not hasattr(finding, "answer")
