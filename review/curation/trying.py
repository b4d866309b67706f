"""Trying a check item before it is published: what its rules find beside what the version in force finds.

Nothing is stored but the audit line. No model is asked: what a model would say of a draft, the evaluation measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.access.services import record_event
from hub.access.turns import Turns
from hub.core.errors import Conflict, InvalidInput
from hub.core.languages import shown
from hub.core.patterns import patterns_within
from hub.core.processes import PerProcess
from knowledge.documents.documents import get_document
from knowledge.guidelines.editions import articles_of, editions_in_force
from knowledge.models import Document, VersionContent
from knowledge.ontology.store import topics_for
from knowledge.types.notices import Notice
from review.evidence import locate, quote
from review.judging.engine import CheckSpec, Judgement, judge, unique_findings
from review.judging.excerpts import plain_target
from review.masters.content import ItemContent
from review.masters.lint import Weight, lint_item
from review.masters.listing import content_of, get_checklist, list_check_items
from review.models import CheckItemVersion, RelatedVersion, Review, ReviewStatus
from review.runs.related import RelatedGoneError, related_of
from review.runs.reviews import get_review, list_reviews, record_view
from review.types import FindingDraft, RuleInput, Severity, Verdict

MOST_REVIEWS = 30
# Of processor time for the patterns of one try; the page tries again as one types.
PATTERNS_S = 5.0
_turns = PerProcess(lambda: Turns(most=2, most_waiting=2, wait_s=20.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedFinding:
    """A finding of a try. ``quote`` is empty, and ``section_path`` too, for what is missing."""

    message: str
    severity: Severity
    quote: str
    section_path: Sequence[str]
    start: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTrial:
    """What a draft changes on one document. ``before`` is None where no version of the item is in force."""

    document: Document
    before: Verdict | None
    after: Verdict
    appeared: Sequence[TriedFinding]
    gone: Sequence[TriedFinding]
    kept: Sequence[TriedFinding]
    notices: Sequence[Notice]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """The verdict of an item's rules on what a review looked at: of the version in force, and of a draft."""

    review: Review
    before: Verdict | None
    after: Verdict

    @property
    def is_change(self) -> bool:
        return self.before is not self.after


def try_item(*, principal: Principal, content: ItemContent, document_id: str) -> ItemTrial:
    """Judge a document, as it is now, by the rules of a draft and by those of the version in force.

    Topics of the ontology are those of the check list in force that holds the item. Raises Forbidden, NotFound,
    InvalidInput (the lint has errors: patterns that can't be used, unknown rules), Conflict (no text).
    """
    principal.require_hub(HubRight.MASTERS)
    document = get_document(principal, document_id, scope=Scope.REVIEW)
    version = document.current_version
    stored = VersionContent.objects.filter(version=version).first() if version else None
    if version is None or stored is None:
        raise Conflict(_("{path} has no text that could be judged."), path=document.path)
    _require_usable(content)
    current, domain = _in_force(principal, content.code)
    target = _with_masters(plain_target(version, stored), domain)
    before, after = _judge_both(principal, current, content, target)
    record_event(
        principal, "DOCUMENT_READ", f"document:{document.public_id}", part="item_trial", check_item=content.code
    )
    return _trial(document, content.code, target, before, after)


def reviews_to_compare(principal: Principal, checklist: str) -> list[Review]:
    """The last MOST_REVIEWS finished reviews by a check list that the caller may read, the newest first.

    Those with related documents that the caller may not read are left out: a draft could be made to ask about them.
    """
    principal.require_hub(HubRight.MASTERS)
    done = list_reviews(principal).filter(
        checklist_version__checklist=get_checklist(checklist), status=ReviewStatus.COMPLETED, version__isnull=False
    )
    readable = Document.objects.visible_to(principal).values("pk")
    hidden = RelatedVersion.objects.filter(review=OuterRef("pk")).exclude(version__document__in=readable)
    return list(done.exclude(Exists(hidden)).select_related("version__document")[:MOST_REVIEWS])


def compare_verdicts(*, principal: Principal, content: ItemContent, review_id: str) -> VerdictChange:
    """Judge what a review looked at, with what it compared that with, by a draft and by the version in force.

    Raises what ``try_item`` raises, and NotFound for a review that is hidden or has hidden related documents.
    """
    principal.require_hub(HubRight.MASTERS)
    review = get_review(principal, review_id)
    stored = VersionContent.objects.filter(pk=review.version_id).first() if review.version_id else None
    if review.version is None or stored is None:
        raise Conflict(_("The document of this review has been deleted."), code="document_gone")
    for document_id in review.related.values_list("document_id_text", flat=True):
        get_document(principal, document_id)
    _require_usable(content)
    current, _domain = _in_force(principal, content.code)
    target = _with_masters(plain_target(review.version, stored), review.checklist_version.checklist.ontology_domain)
    try:
        target = replace(target, related=related_of(review))
    except RelatedGoneError as error:
        raise Conflict(_("A related document of this review has been deleted."), code="document_gone") from error
    before, after = _judge_both(principal, current, content, target)
    record_view(principal, review, part="item_trial", check_item=content.code)
    return VerdictChange(review=review, before=before.verdict if before else None, after=after.verdict)


def unusable(content: ItemContent) -> list[str]:
    """Say what of a draft's criteria can't be judged by: unknown rules, patterns that are none. What else it lacks does
    not keep it from being tried."""
    errors = [each for each in lint_item(content) if each.weight is Weight.ERROR and each.code != "untestable"]
    return [shown(each.message) for each in errors if each.field.startswith("criteria.")]


def _require_usable(content: ItemContent) -> None:
    if wrong := unusable(content):
        raise InvalidInput(_("It can't be tried yet: {remarks}"), code="master_lint_errors", remarks="; ".join(wrong))


def _in_force(principal: Principal, code: str) -> tuple[CheckItemVersion | None, str]:
    """The version of an item that reviews use today, and the ontology of its check list."""
    found = list_check_items(principal, code=code)
    return (found[0][1], found[0][0].ontology_domain) if found else (None, "")


def _with_masters(target: RuleInput, domain: str) -> RuleInput:
    articles = articles_of([edition.pk for edition in editions_in_force()])
    return replace(target, topics=topics_for(domain) if domain else (), articles=articles)


def _judge_both(
    principal: Principal, current: CheckItemVersion | None, content: ItemContent, target: RuleInput
) -> tuple[Judgement | None, Judgement]:
    with _turns.get().taken_by(principal), patterns_within(PATTERNS_S):
        before = judge(_spec(content_of(current)), target) if current else None
        return before, judge(_spec(content), target)


def _spec(content: ItemContent) -> CheckSpec:
    return CheckSpec(
        code=content.code, check_type=content.check_type, strategy=content.strategy, criteria=content.criteria
    )


def _trial(document: Document, code: str, target: RuleInput, before: Judgement | None, after: Judgement) -> ItemTrial:
    old = dict(unique_findings(code, before.findings)) if before else {}
    new = dict(unique_findings(code, after.findings))
    return ItemTrial(
        document=document,
        before=before.verdict if before else None,
        after=after.verdict,
        appeared=[_tried(draft, document, target) for name, draft in new.items() if name not in old],
        gone=[_tried(draft, document, target) for name, draft in old.items() if name not in new],
        kept=[_tried(draft, document, target) for name, draft in new.items() if name in old],
        notices=after.notices,
    )


def _tried(draft: FindingDraft, document: Document, target: RuleInput) -> TriedFinding:
    place = draft.location
    located = locate(target.text, target.sections, target.blocks, place)
    return TriedFinding(
        message=shown(draft.message),
        severity=draft.severity,
        quote=quote(document.public_id, target.text, place)["quote"] if place else "",
        section_path=located["section_path"],
        start=place.start if place else None,
    )
