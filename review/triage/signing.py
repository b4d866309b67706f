"""Signing a review off: what stands in the way, who signed, and when it is final."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hub.access.models import AuditEvent
from hub.access.principals import Principal, Scope
from hub.access.services import principal_for_user, record_event
from hub.core.errors import Conflict
from hub.core.shapes import filled
from review.models import VERDICTS, Review, ReviewStatus, Signature, Triage
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
    """As ``sign_off_state``, of a review that ``get_review`` found. No query, unless two people sign and one has."""
    void = _void_signatures([review], review.signatures.all())
    return filled(
        SignOffOut,
        review,
        review_id=review.public_id,
        signed=review.signed_at is not None,
        revision=_revision(review),
        signatures_needed=_people_needed(),
        signatures=[signature_out(one) for one in review.signatures.all() if one.pk not in void],
        signatures_void=[signature_out(one) for one in review.signatures.all() if one.pk in void],
        blocking=[] if review.signed_at else list(blockers(review)),
    )


def _revision(review: Review) -> int:
    """Count the changes of all that is signed: each is one more at its check or finding, and none is ever taken off."""
    results = list(review.results.all())
    findings = [one for result in results for one in (*result.findings.all(), *result.set_aside)]
    return sum(one.revision for one in (*results, *findings))


def verdicts_to_freeze(review: Review) -> list[tuple[str, int]]:
    """The names of the checks' verdicts with the number of each that there are, of a review of ``get_review``."""
    numbers = Counter(result.verdict for result in review.results.all())
    return [(str(name), numbers[code]) for code, name in VERDICTS if numbers[code]]


def states_to_freeze(review: Review) -> list[tuple[str, int]]:
    """As ``verdicts_to_freeze``, of the states of the findings that count."""
    numbers = Counter(finding.triage for result in review.results.all() for finding in result.findings.all())
    return [(str(name), numbers[code]) for code, name in Triage.choices if numbers[code]]


def with_signatures_noted(reviews: QuerySet[Review]) -> QuerySet[Review]:
    """Annotate ``has_signatures``: whether anybody has signed the review."""
    return reviews.annotate(has_signatures=HasSignatures(F("pk")))


def sign_off_labels(reviews: Sequence[Review]) -> dict[int, str]:
    """Say of each review, by its key, that it is signed off, or waits for a second signature; empty where no signature
    counts.

    Expects what :func:`with_signatures_noted` annotates, and the documents selected. No query where nobody has signed,
    else as ``waiting_for_second``.
    """
    waiting = waiting_for_second([one for one in reviews if one.__dict__["has_signatures"]])
    return {one.pk: _sign_off_label(one, is_waiting=one.pk in waiting) for one in reviews}


def _sign_off_label(review: Review, *, is_waiting: bool) -> str:
    if review.signed_at is not None:
        return gettext("signed off on {day}").format(day=f"{timezone.localtime(review.signed_at):%Y-%m-%d}")
    return gettext("waits for a second signature") if is_waiting else ""


def waiting_for_second(reviews: Sequence[Review]) -> set[int]:
    """The keys of the reviews that nobody has signed off, and of which somebody's signature counts.

    One query, and those of ``_void_signatures``; none where all are signed off. Expects the documents selected.
    """
    unsigned = [one for one in reviews if one.signed_at is None]
    if not unsigned:
        return set()
    signatures = list(Signature.objects.filter(review__in=unsigned).select_related("signer"))
    void = _void_signatures(unsigned, signatures)
    return {one.review_id for one in signatures if one.pk not in void}


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


def sign_off(*, principal: Principal, review_id: str, comment: str = "", revision: int | None = None) -> SignOffOut:
    """Sign a review; with enough signatures it is final and can't be changed any more.

    ``revision`` is the one of ``sign_off_state`` that the caller has seen; another one by now is a Conflict. Where two
    people sign, both sign the same: a change in between takes the first signature back, and at the last one the first
    signer is asked for again, who may have lost the right to decide.

    Raises NotFound, and Conflict when something is in the way, when the caller has signed already, or when the review
    is signed off; where two people sign, also for who uploaded the document or asked for the review, and for the local
    operator.
    """
    found = get_review(principal, review_id, scope=Scope.TRIAGE)
    reopen_expired_waivers_of(found.pk, now=timezone.now())
    with transaction.atomic():
        Review.objects.select_for_update(of=("self",)).get(pk=found.pk)
        review = get_review(principal, review_id, scope=Scope.TRIAGE)  # as it is now that nobody can change it
        _refuse(review, principal, revision)
        Signature.objects.create(
            review=review, signer_id=principal.user_id, signer_name=principal.name, comment=comment.strip()
        )
        signatures = list(Signature.objects.filter(review=review).select_related("signer"))
        void = _void_signatures([review], signatures)
        given = len(signatures) - len(void)
        if given >= _people_needed():
            Signature.objects.filter(pk__in=void).delete()
            review.signed_at = timezone.now()
            review.save(update_fields=["signed_at"])
        record_event(
            principal,
            "REVIEW_SIGN_OFF",
            f"review:{review_id}",
            signatures=given,
            void=[one.signer_name for one in signatures if one.pk in void],
            final=review.signed_at is not None,
            verdict=review.verdict,
        )
    return sign_off_state(principal, review_id)


def _refuse(review: Review, principal: Principal, revision: int | None) -> None:
    if review.signed_at is not None:
        raise Conflict(
            _("The review {review_id} was signed off already."), code="review_signed", review_id=review.public_id
        )
    if refusal := refusal_of_signer(principal, review):
        raise refusal
    _refuse_stale(review, revision)
    if found := list(blockers(review)):
        raise Conflict(
            _("The review can't be signed off yet. {count} to decide: {what}"),
            code="sign_off_blocked",
            count=len(found),
            what=_in_words(found),
        )


def refusal_of_signer(principal: Principal, review: Review) -> Conflict | None:
    """Why this person may not sign a review, whatever is left to decide in it; None where they may.

    They have signed it; or two people sign, who both are known, and neither had a hand in what is signed. At most two
    queries; that they may decide in the review is for the caller to know.
    """
    if principal.user_id is not None and any(one.signer_id == principal.user_id for one in review.signatures.all()):
        return Conflict(
            _("You have signed this review; a second person must sign it now."), code="second_person_needed"
        )
    if _people_needed() == 1:
        return None
    if principal.user_id is None:
        return Conflict(
            _("Two people have to sign this review; the local operator is nobody in particular. Sign in as a person."),
            code="no_person",
        )
    if principal.user_id in _involved([review])[review.pk]:
        return Conflict(
            _("You uploaded this document or asked for its review; two other people have to sign it."),
            code="second_person_needed",
        )
    return None


def _refuse_stale(review: Review, revision: int | None) -> None:
    if revision is None or revision == (now := _revision(review)):
        return
    raise Conflict(
        _(
            "The review was changed after you had opened it. Signing freezes now: {verdict}; checks: {checks}; "
            "findings: {findings}. Look at what has changed, and sign again if it is right."
        ),
        code="changed_meanwhile",
        now=now,
        given=revision,
        verdict=review.get_verdict_display() or "-",
        checks=_numbered(verdicts_to_freeze(review)),
        findings=_numbered(states_to_freeze(review)),
    )


def _numbered(counts: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts) or "-"


def _involved(reviews: Sequence[Review]) -> dict[int, set[int | None]]:
    """Who asked for each review, by its key, and who uploaded its document, which may be gone, each time. One query."""
    resources = {one.pk: f"document:{one.document_id_text}" for one in reviews}
    uploads = AuditEvent.objects.filter(action="DOCUMENT_UPLOAD", resource__in=set(resources.values())).order_by()
    uploaders: defaultdict[str, set[int | None]] = defaultdict(set)
    for resource, user_id in uploads.values_list("resource", "user_id").distinct():
        uploaders[resource].add(user_id)
    people = {one.pk: {one.requested_by_id, one.version.document.owner_id if one.version else None} for one in reviews}
    return {key: (named | uploaders[resources[key]]) - {None} for key, named in people.items()}


def may_sign_second(principal: Principal, review: Review) -> bool:
    """Whether two people sign, and this person could give the signature that a review still lacks. At most two queries;
    that they may decide in the review is for the caller to know.
    """
    return _people_needed() > 1 and refusal_of_signer(principal, review) is None


def _void_signatures(reviews: Sequence[Review], signatures: Iterable[Signature]) -> set[int]:
    """The keys of those of the reviews' signatures that do not count as long as a review is not signed off, where two
    people sign: of nobody in particular, of who had a hand in what is signed, and of who may not decide any more.

    One query, and at most three for each signer; none where nobody has signed. Expects the documents selected.
    """
    unsigned = {one.pk: one for one in reviews if one.signed_at is None}
    given = [one for one in signatures if one.review_id in unsigned]
    if _people_needed() == 1 or not given:
        return set()
    involved = _involved(list(unsigned.values()))
    deciding = _still_deciding(given)
    return {
        one.pk
        for one in given
        if one.signer_id in involved[one.review_id] or (one.signer_id, one.review_id) not in deciding
    }


def _still_deciding(signatures: Sequence[Signature]) -> set[tuple[int | None, int]]:
    """The signers who may still decide, each with the review that they signed."""
    signers = {one.signer_id: one.signer for one in signatures if one.signer is not None and one.signer.is_active}
    found: set[tuple[int | None, int]] = set()
    for key, signer in signers.items():
        signed = [one.review_id for one in signatures if one.signer_id == key]
        reviews = Review.objects.visible_to(principal_for_user(signer), Scope.TRIAGE).filter(pk__in=signed)
        found |= {(key, review) for review in reviews.values_list("pk", flat=True)}
    return found


def _in_words(found: Sequence[BlockerOut]) -> str:
    lines = [f"{one.finding_id or one.check_item_id or '-'}: {one.message}" for one in found[:SHOWN_BLOCKERS]]
    return " ".join([*lines, "…"] if len(found) > SHOWN_BLOCKERS else lines)
