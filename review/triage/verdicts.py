"""Verdicts after people had their say: recomputed from the findings that count, or given by a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound, not_one_of
from hub.core.texts import UNSTORABLE
from review.judging.engine import overall_verdict, verdict_of
from review.models import COUNTED, UNFINISHED, CheckResult, FindingState, ResultDecision, Review
from review.runs.related import require_all_findings
from review.triage.overtaken import CHANGED_MEANWHILE, Changed, split_overtaken
from review.types import Severity, Verdict

HUMAN = "human"
PERSONS_VERDICTS = (Verdict.PASS, Verdict.WARNING, Verdict.FAIL, Verdict.NOT_APPLICABLE)
UNDECIDED = (Verdict.ERROR, Verdict.SKIPPED)


def may_decide(principal: Principal, review: Review) -> bool:
    """Whether the caller may decide in a review, and nobody has signed it off. One query."""
    reviews = Review.objects.visible_to(principal, Scope.TRIAGE)
    return review.signed_at is None and reviews.filter(pk=review.pk).exists()


def lock_for_change(review: Review) -> None:
    """Hold the review until the transaction ends. Raises Conflict when it runs or is signed off.

    Signatures that are not yet enough are withdrawn: they were given to another result.
    """
    locked = Review.objects.select_for_update(of=("self",)).get(pk=review.pk)
    if locked.signed_at is not None:
        raise Conflict(
            _("The review {review_id} was signed off; it can't be changed. Start a new review."),
            code="review_signed",
            review_id=locked.public_id,
        )
    if locked.status in UNFINISHED:
        raise Conflict(
            _("The review {review_id} is not finished yet. Wait until it is, or cancel it."),
            code="review_unfinished",
            review_id=locked.public_id,
        )
    locked.signatures.all().delete()


def recompute(results: Iterable[CheckResult]) -> None:
    """Bring the verdicts of checks, and of their reviews, in line with the findings that count.

    What a person decided stays, and so do errors and skipped checks: no finding is behind them, unless a person has
    promoted one.
    """
    changed = set()
    for result in results:
        if result.method != HUMAN:
            _settle(result)
        changed.add(result.review_id)
    for review in Review.objects.filter(pk__in=changed):
        _settle_review(review)


def _settle(result: CheckResult) -> None:
    rows = list(result.findings.counted().values_list("severity", "triage", "state"))
    original = result.original_verdict or result.verdict
    counted = [Severity(severity) for severity, triage, _state in rows if triage in COUNTED]
    is_as_found = len(counted) == len(rows) and all(state == FindingState.FOUND for _severity, _triage, state in rows)
    if original in UNDECIDED:
        promoted = [Severity(row[0]) for row in rows if row[2] == FindingState.PROMOTED and row[1] in COUNTED]
        verdict = verdict_of(promoted) if promoted else original
    else:
        verdict = original if is_as_found else verdict_of(counted)
    if verdict == result.verdict:
        return
    result.original_verdict, result.original_method = original, result.original_method or result.method
    result.verdict = verdict
    result.revision += 1
    result.save(update_fields=["verdict", "original_verdict", "original_method", "revision"])


def _settle_review(review: Review) -> None:
    verdicts = [Verdict(verdict) for verdict in review.results.values_list("verdict", flat=True)]
    Review.objects.filter(pk=review.pk).update(verdict=overall_verdict(verdicts))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckToDecide:
    """A check of a review; ``revision`` is the one that the person has seen, another one by now is a Conflict."""

    check_item_id: str
    revision: int | None = None


def decide_result(
    *, principal: Principal, review_id: str, check_item_id: str, verdict: str, reason: str, revision: int | None = None
) -> CheckResult:
    """Record a person's verdict on a check; what the run said is kept. Raises NotFound, InvalidInput, Conflict."""
    check = CheckToDecide(check_item_id=check_item_id, revision=revision)
    decided = decide_results(principal=principal, review_id=review_id, checks=[check], verdict=verdict, reason=reason)
    return decided.rows[0]


@transaction.atomic
def decide_results(
    *, principal: Principal, review_id: str, checks: Sequence[CheckToDecide], verdict: str, reason: str
) -> Changed[CheckResult]:
    """Record a person's verdict on several checks of a review, but for those that somebody else changed since they were
    seen; in the order given.

    Raises what ``decide_result`` does; Conflict also where somebody else was faster with all of them.
    """
    if verdict not in PERSONS_VERDICTS:
        raise not_one_of("verdict", verdict, PERSONS_VERDICTS)
    if not reason.strip():
        raise InvalidInput(_("reason: a person's verdict needs a reason."), field="reason")
    review, changed = _results_to_change(principal, review_id, checks)
    for result in changed.rows:
        _store_decision(principal, result, verdict=verdict, reason=reason.strip())
    _settle_review(review)
    for result in changed.rows:
        code = result.item_version.item.code
        record_event(principal, "RESULT_DECIDE", f"review:{review_id}", check_item_id=code, verdict=verdict)
    return changed


@transaction.atomic
def take_back_verdicts(
    *, principal: Principal, review_id: str, checks: Sequence[CheckToDecide]
) -> Changed[CheckResult]:
    """Take back the last verdict that a person gave on each of several checks, but for those that somebody else changed
    since they were seen.

    What stood before stands again: an earlier person's verdict, or what the run and its findings come to. Raises
    NotFound, and Conflict, also for a check that no person has decided.
    """
    review, changed = _results_to_change(principal, review_id, checks)
    for result in changed.rows:
        _take_back(principal, result)
    _settle_review(review)
    for result in changed.rows:
        code = result.item_version.item.code
        record_event(principal, "RESULT_TAKE_BACK", f"review:{review_id}", check_item_id=code)
    return changed


def _results_to_change(
    principal: Principal, review_id: str, checks: Sequence[CheckToDecide]
) -> tuple[Review, Changed[CheckResult]]:
    """Lock the review and find its checks as they are now, without those that somebody else changed since."""
    principal.require(Scope.TRIAGE)
    principal.require(Scope.READ)
    review = Review.objects.visible_to(principal, Scope.TRIAGE).filter(public_id=review_id).first()
    if review is None:
        raise NotFound(_('There is no review "{review_id}".'), code="review_not_found", review_id=review_id)
    codes = [check.check_item_id for check in checks]
    if not codes or len(set(codes)) < len(codes):
        raise InvalidInput(_("Name one check or more, each once."), field="checks")
    lock_for_change(review)
    storable = [code for code in codes if not UNSTORABLE.search(code)]
    found = review.results.filter(item_version__item__code__in=storable).select_related("item_version__item")
    by_code = {result.item_version.item.code: result for result in found}
    for check in checks:
        if check.check_item_id not in by_code:
            raise NotFound(
                _('The review has no check "{check_item_id}".'),
                code="result_not_found",
                check_item_id=check.check_item_id,
            )
        require_all_findings(by_code[check.check_item_id], principal)
    seen = {check.check_item_id: check.revision for check in checks}
    results = (by_code[code] for code in codes)
    return review, split_overtaken(results, lambda one: _conflict_of(one, seen[one.item_version.item.code]))


def _conflict_of(result: CheckResult, revision: int | None) -> Conflict | None:
    """Say who changed a verdict since it was in a revision; None where nobody did, or no revision was seen."""
    if revision is None or revision == result.revision:
        return None
    last = result.decisions.order_by("-id").first()
    return Conflict(
        _("The verdict was changed by {who} meanwhile (revision {now}, not {given}). Read it again first."),
        code=CHANGED_MEANWHILE,
        who=(last.taken_back_by or last.actor_name) if last else "-",
        now=result.revision,
        given=revision,
        check_item_id=result.item_version.item.code,
    )


VERDICT_FIELDS = ("verdict", "method", "original_verdict", "original_method", "revision")


def _store_decision(principal: Principal, result: CheckResult, *, verdict: str, reason: str) -> None:
    ResultDecision.objects.create(
        result=result,
        before=result.verdict,
        before_method=result.method,
        verdict=verdict,
        reason=reason,
        actor_id=principal.user_id,
        actor_name=principal.name,
    )
    result.original_verdict = result.original_verdict or result.verdict
    result.original_method = result.original_method or result.method
    result.verdict, result.method = verdict, HUMAN
    result.revision += 1
    result.save(update_fields=VERDICT_FIELDS)


def _take_back(principal: Principal, result: CheckResult) -> None:
    last = result.decisions.filter(taken_back_at=None).order_by("-id").first()
    if last is None:
        raise Conflict(
            _("Nobody has decided the check {item} yet."), code="not_decided", item=result.item_version.item.code
        )
    last.taken_back_at, last.taken_back_by = timezone.now(), principal.name
    last.taken_back_actor_id = principal.user_id
    last.save(update_fields=["taken_back_at", "taken_back_by", "taken_back_actor"])
    result.verdict, result.method = last.before, last.before_method
    result.revision += 1
    result.save(update_fields=VERDICT_FIELDS)
    if result.method != HUMAN:
        _settle(result)  # findings may have been decided in between
