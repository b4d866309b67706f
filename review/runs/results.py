"""Storing what a check found: its result, its findings with their quotes, its suggestions."""

from __future__ import annotations

from collections.abc import Callable

from review.evidence import claimed, locate, quote
from review.judging.engine import Judgement, unique_findings
from review.models import CheckItemVersion, CheckResult, Finding, Review, Suggestion
from review.types import FindingDraft, RuleInput


def store_result(
    review: Review,
    item_version: CheckItemVersion,
    position: int,
    judgement: Judgement,
    target: RuleInput,
    *,
    elapsed_ms: int,
    fence: Callable[[], None],
) -> bool:
    """Write a check's result; False when it has one already. Call it in a transaction.

    ``fence`` locks the review until the transaction ends, or raises LeaseLost; quotes are located before it, so that
    workers who share a review wait for each other's writes only.
    """
    result = CheckResult(
        review=review,
        item_version=item_version,
        position=position,
        verdict=judgement.verdict,
        strategy_used=judgement.strategy,
        strategy_reason_ja=judgement.strategy_reason.ja,
        strategy_reason_en=judgement.strategy_reason.en,
        notices=[notice.as_dict() for notice in judgement.notices],
        execution_time_ms=elapsed_ms,
    )
    named = unique_findings(item_version.item.code, judgement.findings)
    rows = [
        _finding_row(result, ordinal, name, draft, target, review.document_id_text)
        for ordinal, (name, draft) in enumerate(named)
    ]
    fence()
    if review.results.filter(item_version=item_version).exists():
        return False
    result.save()
    Finding.objects.bulk_create(rows)
    Suggestion.objects.bulk_create(
        _suggestion_row(row, draft) for row, (_name, draft) in zip(rows, named, strict=True) if draft.suggestion
    )
    return True


def _finding_row(
    result: CheckResult, ordinal: int, name: str, draft: FindingDraft, target: RuleInput, document_id: str
) -> Finding:
    texts = {"": (document_id, target.text)}
    texts |= {related.document_id: (related.document_id, related.text) for related in target.related}
    return Finding(
        result=result,
        ordinal=ordinal,
        fingerprint=name,
        rule_id=draft.rule_id,
        severity=draft.severity,
        message_ja=draft.message.ja,
        message_en=draft.message.en,
        location=locate(target.text, target.sections, target.blocks, draft.location),
        evidence=[
            *(quote(*texts[span.document], span) for span in draft.evidence),
            *(claimed(text, document_id) for text in draft.claimed),
        ],
        searched=list(draft.searched),
        data=dict(draft.data),
        rests_on=list(draft.sources),
        related_guideline=result.item_version.guideline_reference,
        confidence=draft.confidence,
        confidence_basis_ja=draft.confidence_basis.ja if draft.confidence_basis else "",
        confidence_basis_en=draft.confidence_basis.en if draft.confidence_basis else "",
    )


def _suggestion_row(finding: Finding, draft: FindingDraft) -> Suggestion:
    suggestion = draft.suggestion
    if suggestion is None:
        raise ValueError("a suggestion row needs a suggestion")
    return Suggestion(
        finding=finding,
        content_ja=suggestion.content.ja,
        content_en=suggestion.content.en,
        rationale_ja=suggestion.rationale.ja,
        rationale_en=suggestion.rationale.en,
        example=suggestion.example or "",
        confidence=draft.confidence,
        references=[finding.related_guideline] if finding.related_guideline else [],
    )
