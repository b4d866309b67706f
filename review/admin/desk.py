"""What the reviewer's desk shows beside its rows: what is left, and the sign-off."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.timezone import localdate

from hub.access.principals import Principal
from hub.admin_site.pages import badge
from review.models import SEVERITIES, VERDICTS, Finding, Review, Triage
from review.runs.finding_schemas import FindingOut
from review.runs.schemas import ReviewOut
from review.triage.assigning import due_in_words, is_late
from review.triage.people import names_in
from review.triage.signing import refusal_of_signer, state_of, states_to_freeze, verdicts_to_freeze


def desk_context(review: Review, facts: ReviewOut, *, principal: Principal, may_act: bool) -> dict[str, Any]:
    """What is left to decide, what stands in the way of the sign-off, and what signing freezes.

    No query but those of ``state_of``, ``refusal_of_signer`` and ``names_in``.
    """
    state = state_of(review)
    refusal = refusal_of_signer(principal, review) if may_act and not state.signed else None
    triage = Counter(finding.triage for finding in facts.findings)
    has_signed = any(one.signer_id == principal.user_id for one in review.signatures.all())
    return {
        "review": review,
        "facts": facts,
        "names": names_in(review),
        "counts": _counts(facts),
        "sign_off": state,
        "has_signed": has_signed,
        "may_act": may_act,
        "may_sign": may_act and not (state.signed or state.blocking or refusal),
        "signer_refused": refusal,
        "open_findings": triage[Triage.OPEN],
        "undecided_checks": sum(1 for one in state.blocking if one.check_item_id and not one.finding_id),
        "frozen_findings": states_to_freeze(review),
        "frozen_checks": verdicts_to_freeze(review),
    }


def desk_address(review: Review, row: str) -> str:
    """Return the address of the review's desk that opens at a row: a finding's id, or ``check-`` and an item's code."""
    return f"{reverse('admin:review_review_triage', args=[review.pk])}#{row}"


def due_badge(finding: Finding | FindingOut) -> SafeString | str:
    """The day until which a finding is to be settled, marked where it is past; empty without one."""
    today = localdate()
    text = due_in_words(finding, today=today)
    return badge("late" if is_late(finding, today=today) else "due", text) if text else ""


def with_document(finding: Finding) -> tuple[Finding, Review, str]:
    """A finding with its review and the title of its document, or the id of one that was deleted."""
    review = finding.result.review
    return finding, review, review.version.document.title if review.version else review.document_id_text


def _counts(facts: ReviewOut) -> list[tuple[str, int]]:
    """What the review found in a line: findings by severity, then checks by verdict, as far as there are any."""
    severities = Counter(finding.severity for finding in facts.findings)
    verdicts = Counter(result.verdict for result in facts.results)
    found = [*((str(name), severities[code]) for code, name in SEVERITIES)]
    return [one for one in [*found, *((str(name), verdicts[code]) for code, name in VERDICTS)] if one[1]]
