"""Signing a review off: what stands in the way, who signed, and when it is final."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hub.access.models import AuditEvent
from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict
from hub.core.shapes import filled
from review.models import Review, ReviewStatus, Signature, Triage
from review.models.reviews import HasSignatures
from review.runs.reviews import get_review
from review.runs.schemas import signature_out
from review.triage.decisions import reopen_expired_waivers_of
from review.triage.schemas import BlockerOut, SignOffOut
from review.triage.verdicts import HUMAN
from review.types import JudgedBy, Severity, Verdict

SHOWN_BLOCKERS = 10


def sign_off_state(principal: Principal, review_id: str) -> SignOffOut:
    """How far a review is from being signed off; messages are in the active language. Raises NotFound."""
    return state_of(get_review(principal, review_id))


def state_of(review: Review) -> SignOffOut:
    """As ``sign_off_state``, of a review that ``get_review`` found."""
    return filled(
        SignOffOut,
        review,
        review_id=review.public_id,
        signed=review.signed_at is not None,
        signatures_needed=_people_needed(),
        signatures=list(map(signature_out, review.signatures.all())),
        blocking=[] if review.signed_at else list(blockers(review)),
    )


def with_signatures_noted(reviews: QuerySet[Review]) -> QuerySet[Review]:
    """Annotate ``has_signatures``: whether anybody has signed the review."""
    return reviews.annotate(has_signatures=HasSignatures(F("pk")))


def sign_off_label(review: Review) -> str:
    """Say that a review is signed off, or waits for a second signature; empty where nobody has signed.

    Expects what :func:`with_signatures_noted` annotates.
    """
    if review.signed_at is not None:
        return gettext("signed off on {day}").format(day=f"{timezone.localtime(review.signed_at):%Y-%m-%d}")
    return gettext("waits for a second signature") if review.__dict__["has_signatures"] else ""


def _people_needed() -> int:
    return 2 if settings.CONFIG.hub_two_person_sign_off else 1


def blockers(review: Review) -> Iterator[BlockerOut]:
    """What must be decided first: an unfinished run, checks that nobody decided, unverified quotes, open criticals.

    What a caller's own model judged counts as decided by nobody: its caller may have it say anything.
    Expects what ``services.get_review`` selects.
    """
    if review.status != ReviewStatus.COMPLETED:
        yield _blocker("unfinished")
    for result in review.results.all():
        item = result.item_version.item.code
        if result.withheld:
            yield _blocker("withheld", item)
        if result.method != HUMAN and result.verdict in (Verdict.ERROR, Verdict.SKIPPED):
            yield _blocker(result.verdict, item)
        elif result.judged_by is JudgedBy.CALLERS_MODEL:
            yield _blocker("callers_model", item)
        for finding in result.findings.all():
            if finding.triage != Triage.OPEN:
                continue
            if result.method != HUMAN and any(not evidence.get("verified") for evidence in finding.evidence):
                yield _blocker("unverified", item, finding.public_id)
            elif finding.severity == Severity.CRITICAL:
                yield _blocker("critical", item, finding.public_id)


MESSAGES: dict[str, Promise] = {
    "unfinished": _("The review did not run to its end."),
    "error": _("The check broke, and nobody decided it."),
    "skipped": _("The check could not be judged, and nobody decided it."),
    "callers_model": _("The caller's own language model judged the check, and no person decided it."),
    "unverified": _("A quote of the finding could not be verified, and nobody decided it."),
    "critical": _("A critical finding is open."),
    "withheld": _("Findings are withheld from you: somebody who may read all related documents has to sign."),
}


def _blocker(code: str, item: str = "", finding_id: str = "") -> BlockerOut:
    return BlockerOut(code=code, message=str(MESSAGES[code]), check_item_id=item, finding_id=finding_id)


def sign_off(*, principal: Principal, review_id: str, comment: str = "") -> SignOffOut:
    """Sign a review; with enough signatures it is final and can't be changed any more.

    Raises NotFound, and Conflict when something is in the way, when the caller has signed already, or when the review
    is signed off; where two people sign, also for who uploaded the document or asked for the review, and for the local
    operator.
    """
    found = get_review(principal, review_id, scope=Scope.TRIAGE)
    reopen_expired_waivers_of(found.pk, now=timezone.now())
    with transaction.atomic():
        Review.objects.select_for_update(of=("self",)).get(pk=found.pk)
        review = get_review(principal, review_id, scope=Scope.TRIAGE)  # as it is now that nobody can change it
        _refuse(review, principal)
        Signature.objects.create(
            review=review, signer_id=principal.user_id, signer_name=principal.name, comment=comment.strip()
        )
        given = _signatures_that_count(review)
        if given >= _people_needed():
            review.signed_at = timezone.now()
            review.save(update_fields=["signed_at"])
        record_event(
            principal,
            "REVIEW_SIGN_OFF",
            f"review:{review_id}",
            signatures=given,
            final=review.signed_at is not None,
            verdict=review.verdict,
        )
    return sign_off_state(principal, review_id)


def _refuse(review: Review, principal: Principal) -> None:
    if review.signed_at is not None:
        raise Conflict(
            _("The review {review_id} was signed off already."), code="review_signed", review_id=review.public_id
        )
    if principal.user_id is not None and review.signatures.filter(signer_id=principal.user_id).exists():
        raise Conflict(_("You have signed this review; a second person must sign it now."), code="second_person_needed")
    if _people_needed() > 1:
        _refuse_those_involved(review, principal)
    if found := list(blockers(review)):
        raise Conflict(
            _("The review can't be signed off yet. {count} to decide: {what}"),
            code="sign_off_blocked",
            count=len(found),
            what=_in_words(found),
        )


def _refuse_those_involved(review: Review, principal: Principal) -> None:
    """Where two people sign, both are known, and neither had a hand in what is signed."""
    if principal.user_id is None:
        raise Conflict(
            _("Two people have to sign this review; the local operator is nobody in particular. Sign in as a person."),
            code="no_person",
        )
    if principal.user_id in _involved(review):
        raise Conflict(
            _("You uploaded this document or asked for its review; two other people have to sign it."),
            code="second_person_needed",
        )


def _involved(review: Review) -> frozenset[int]:
    """Who asked for a review, and who uploaded any version of its document, which may be gone. One query."""
    uploads = AuditEvent.objects.filter(action="DOCUMENT_UPLOAD", resource=f"document:{review.document_id_text}")
    owner_id = review.version.document.owner_id if review.version else None
    people = {review.requested_by_id, owner_id, *uploads.order_by().values_list("user_id", flat=True)}
    return frozenset(person for person in people if person is not None)


def may_sign_second(principal: Principal, review: Review) -> bool:
    """Whether a person could give the signature that a review still lacks: two are asked for, neither is theirs, and
    they had no hand in it. At most two queries; that they may decide in the review is for the caller to know.
    """
    if _people_needed() == 1 or principal.user_id is None:
        return False
    has_signed = Signature.objects.filter(review=review, signer_id=principal.user_id).exists()
    return not has_signed and principal.user_id not in _involved(review)


def _signatures_that_count(review: Review) -> int:
    """How many signatures a review has; where two people sign, of people who may, each once."""
    signers = list(Signature.objects.filter(review=review).values_list("signer_id", flat=True))
    if _people_needed() == 1:
        return len(signers)
    return len({signer for signer in signers if signer is not None} - _involved(review))


def _in_words(found: Sequence[BlockerOut]) -> str:
    lines = [f"{one.finding_id or one.check_item_id or '-'}: {one.message}" for one in found[:SHOWN_BLOCKERS]]
    return " ".join([*lines, "…"] if len(found) > SHOWN_BLOCKERS else lines)
