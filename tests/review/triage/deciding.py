"""What people decide on a review, in one call each."""

from __future__ import annotations

from hub.access.principals import local_operator
from review.models import CheckResult, Finding, Review
from review.triage.decisions import TriageChange, triage_finding
from review.triage.signing import sign_off_state
from review.triage.verdicts import decide_result

OPERATOR = local_operator()


def change(**fields) -> TriageChange:
    return TriageChange(**fields)


def decide(finding: Finding, principal=OPERATOR, **fields) -> Finding:
    return triage_finding(principal=principal, finding_id=finding.public_id, change=change(**fields))


def failing_check(review: Review) -> CheckResult:
    return review.results.filter(verdict="fail").order_by("position").first()


def settle_everything(review: Review) -> None:
    """Decide all that stands in the way of signing off."""
    for blocker in sign_off_state(OPERATOR, review.public_id).blocking:
        if blocker.finding_id:
            finding = Finding.objects.get(public_id=blocker.finding_id)
            decide(finding, triage="accepted")
        else:
            decide_result(
                principal=OPERATOR,
                review_id=review.public_id,
                check_item_id=blocker.check_item_id,
                verdict="pass",
                reason="現物を確認した",
            )
