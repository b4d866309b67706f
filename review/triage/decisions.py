"""What people do with findings: decide, comment, assign, answer. Each change is kept in the finding's history.

Every change first locks the finding's review, so that two people's changes come one after the other and a review that
was signed off stays as it was signed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime
from typing import Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope, system_principal
from hub.access.services import record_event
from hub.core.bounds import LONG_TEXT
from hub.core.errors import Conflict, InvalidInput, NotFound, not_one_of
from hub.core.scheduled_rows import Outcome, for_each_row
from review.models import (
    COUNTED_STATES,
    EventKind,
    Finding,
    FindingAnswer,
    FindingEvent,
    FindingState,
    Review,
    Triage,
)
from review.triage.assigning import find_assignee
from review.triage.overtaken import CHANGED_MEANWHILE, Changed, Overtaken, split_overtaken
from review.triage.verdicts import lock_for_change, recompute

MAX_BULK = 1000
MAX_TEXT = LONG_TEXT
EXPIRY_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The author's answer, as a row of the 指摘管理表 has it."""

    plan: str = ""
    text: str = ""
    answered_by: str = ""
    answered_on: date | None = None


ANSWER_FIELDS = tuple(field.name for field in fields(Answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageChange:
    """What to change; None leaves a field as it is, and "" takes the ``assignee`` (a user name) or ``due_on`` away.

    ``revision`` is the finding's revision that the person has seen; another one by now is a Conflict.
    """

    triage: str | None = None
    reason: str = ""
    comment: str = ""
    expires_at: datetime | None = None
    assignee: str | None = None
    due_on: date | Literal[""] | None = None
    answer: Answer | None = None
    revision: int | None = None


def triage_finding(*, principal: Principal, finding_id: str, change: TriageChange) -> Finding:
    """Change one finding. Raises NotFound, InvalidInput, Conflict (signed off, unfinished, changed meanwhile)."""
    return triage_findings(principal=principal, finding_ids=[finding_id], change=change)[0]


@transaction.atomic
def triage_findings(*, principal: Principal, finding_ids: Sequence[str], change: TriageChange) -> list[Finding]:
    """Change several findings of one or more reviews alike, all or none. Raises what ``triage_finding`` does."""
    findings = _locked(principal, finding_ids, change)
    if overtaken := [one for one in (_conflict_of(finding, change.revision) for finding in findings) if one]:
        raise Overtaken(overtaken)
    _change_alike(principal, findings, change)
    return findings


@transaction.atomic
def triage_seen_findings(*, principal: Principal, seen: Mapping[str, int], change: TriageChange) -> Changed[Finding]:
    """Change several findings alike, but for those that somebody else changed since the person saw them.

    ``seen`` are the revisions that the person saw, by finding; that of ``change`` does not count. Raises what
    ``triage_finding`` does; Conflict also where somebody else was faster with all of them.
    """
    findings = _locked(principal, list(seen), change)
    changed = split_overtaken(findings, lambda finding: _conflict_of(finding, seen[finding.public_id]))
    _change_alike(principal, changed.rows, change)
    return changed


def _locked(principal: Principal, finding_ids: Sequence[str], change: TriageChange) -> list[Finding]:
    """Check what is asked, lock the reviews of the findings, and return these as they are now, in the order given."""
    principal.require(Scope.TRIAGE)
    wanted = list(dict.fromkeys(finding_ids))
    if not 0 < len(wanted) <= MAX_BULK:
        raise InvalidInput(_("finding_ids: give 1 to {limit} findings."), limit=MAX_BULK, field="finding_ids")
    _check(change, now=timezone.now())
    reviews = _reviews_of(principal, wanted)
    for review in reviews:
        lock_for_change(review)
    # read after the reviews are locked: what is read now stays
    rows = Finding.objects.select_related("result__review", "assignee", "answer")
    by_id = {row.public_id: row for row in rows.filter(public_id__in=wanted, result__review__in=reviews)}
    return [by_id[one] for one in wanted if one in by_id]


def _change_alike(principal: Principal, findings: Sequence[Finding], change: TriageChange) -> None:
    """Change findings of locked reviews, bring the verdicts in line, and write a line for each review."""
    assignee = find_assignee(change.assignee, findings)
    for finding in findings:
        _apply(principal, finding, change, assignee)
    recompute({finding.result for finding in findings})
    changed = defaultdict[str, list[str]](list)
    for finding in findings:
        changed[finding.result.review.public_id].append(finding.public_id)
    for review_id, names in changed.items():
        record_event(principal, "FINDING_TRIAGE", f"review:{review_id}", findings=names[:50], triage=change.triage)


@transaction.atomic
def promote_finding(*, principal: Principal, finding_id: str, reason: str = "", revision: int | None = None) -> Finding:
    """Say that a finding counts after all, which a model overturned or only proposed.

    Raises NotFound, InvalidInput, Conflict (it counts already, signed off, unfinished, changed meanwhile).
    """
    principal.require(Scope.TRIAGE)
    principal.require(Scope.READ)
    if len(reason) > MAX_TEXT:
        raise InvalidInput(_("{field}: at most {limit} characters."), field="reason", limit=MAX_TEXT)
    review = _reviews_of(principal, [finding_id])[0]
    lock_for_change(review)
    finding = Finding.objects.select_related("result__review").get(public_id=finding_id)
    if conflict := _conflict_of(finding, revision):
        raise conflict
    if finding.state in COUNTED_STATES:
        raise Conflict(_("The finding counts already."), code="counts_already")
    FindingEvent.objects.create(
        finding=finding,
        kind=EventKind.PROMOTE,
        before=finding.state,
        after=FindingState.PROMOTED,
        text=reason.strip(),
        actor_id=principal.user_id,
        actor_name=principal.name,
    )
    finding.state = FindingState.PROMOTED
    finding.revision += 1
    finding.save(update_fields=["state", "revision"])
    recompute({finding.result})
    record_event(principal, "FINDING_PROMOTE", f"review:{review.public_id}", finding=finding_id)
    return finding


def finding_history(principal: Principal, finding_id: str) -> QuerySet[FindingEvent]:
    """The lines of a finding's history, oldest first; reading is written to the audit trail. Raises NotFound."""
    principal.require(Scope.READ)
    found = Finding.objects.visible_to(principal).select_related("result__review")
    finding = found.filter(public_id=finding_id).first()
    if finding is None:
        raise _unknown([finding_id])
    resource = f"review:{finding.result.review.public_id}"
    record_event(principal, "RESULT_VIEW", resource, part="finding", finding=finding_id)
    return finding.events.order_by("id")


def _unknown(ids: Iterable[str]) -> NotFound:
    return NotFound(_('There is no finding "{finding_id}".'), code="finding_not_found", finding_id=", ".join(ids))


def _reviews_of(principal: Principal, wanted: Sequence[str]) -> list[Review]:
    found = Finding.objects.visible_to(principal, Scope.TRIAGE).filter(public_id__in=wanted)
    reviews = dict(found.values_list("public_id", "result__review_id"))
    if missing := [one for one in wanted if one not in reviews]:
        raise _unknown(missing[:5])
    # always in the same order, so that two people's bulk changes never wait for each other
    return list(Review.objects.filter(pk__in=set(reviews.values())).order_by("pk"))


def _check(change: TriageChange, *, now: datetime) -> None:
    if change.triage is not None and change.triage not in Triage.values:
        raise not_one_of("triage", change.triage, Triage.values)
    _check_waiver(change, now=now)
    for name in ("reason", "comment"):
        if len(getattr(change, name)) > MAX_TEXT:
            raise InvalidInput(_("{field}: at most {limit} characters."), field=name, limit=MAX_TEXT)
    if change.triage is None and change.reason and not change.comment:
        raise InvalidInput(_("reason: it belongs to a triage state; for a remark use comment."), field="reason")
    given = (change.triage, change.assignee, change.due_on, change.answer)
    if all(one is None for one in given) and not change.comment.strip():
        raise InvalidInput(_("Nothing to change: give triage, comment, assignee or due_on."))


def _check_waiver(change: TriageChange, *, now: datetime) -> None:
    """A waiver has a reason and a day to come when it ends; nothing else ends."""
    if change.triage != Triage.WAIVED:
        if change.expires_at is not None:
            raise InvalidInput(
                _("expires_at: only waivers end; leave it out, or set triage to waived."), field="expires_at"
            )
        return
    if not change.reason.strip() and change.expires_at is None:
        raise InvalidInput(_("A waiver needs a reason and the day when it ends."), field="reason")
    if not change.reason.strip():
        raise InvalidInput(_("A waiver needs a reason."), field="reason")
    if change.expires_at is None:
        raise InvalidInput(_("A waiver needs the day when it ends."), field="expires_at")
    if change.expires_at <= now:
        raise InvalidInput(_("A waiver must end in the future."), field="expires_at")


def _conflict_of(finding: Finding, revision: int | None) -> Conflict | None:
    """Say who changed a finding since it was in a revision; None where nobody did, or no revision was seen."""
    if revision is None or revision == finding.revision:
        return None
    return Conflict(
        _("The finding was changed by {who} meanwhile (revision {now}, not {given}). Read it again first."),
        code=CHANGED_MEANWHILE,
        finding_id=finding.public_id,
        who=finding.events.order_by("-id").values_list("actor_name", flat=True).first() or "-",
        now=finding.revision,
        given=revision,
    )


def _apply(principal: Principal, finding: Finding, change: TriageChange, assignee: User | None) -> None:
    if change.triage is not None and finding.state not in COUNTED_STATES:
        raise Conflict(
            _("The finding {finding_id} does not count: promote it before you decide on it."),
            code="not_counted",
            finding_id=finding.public_id,
        )
    events = [
        *_decide(principal, finding, change),
        *_assign(finding, change, assignee),
        *_set_due(finding, change),
        *_answer(finding, change.answer),
    ]
    if change.comment.strip():
        events.append(FindingEvent(kind=EventKind.COMMENT, text=change.comment.strip()))
    for event in events:
        event.finding, event.actor_id, event.actor_name = finding, principal.user_id, principal.name
    FindingEvent.objects.bulk_create(events)
    if events:
        finding.revision += 1
        # never the whole row: what was loaded may lack quotes that this caller may not see
        finding.save(update_fields=[*TRIAGE_FIELDS, "assignee", "due_on", "revision"])


TRIAGE_FIELDS = ("triage", "triage_reason", "triaged_by", "triaged_at", "expires_at")


def _decide(principal: Principal, finding: Finding, change: TriageChange) -> list[FindingEvent]:
    reason = change.reason.strip()
    if change.triage is None:
        return []
    if (change.triage, reason, change.expires_at) == (finding.triage, finding.triage_reason, finding.expires_at):
        return []
    event = FindingEvent(
        kind=EventKind.TRIAGE, before=finding.triage, after=change.triage, text=reason, expires_at=change.expires_at
    )
    finding.triage, finding.triage_reason, finding.expires_at = change.triage, reason, change.expires_at
    finding.triaged_by, finding.triaged_at = principal.name, timezone.now()
    return [event]


def _assign(finding: Finding, change: TriageChange, assignee: User | None) -> list[FindingEvent]:
    if change.assignee is None or finding.assignee == assignee:
        return []
    before = finding.assignee.get_username() if finding.assignee else ""
    finding.assignee = assignee
    return [FindingEvent(kind=EventKind.ASSIGN, before=before, after=assignee.get_username() if assignee else "")]


def _set_due(finding: Finding, change: TriageChange) -> list[FindingEvent]:
    due_on = change.due_on or None
    if change.due_on is None or finding.due_on == due_on:
        return []
    days = [day.isoformat() if day else "" for day in (finding.due_on, due_on)]
    finding.due_on = due_on
    return [FindingEvent(kind=EventKind.DUE, before=days[0], after=days[1])]


def _answer(finding: Finding, answer: Answer | None) -> list[FindingEvent]:
    if answer is None or answer == answer_of(finding):
        return []
    FindingAnswer.objects.update_or_create(finding=finding, defaults=asdict(answer))
    text = "\n".join(part for part in (answer.plan, answer.text) if part)
    return [FindingEvent(kind=EventKind.ANSWER, after=answer.answered_by, text=text)]


def answer_of(finding: Finding) -> Answer:
    """The answer that is stored with a finding, empty when there is none."""
    row: FindingAnswer | None = getattr(finding, "answer", None)
    return Answer(**{name: getattr(row, name) for name in ANSWER_FIELDS}) if row else Answer()


def set_state(
    finding: Finding,
    state: Triage,
    principal: Principal,
    *,
    kind: EventKind,
    now: datetime,
    origin: str = "",
) -> None:
    """Set a finding's state, which takes its reason and end away, and write a line of its history."""
    FindingEvent.objects.create(
        finding=finding,
        kind=kind,
        before=finding.triage,
        after=state,
        origin=origin,
        expires_at=finding.expires_at,
        actor_id=principal.user_id,
        actor_name=principal.name,
    )
    finding.triage, finding.triage_reason, finding.expires_at = state, "", None
    finding.triaged_by, finding.triaged_at = principal.name, now
    finding.revision += 1
    finding.save(update_fields=[*TRIAGE_FIELDS, "revision"])


def reopen_expired_waivers(*, now: datetime) -> Outcome[int]:
    """Open findings again whose waiver has ended, in reviews that are not signed off; gives their number by review.

    Safe to repeat and to kill: each review is one transaction, and one that fails does not keep the others waiting.
    """
    due = Finding.objects.filter(
        triage=Triage.WAIVED, expires_at__lte=now, result__review__signed_at__isnull=True
    ).values_list("result__review_id", "result__review__public_id")
    return for_each_row(
        "review.reopen_waivers",
        list(due.order_by().distinct()[:EXPIRY_BATCH]),
        lambda review: reopen_expired_waivers_of(review[0], now=now),
        name=lambda review: review[1],
    )


@transaction.atomic
def reopen_expired_waivers_of(review_id: int, *, now: datetime) -> int:
    """Open a review's findings again whose waiver has ended, unless it is signed off; gives their number.

    ``review_id`` is the row's key; permissions are not applied.
    """
    review = Review.objects.select_for_update().filter(pk=review_id, signed_at__isnull=True).first()
    if review is None:
        return 0
    expired = Finding.objects.filter(result__review=review, triage=Triage.WAIVED, expires_at__lte=now)
    findings = list(expired.select_related("result__review"))
    principal = system_principal("waivers")
    for finding in findings:
        set_state(finding, Triage.OPEN, principal, kind=EventKind.REOPEN, now=now)
    recompute({finding.result for finding in findings})
    if findings:
        review.signatures.all().delete()
        record_event(
            principal,
            "WAIVER_EXPIRED",
            f"review:{review.public_id}",
            findings=[finding.public_id for finding in findings][:50],
        )
    return len(findings)
