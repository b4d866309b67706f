"""From what people decided to evaluation cases: findings that are true or false alarms, and verdicts on checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.evaluation.cases import review_case
from hub.evaluation.datasets import get_dataset, save_case
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from review.evaluation.datasets import create_dataset, record, require_reader
from review.models import CheckResult, Finding, Review, Triage
from review.runs.related import readable_related, require_all_findings
from review.triage.verdicts import HUMAN
from review.types import Verdict

LOCATION_CHARS = 200
OWN_DATASET = "triage"

# What a decision says of the document. An open finding says nothing yet.
EXPECTED_BY_TRIAGE = {
    Triage.ACCEPTED: "fail",
    Triage.FIXED: "fail",
    Triage.WAIVED: "fail",
    Triage.REJECTED: "pass",
}
EXPECTED_BY_VERDICT = {Verdict.PASS: "pass", Verdict.WARNING: "fail", Verdict.FAIL: "fail"}


def case_from_finding(
    *, principal: Principal, finding_id: str, dataset: str, expected_verdict: str = ""
) -> tuple[EvaluationCase, bool]:
    """Keep what a person decided about a finding as a case: *fail* for a true one, *pass* for a false alarm.

    Without ``expected_verdict`` the finding's state tells it. The second value tells whether the case is new. Raises
    NotFound for a dataset or finding that is not there for the caller, InvalidInput for another verdict, Conflict for
    an open finding.
    """
    found = _dataset(principal, dataset)
    findings = Finding.objects.visible_to(principal, Scope.TRIAGE)
    finding = (
        findings.select_related("result__item_version__item", "result__review").filter(public_id=finding_id).first()
    )
    if finding is None:
        raise NotFound(_('There is no finding "{finding_id}".'), code="finding_not_found", finding_id=finding_id)
    expected = expected_verdict or EXPECTED_BY_TRIAGE.get(Triage(finding.triage), "")
    if not expected:
        raise Conflict(_("Nobody has decided the finding yet: accept or reject it first."), code="not_decided")
    return _keep(principal, found, _fields_of(principal, finding) | {"expected_verdict": expected}, finding=finding_id)


def case_from_result(
    *, principal: Principal, review_id: str, check_item_id: str, dataset: str
) -> tuple[EvaluationCase, bool]:
    """Keep a person's verdict on a check as a case of its item; the second value tells whether it is new.

    Raises NotFound for a dataset, review or check that is not there for the caller, Conflict when no person decided.
    """
    found = _dataset(principal, dataset)
    visible = Review.objects.visible_to(principal, Scope.TRIAGE).filter(public_id=review_id)
    results = CheckResult.objects.select_related("item_version__item", "review").filter(review__in=visible.values("pk"))
    result = results.filter(item_version__item__code=check_item_id).first()
    if result is None:
        raise NotFound(
            _('The review has no check "{check_item_id}".'), code="result_not_found", check_item_id=check_item_id
        )
    if result.method != HUMAN:
        raise Conflict(_("Nobody has decided the check {item} yet."), code="not_decided", item=check_item_id)
    require_all_findings(result, principal)
    fields = {
        **_subject_of(principal, result),
        "item": result.item_version.name_ja,
        "note": f"{review_id} {check_item_id}",
        "expected_verdict": EXPECTED_BY_VERDICT[Verdict(result.verdict)],
    }
    return _keep(principal, found, fields, review=review_id, check_item_id=check_item_id)


def ensure_dataset(principal: Principal, code: str) -> EvaluationDataset:
    """Find a dataset, or make it for a curator of the hub. Raises NotFound, Forbidden, InvalidInput, Conflict."""
    found = EvaluationDataset.objects.visible_to(principal).filter(code=code).first()
    return found or create_dataset(principal=principal, code=code)


def _dataset(principal: Principal, code: str) -> EvaluationDataset:
    principal.require(Scope.TRIAGE)
    require_reader(principal)
    found = get_dataset(principal, code)
    if found.guards:
        principal.require_hub_curator()  # its cases decide what goes live for everybody
    return found


def _keep(
    principal: Principal, dataset: EvaluationDataset, fields: Mapping[str, Any], **told: str
) -> tuple[EvaluationCase, bool]:
    try:
        case = review_case(dict(fields))
    except ValueError as error:
        raise InvalidInput(_("This makes no case: {reason}"), reason=str(error)) from error
    with transaction.atomic():
        row, is_new = save_case(dataset, case)
        action = "CASE_FROM_FINDING" if "finding" in told else "CASE_FROM_RESULT"
        record(principal, action, dataset.code, expected=case.expected["verdict"], **told)
    return row, is_new


def _subject_of(principal: Principal, result: CheckResult) -> dict[str, Any]:
    """Which version of which document, beside which others that the caller may read, was checked for what."""
    review = result.review
    return {
        "document_id": review.document_id_text,
        "version": review.version_number,
        "related_documents": readable_related(principal, review),
        "check_item_id": result.item_version.item.code,
    }


def _fields_of(principal: Principal, finding: Finding) -> dict[str, Any]:
    """A finding as a case: its item and rule, and what it is about."""
    fields: dict[str, Any] = {
        **_subject_of(principal, finding.result),
        "rule_id": finding.rule_id,
        "item": finding.message_ja,
        "note": f"{finding.result.review.public_id} {finding.public_id}",
    }
    data = finding.data
    if data.get("topic"):
        return fields | {"topic": data["topic"]}
    if data.get("identifiers"):
        fields["identifiers"] = list(data["identifiers"])
    if data.get("variants") or data.get("expressions"):
        fields["variants"] = list(data.get("variants") or data["expressions"])
    quotes = [quote["quote"] for quote in finding.evidence if quote["quote"].strip()]
    if quotes:
        fields["location"] = quotes[0].strip().split("\n")[0][:LOCATION_CHARS]
    return fields
