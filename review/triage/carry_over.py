"""Carrying over what people decided in an earlier review of a document to the review of its next version.

A person asks for it. What is matched takes over state, assignee and comments, each with a note of where it came from;
what nobody finds any more is closed in the earlier review. A decision to let something pass (rejected, waived) never
reaches evidence that is not what was decided about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Prefetch
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput
from knowledge.models import VersionContent
from knowledge.text.sentences import sentences_around
from review.models import COUNTED, UNFINISHED, CarryMark, EventKind, Finding, FindingEvent, Review, ReviewStatus, Triage
from review.runs.reviews import get_review
from review.triage.assigning import may_be_given
from review.triage.comparing import Comparison, compare_reviews
from review.triage.decisions import TRIAGE_FIELDS, set_state
from review.triage.matching import names_in
from review.triage.schemas import CarryOut
from review.triage.verdicts import lock_for_change, recompute

LET_PASS = (Triage.REJECTED, Triage.WAIVED)


class CarryOffer(NamedTuple):
    """An earlier review whose decisions could be carried over, and how many of its findings people decided."""

    base: Review
    decided: int


def carry_offer(principal: Principal, review: Review) -> CarryOffer | None:
    """Find what could be carried over to a review; None when there is nothing, or it was done already. Two queries.

    Expects what ``services.get_review`` selects.
    """
    if review.status != ReviewStatus.COMPLETED or review.signed_at is not None:
        return None
    if any(finding.carried for result in review.results.all() for finding in result.findings.all()):
        return None
    base = _earlier(principal, review)
    decided = Finding.objects.readable_by(principal).filter(result__review=base, revision__gt=0).count() if base else 0
    return CarryOffer(base, decided) if base and decided else None


def _earlier(principal: Principal, review: Review) -> Review | None:
    """The newest completed review of the document before this one."""
    of_document = Review.objects.visible_to(principal, Scope.TRIAGE).filter(document_id_text=review.document_id_text)
    of_document = of_document.select_related("checklist_version__checklist")
    return of_document.filter(status=ReviewStatus.COMPLETED, pk__lt=review.pk).order_by("-pk").first()


@transaction.atomic
def carry_triage(*, principal: Principal, review_id: str, base_id: str = "") -> CarryOut:
    """Carry decisions over from an earlier review, the newest one unless ``base_id`` names another.

    Findings that people have touched here keep what they have, so doing it twice changes nothing. Raises NotFound,
    InvalidInput (no earlier review of this document), Conflict (unfinished, signed off).
    """
    review = get_review(principal, review_id, scope=Scope.TRIAGE)
    base = get_review(principal, base_id, scope=Scope.TRIAGE) if base_id else _earlier(principal, review)
    if base is None:
        raise Conflict(_("There is no earlier review of this document to carry over from."), code="no_earlier_review")
    if base.pk >= review.pk:
        raise InvalidInput(_("base: {base_id} is not earlier than this review."), base_id=base_id, field="base")
    if base.status in UNFINISHED:
        raise Conflict(
            _("The review {review_id} is not finished yet. Wait until it is, or cancel it."),
            code="review_unfinished",
            review_id=base.public_id,
        )
    # always in the same order, as triage does
    list(Review.objects.select_for_update(of=("self",)).filter(pk__in=(base.pk, review.pk)).order_by("pk"))
    lock_for_change(review)
    comparison = compare_reviews(principal, review_id, base_id=base.public_id)
    carrying = _Carrying(principal=principal, base=base, review=review, now=timezone.now())
    done = carrying.carry(comparison)
    closed = carrying.close(comparison) if base.signed_at is None else 0
    record_event(
        principal, "TRIAGE_CARRY", f"review:{review_id}", base=base.public_id, carried=done.carried, closed=closed
    )
    return done.model_copy(update={"closed": closed})


class Carried(NamedTuple):
    """What a finding takes over from an earlier one."""

    triage: str
    reason: str
    expires_at: datetime | None


def what_to_carry(before: Finding, *, mark: CarryMark, now: datetime) -> Carried:
    """Give what a finding takes over. Open is what was fixed and is still there, and a waiver that has ended.

    Rejecting and waiving are taken over where the evidence is the same; on other evidence nobody has decided.
    """
    is_over = before.expires_at is not None and before.expires_at <= now
    if before.triage == Triage.FIXED or is_over or (before.triage in LET_PASS and mark == CarryMark.CHANGED):
        return Carried(Triage.OPEN, "", None)
    return Carried(before.triage, before.triage_reason, before.expires_at)


def carried_in_words(done: CarryOut) -> str:
    """Say what was carried over, in the active language."""
    text = gettext(
        "Carried over: {carried}, of these moved: {moved}, with other evidence: {changed}. Closed: {closed}."
    )
    return text.format(**done.model_dump())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Carrying:
    """One act of carrying over, in the name of a person."""

    principal: Principal
    base: Review
    review: Review
    now: datetime

    def carry(self, comparison: Comparison) -> CarryOut:
        """Let each matched finding that nobody has touched take over the earlier decision."""
        moved = {pair[1] for pair in comparison.matching.moved}
        # what the comparison holds may lack quotes that the caller may not see; these are the stored rows
        before = _rows(self.base, (comparison.base_findings[one][1].pk for one, _other in _pairs(comparison)))
        after = _rows(self.review, (comparison.findings[other][1].pk for _one, other in _pairs(comparison)))
        texts = self._texts()
        nothing = dict.fromkeys(("carried", "moved", "changed", "reopened", "closed"), 0)
        done = CarryOut(review_id=self.review.public_id, base_review_id=self.base.public_id, **nothing)
        touched = []
        for one, other in _pairs(comparison):
            old, new = before[comparison.base_findings[one][1].pk], after[comparison.findings[other][1].pk]
            if old.revision == 0 or new.revision:
                continue
            mark = CarryMark.MOVED if other in moved else CarryMark.SAME
            if not is_same_evidence(old, texts[self.base.version_id], new, texts[self.review.version_id]):
                mark = CarryMark.CHANGED
            carried = what_to_carry(old, mark=mark, now=self.now)
            self._apply(old, new, carried, mark)
            touched.append(new)
            done.carried += 1
            done.moved += mark == CarryMark.MOVED
            done.changed += mark == CarryMark.CHANGED
            done.reopened += carried.triage == Triage.OPEN != old.triage
        recompute({finding.result for finding in touched})
        return done

    def _texts(self) -> Mapping[int | None, str]:
        """The Markdown of both versions by their keys; of a deleted version there are no findings with places."""
        contents = VersionContent.objects.filter(pk__in=(self.base.version_id, self.review.version_id))
        return defaultdict(str, contents.values_list("pk", "markdown"))

    def _apply(self, old: Finding, new: Finding, carried: Carried, mark: CarryMark) -> None:
        new.triage, new.triage_reason, new.expires_at = carried
        if carried.triage != Triage.OPEN:
            new.triaged_by, new.triaged_at = old.triaged_by, old.triaged_at
        # what people said of the earlier finding is for those who may read what that one rests on
        new.rests_on = sorted({*new.rests_on, *old.rests_on})
        new.assignee = old.assignee if old.assignee and may_be_given(old.assignee, [old, new]) else None
        new.due_on = old.due_on
        new.carried = {
            "review_id": self.base.public_id,
            "finding_id": old.public_id,
            "version": self.base.version_number,
            "triage": old.triage,
            "mark": mark.value,
        }
        new.revision += 1
        new.save(update_fields=[*TRIAGE_FIELDS, "assignee", "due_on", "carried", "rests_on", "revision"])
        FindingEvent.objects.bulk_create([*_comments(old, new), self._note(old, new, carried)])

    def _note(self, old: Finding, new: Finding, carried: Carried) -> FindingEvent:
        """Say in the history what was decided before, also where it was not taken over."""
        return FindingEvent(
            finding=new,
            kind=EventKind.CARRY,
            before=old.triage,
            after=carried.triage,
            text=old.triage_reason,
            origin=old.public_id,
            expires_at=carried.expires_at,
            actor_id=self.principal.user_id,
            actor_name=self.principal.name,
        )

    def close(self, comparison: Comparison) -> int:
        """Set to fixed what stood in the earlier review and is gone; gives the number."""
        gone = [comparison.base_findings[index][1].pk for index in comparison.matching.fixed]
        findings = [row for row in _rows(self.base, gone).values() if row.triage in COUNTED]
        if findings:
            lock_for_change(self.base)
        for finding in findings:
            origin = self.review.public_id
            set_state(finding, Triage.FIXED, self.principal, kind=EventKind.TRIAGE, now=self.now, origin=origin)
        recompute({finding.result for finding in findings})
        return len(findings)


def _pairs(comparison: Comparison) -> Iterator[tuple[int, int]]:
    yield from comparison.matching.open
    yield from comparison.matching.moved


def _rows(review: Review, ids: Iterable[int]) -> Mapping[int, Finding]:
    """The stored findings by their keys, with what carrying over reads."""
    spoken = FindingEvent.objects.filter(kind=EventKind.COMMENT).order_by("id")
    rows = Finding.objects.filter(result__review=review).select_related("result__review", "assignee")
    return rows.prefetch_related(Prefetch("events", queryset=spoken)).in_bulk(list(ids))


def _comments(old: Finding, new: Finding) -> list[FindingEvent]:
    """Give the comments with their authors and days; each names the finding that it was made on."""
    return [
        FindingEvent(
            finding=new,
            kind=EventKind.COMMENT,
            text=event.text,
            origin=event.origin or old.public_id,
            actor_id=event.actor_id,
            actor_name=event.actor_name,
            at=event.at,
        )
        for event in old.events.all()
    ]


def is_same_evidence(before: Finding, old_text: str, after: Finding, new_text: str) -> bool:
    """Return whether two findings quote the same sentences, and have the same names, topic and severity.

    The texts are those that the findings' own evidence refers to. Expects the findings' reviews to be selected.
    """
    return (
        _sentences(before, old_text) == _sentences(after, new_text)
        and names_in(before.data) == names_in(after.data)
        and before.data.get("topic") == after.data.get("topic")
        and before.severity == after.severity
    )


def _sentences(finding: Finding, text: str) -> list[str]:
    """The sentences around the quotes, without spaces: a quote may be one word of what was decided about.

    Quotes of other documents, and those that could not be found, stand for themselves.
    """
    own = finding.result.review.document_id_text
    return sorted(
        "".join(text[slice(*sentences_around(text, item["start_offset"], item["end_offset"]))].split())
        if item["document_id"] == own and item["verified"]
        else "".join(str(item["quote"]).split())
        for item in finding.evidence
    )
