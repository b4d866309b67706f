"""Erasing what reviews keep of a deleted document's text. Verdicts, counts, severities and places stay.

Messages, titles of sections and suggestions name words of the document as quotes do, so they go as well; what a
finding was about is still named by its rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from hub.core import bus
from hub.core.texts import Text
from knowledge.models import Document
from review.models import (
    UNFINISHED,
    CheckResult,
    Finding,
    FindingAnswer,
    FindingEvent,
    ModelSuggestion,
    RelatedVersion,
    ResultDecision,
    Review,
    ReviewStatus,
    Signature,
    Suggestion,
)
from review.rules import UnknownRuleError, get_rule
from review.types import JUDGED_BY_MODEL, Verdict

KEPT_DATA = ("topic", "topics", "class")
"""Keys of a finding's data whose values are codes of ours, never words of the document."""

ERASED = Text(ja="（文書の削除に伴い、本文の引用を消去しました）", en="(quotes were erased with the document)")
DELETED = "the document was deleted"
BATCH = 500

Item = TypeVar("Item")


def erase_reviews_of(document: Document) -> Mapping[str, int]:
    """Erase the text that reviews of a document keep, and stop those that run; counts reviews and findings.

    Reviews of other documents that were compared with it lose the findings' texts that quote it.

    To be called in the transaction that deletes the document.
    """
    reviews = Review.objects.filter(document_id_text=document.public_id)
    compared = RelatedVersion.objects.filter(document_id_text=document.public_id)
    relating = Review.objects.filter(pk__in=compared.values("review"))
    _stop(reviews | relating)
    findings = Finding.objects.filter(
        Q(result__review__in=reviews.values("pk"))
        | Q(result__review__in=relating.values("pk"), evidence__contains=[{"document_id": document.public_id}])
        | Q(rule_id=JUDGED_BY_MODEL, rests_on__contains=[document.public_id])
    )
    counts = {"reviews": reviews.count(), "findings": findings.count()}
    # the findings last: without their evidence those of other documents' reviews are no longer found
    Suggestion.objects.filter(finding__in=findings.values("pk")).update(
        content_ja=ERASED.ja, content_en=ERASED.en, rationale_ja="", rationale_en="", example=""
    )
    ModelSuggestion.objects.filter(finding__in=findings.values("pk")).delete()
    resting = Finding.objects.exclude(rests_on=[]).filter(rests_on__contains=[document.public_id])
    _erase_what_people_wrote(reviews | relating, findings | resting)
    _erase_opinions(resting)
    for batch in _batches(findings.order_by("pk").iterator(chunk_size=BATCH)):
        for finding in batch:
            _erase_finding(finding)
        Finding.objects.bulk_update(batch, ERASED_FIELDS)
    shown = Q(review__in=relating.values("pk"), judgement__related__contains=document.public_id)
    results = CheckResult.objects.filter(Q(review__in=reviews.values("pk")) | shown)
    results.exclude(judgement={}).update(judgement={})
    _erase_records(reviews)
    return counts


def _erase_opinions(findings: QuerySet[Finding]) -> None:
    """What a model says of a finding may repeat what the finding rests on; what it decided stays."""
    for batch in _batches(findings.exclude(second_opinion={}).order_by("pk").iterator(chunk_size=BATCH)):
        for finding in batch:
            finding.second_opinion = _decision_of(finding)
        Finding.objects.bulk_update(batch, ["second_opinion"])


def _erase_records(reviews: QuerySet[Review]) -> None:
    """What a replay needs of a review's steps names sections of the document; what became of the steps stays."""
    for batch in _batches(reviews.exclude(steps={}).order_by("pk").iterator(chunk_size=BATCH)):
        for review in batch:
            review.steps = {name: {**step, "record": {}} for name, step in review.steps.items()}
        Review.objects.bulk_update(batch, ["steps"])


def _erase_what_people_wrote(reviews: QuerySet[Review], findings: QuerySet[Finding]) -> None:
    """Reasons, comments and answers quote the document as well; who decided what, and when, stays."""
    of_them = findings.values("pk")
    FindingEvent.objects.filter(finding__in=of_them).update(text="")
    FindingAnswer.objects.filter(finding__in=of_them).delete()
    ResultDecision.objects.filter(result__review__in=reviews.values("pk")).update(reason="")
    Signature.objects.filter(review__in=reviews.values("pk")).update(comment="")
    findings.update(triage_reason="")


def _stop(reviews: QuerySet[Review]) -> None:
    """Whoever works on a review loses the lease first, and so writes nothing more after the erasure."""
    unfinished = list(reviews.filter(status__in=UNFINISHED).select_for_update().values_list("pk", "public_id"))
    reviews.filter(pk__in=[pk for pk, _public_id in unfinished]).update(
        status=ReviewStatus.FAILED,
        verdict=Verdict.ERROR,
        error=DELETED,
        lease_token="",
        lease_expires_at=None,
        finished_at=Now(),
    )
    for _pk, public_id in unfinished:
        bus.publish(f"review:{public_id}", {"review_id": public_id, "status": "failed", "progress": 100})


ERASED_FIELDS = (
    "message_ja",
    "message_en",
    "location",
    "evidence",
    "searched",
    "data",
    "confidence_basis_ja",
    "confidence_basis_en",
    "second_opinion",
)


def _erase_finding(finding: Finding) -> None:
    title = _title_of(finding.rule_id)
    finding.message_ja, finding.message_en = f"{title.ja}{ERASED.ja}", f"{title.en} {ERASED.en}"
    finding.location = {**finding.location, "section_path": []}
    finding.evidence, finding.searched = [], []
    finding.data = {name: finding.data[name] for name in KEPT_DATA if name in finding.data}
    finding.confidence_basis_ja = finding.confidence_basis_en = ""
    finding.second_opinion = _decision_of(finding)


def _decision_of(finding: Finding) -> dict[str, str]:
    opinion = finding.second_opinion
    return {name: opinion[name] for name in ("decision",) if name in opinion}


def _title_of(rule_id: str) -> Text:
    """What a rule is about; a rule that is gone is named by its id."""
    try:
        return get_rule(rule_id).title
    except UnknownRuleError:
        return Text(ja=rule_id, en=rule_id)


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    waiting = iter(items)
    while batch := list(islice(waiting, BATCH)):
        yield batch
