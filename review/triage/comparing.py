"""What changed between two reviews of a document."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import InvalidInput
from knowledge.ingest.content import sections_of
from knowledge.models import VersionContent
from review.models import CheckResult, Finding, Review
from review.runs.finding_schemas import FindingOut, finding_out
from review.runs.reviews import FINDING_PARTS, get_review, in_document_order, ordered_findings, record_view
from review.triage.matching import Matching, Placed, Reviewed, match_findings, names_in
from review.triage.schemas import DiffOut, DiffSideOut, MovedOut
from review.triage.verdicts import UNDECIDED
from review.types import JUDGED_BY_MODEL, JudgedBy

Pairs = Sequence[tuple[CheckResult, Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two reviews with all their findings in the document's order, and what became of these."""

    base: Review
    current: Review
    base_findings: Pairs
    findings: Pairs
    matching: Matching


def compare_reviews(principal: Principal, review_id: str, *, base_id: str) -> Comparison:
    """Compare a review with an earlier one of the same document. Raises NotFound, InvalidInput (another document)."""
    current, base = get_review(principal, review_id), get_review(principal, base_id)
    if current.document_id_text != base.document_id_text:
        raise InvalidInput(
            _("The review {base_id} is of another document ({document_id})."),
            base_id=base_id,
            document_id=base.document_id_text,
            field="base",
        )
    if current.pk == base.pk:
        raise InvalidInput(_("A review can't be compared with itself."), field="base")
    before, after = (_all_findings(review) for review in (base, current))
    aside = _aside_of(current)
    matching = match_findings(_reviewed(base, before), _reviewed(current, [*after, *aside]))
    matching = _without_aside(matching, count=len(after))
    matching = _without_unread(matching, before, read=_read_in(current), by_rules=_judged_by_rules(current))
    return _as_seen(Comparison(base=base, current=current, base_findings=before, findings=after, matching=matching))


def _all_findings(review: Review) -> Pairs:
    """All findings of a loaded review in the document's order, also those that are withheld from its reader.

    What is withheld is matched, too: else a finding that is still there would count as fixed, or as new.
    """
    results = list(review.results.all())
    if not any(result.withheld for result in results):
        return ordered_findings(results)
    rows = Finding.objects.counted().filter(result__review=review).select_related(*FINDING_PARTS)
    return in_document_order([(result, row) for result in results for row in rows if row.result_id == result.pk])


def _aside_of(review: Review) -> Pairs:
    """The findings of a loaded review that do not count, also those that are withheld. One query where there are any.

    What a model took back, or only proposed, is still there: nobody has fixed it.
    """
    if not review.__dict__["has_set_aside"]:
        return []
    results = {result.pk: result for result in review.results.all()}
    rows = Finding.objects.set_aside().filter(result__review=review).order_by("pk")
    return [(results[row.result_id], row) for row in rows]


def _without_aside(matching: Matching, *, count: int) -> Matching:
    """Leave out of a matching what comes after ``count`` findings; what was matched to it is undecided."""

    def counted(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        return tuple(pair for pair in pairs if pair[1] < count)

    aside = [one for one, other in (*matching.open, *matching.moved) if other >= count]
    return replace(
        matching,
        new=tuple(index for index in matching.new if index < count),
        open=counted(matching.open),
        moved=counted(matching.moved),
        undecided=tuple(sorted({*matching.undecided, *aside})),
    )


def _read_in(review: Review) -> set[str]:
    """The documents that a loaded review read: its own and its related ones, also those hidden from its reader.

    One query where there may be related ones.
    """
    related = review.related.values_list("document_id_text", flat=True) if review.__dict__["has_sources"] else ()
    return {review.document_id_text, *related}


def _judged_by_rules(review: Review) -> set[str]:
    """The codes of the check items of a loaded review that no language model judged."""
    results = review.results.all()
    return {one.item_version.item.code for one in results if one.was_judged_by is JudgedBy.RULES}


def _without_unread(matching: Matching, before: Pairs, *, read: Set[str], by_rules: Set[str]) -> Matching:
    """Set to undecided what seems fixed, but that the current review did not look at again.

    That is what rests on documents other than ``read``, and what a model found in the checks ``by_rules``.
    """

    def is_unread(result: CheckResult, finding: Finding) -> bool:
        documents = {*finding.rests_on, *(item["document_id"] for item in finding.evidence)}
        is_models = finding.rule_id == JUDGED_BY_MODEL and result.item_version.item.code in by_rules
        return is_models or not documents <= read

    unread = {index for index in matching.fixed if is_unread(*before[index])}
    return replace(
        matching,
        fixed=tuple(index for index in matching.fixed if index not in unread),
        undecided=tuple(sorted({*matching.undecided, *unread})),
    )


def _as_seen(comparison: Comparison) -> Comparison:
    """Leave out the findings that are withheld, and with them what they were matched to."""
    base, current = (
        {finding.pk for result in review.results.all() for finding in result.findings.all()}
        for review in (comparison.base, comparison.current)
    )
    old = _places([finding.pk in base for _result, finding in comparison.base_findings])
    new = _places([finding.pk in current for _result, finding in comparison.findings])
    matching = comparison.matching

    def pairs(matched: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        return tuple((old[one], new[other]) for one, other in matched if one in old and other in new)

    return replace(
        comparison,
        base_findings=[comparison.base_findings[index] for index in old],
        findings=[comparison.findings[index] for index in new],
        matching=Matching(
            fixed=tuple(old[index] for index in matching.fixed if index in old),
            new=tuple(new[index] for index in matching.new if index in new),
            open=pairs(matching.open),
            moved=pairs(matching.moved),
            undecided=tuple(old[index] for index in matching.undecided if index in old),
        ),
    )


def _places(is_kept: Sequence[bool]) -> dict[int, int]:
    """From the places of what is kept to its places once the rest is left out, in order."""
    kept = (index for index, keep in enumerate(is_kept) if keep)
    return {index: place for place, index in enumerate(kept)}


def _reviewed(review: Review, pairs: Pairs) -> Reviewed:
    content = VersionContent.objects.filter(pk=review.version_id).first() if review.version_id else None
    # a person's word on a check that the run left open says nothing of single findings; and what a caller's own model
    # does not find any more is not known to be fixed
    decided = {
        result.item_version.item.code
        for result in review.results.all()
        if (result.original_verdict or result.verdict) not in UNDECIDED
        and result.was_judged_by is not JudgedBy.CALLERS_MODEL
    }
    return Reviewed(
        text=content.markdown if content else "",
        sections=sections_of(content) if content else (),
        findings=[_placed(review, result, finding) for result, finding in pairs],
        decided=frozenset(decided),
    )


def _placed(review: Review, result: CheckResult, finding: Finding) -> Placed:
    own = [item for item in finding.evidence if item["document_id"] == review.document_id_text]
    return Placed(
        fingerprint=finding.fingerprint,
        rule_id=finding.rule_id,
        check_item_id=result.item_version.item.code,
        places=tuple(item["start_offset"] for item in own),
        quote=own[0]["quote"] if own else "",
        subject=str(finding.data.get("topic") or ""),
        names=names_in(finding.data),
    )


def show_difference(principal: Principal, review_id: str, *, base_id: str) -> DiffOut:
    """Compare as ``compare_reviews`` does, show it in the active language, and say so in the audit trail."""
    comparison = compare_reviews(principal, review_id, base_id=base_id)
    record_view(principal, comparison.current, part="difference", base=base_id)
    return difference(comparison)


def difference(comparison: Comparison) -> DiffOut:
    """Show a comparison; messages are in the active language."""
    matching = comparison.matching

    def old(index: int) -> FindingOut:
        return finding_out(index + 1, *comparison.base_findings[index])

    def now(index: int) -> FindingOut:
        return finding_out(index + 1, *comparison.findings[index])

    def moved(pair: tuple[int, int]) -> MovedOut:
        before = old(pair[0])
        return MovedOut(**dict(now(pair[1])), base_finding_id=before.id, base_section_path=before.location.section_path)

    return DiffOut(
        base=_side(comparison.base),
        current=_side(comparison.current),
        fixed=[old(index) for index in matching.fixed],
        new=[now(index) for index in matching.new],
        open=[now(index) for _before, index in sorted(matching.open, key=lambda pair: pair[1])],
        moved=[moved(pair) for pair in sorted(matching.moved, key=lambda pair: pair[1])],
        undecided=[old(index) for index in matching.undecided],
    )


def _side(review: Review) -> DiffSideOut:
    return DiffSideOut(
        review_id=review.public_id,
        version=review.version_number,
        checklist_version=review.checklist_version.number,
        verdict=review.verdict or None,
    )
