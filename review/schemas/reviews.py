"""Shapes of reviews, results and findings in answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.core.languages import in_language
from review.models import CheckResult, Finding, Review, Suggestion
from review.types import Verdict


class ChecklistRef(BaseModel):
    code: str
    version: int


class LocationOut(BaseModel):
    """Where a finding stands; all null when something is missing."""

    section_path: list[str]
    page_number: int | None
    line_range: list[int] | None = Field(description="first and last line, from 1, inclusive")
    start_offset: int | None
    end_offset: int | None
    cell: str | None


class EvidenceOut(BaseModel):
    quote: str
    document_id: str
    start_offset: int
    end_offset: int
    verified: bool = Field(description="the quote stands in the stored text at these offsets")


class FindingOut(BaseModel):
    id: str
    fingerprint: str
    rule_id: str
    check_item_id: str
    severity: str
    message: str
    location: LocationOut
    evidence: list[EvidenceOut]
    searched: list[str] = Field(description="what was looked through for something that is missing")
    data: dict[str, Any]
    related_guideline: str | None
    confidence: float | None
    confidence_basis: str | None
    triage: str


class SuggestionOut(BaseModel):
    id: str
    finding_id: str
    content: str
    rationale: str
    confidence: float | None
    example: str | None
    references: list[str]


class ResultEvidenceOut(BaseModel):
    retrieved_chunks: list[str] = []
    graph_paths: list[list[str]] = []
    ontology_refs: list[str] = []


class JudgementOut(BaseModel):
    """How a language model came to a verdict."""

    provider: str
    model: str
    prompt_version: int | None
    reason: str
    grounds: list[list[int]] = Field(description="[start, end) of each quote that the verdict stands on")


class ResultOut(BaseModel):
    check_item_id: str
    check_item_version: int
    name: str
    verdict: str
    score: float | None
    method: str
    strategy_used: str
    strategy_selection_reason: str
    evidence: ResultEvidenceOut
    notices: list[dict[str, Any]]
    execution_time_ms: int
    judgement: JudgementOut | None = Field(None, description="of a language model; null where none judged")


class SummaryOut(BaseModel):
    total_checks: int
    passed: int
    failed: int
    warnings: int
    errors: int
    skipped: int
    critical_findings: int
    execution_time_ms: int | None
    complete: bool = Field(description="every check was decided: none skipped, none an error")


class UsageOut(BaseModel):
    """What language models took; ``cost`` is in US$, null when a model without a configured price answered."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = 0.0


class ReviewOut(BaseModel):
    review_id: str
    document_id: str
    version: int
    checklist: ChecklistRef
    status: str
    status_reason: str | None
    verdict: str | None
    progress: int
    results: list[ResultOut]
    findings: list[FindingOut]
    total_findings: int
    suggestions: list[SuggestionOut]
    summary: SummaryOut
    usage: UsageOut
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class ReviewRowOut(BaseModel):
    """A review in a list."""

    review_id: str
    document_id: str
    version: int
    checklist: ChecklistRef
    status: str
    verdict: str | None
    progress: int
    created_at: datetime
    finished_at: datetime | None


def review_row_out(review: Review) -> ReviewRowOut:
    """Expects checklist_version__checklist to be selected."""
    return ReviewRowOut(
        review_id=review.public_id,
        document_id=review.document_id_text,
        version=review.version_number,
        checklist=_checklist_ref(review),
        status=review.status,
        verdict=review.verdict or None,
        progress=review.progress,
        created_at=review.created_at,
        finished_at=review.finished_at,
    )


def review_out(review: Review, pairs: Sequence[tuple[CheckResult, Finding]]) -> ReviewOut:
    """``pairs`` are all findings in the document's order; the review's options limit how many are shown."""
    results = list(review.results.all())
    options = review.options
    shown = pairs[: options.get("max_findings", len(pairs))]
    with_evidence = options.get("include_evidence", True)
    suggested = options.get("suggestion_level", "basic") != "none"
    suggestions = [getattr(finding, "suggestion", None) for _result, finding in shown] if suggested else []
    return ReviewOut(
        review_id=review.public_id,
        document_id=review.document_id_text,
        version=review.version_number,
        checklist=_checklist_ref(review),
        status=review.status,
        status_reason=review.error or None,
        verdict=review.verdict or None,
        progress=review.progress,
        results=[_result_out(result) for result in results],
        findings=[_finding_out(result, finding, with_evidence=with_evidence) for result, finding in shown],
        total_findings=len(pairs),
        suggestions=[_suggestion_out(suggestion) for suggestion in suggestions if suggestion is not None],
        summary=_summary(review, results, pairs),
        usage=UsageOut(
            tokens_in=review.tokens_in,
            tokens_out=review.tokens_out,
            cost=None if review.cost is None else float(review.cost),
        ),
        created_at=review.created_at,
        started_at=review.started_at,
        finished_at=review.finished_at,
    )


def _checklist_ref(review: Review) -> ChecklistRef:
    return ChecklistRef(code=review.checklist_version.checklist.code, version=review.checklist_version.number)


def _result_out(result: CheckResult) -> ResultOut:
    item = result.item_version
    topics = sorted({finding.data["topic"] for finding in result.findings.all() if finding.data.get("topic")})
    return ResultOut(
        check_item_id=item.item.code,
        check_item_version=item.number,
        name=in_language(item.name_ja, item.name_en),
        verdict=result.verdict,
        score=result.score,
        method=result.method,
        strategy_used=result.strategy_used,
        strategy_selection_reason=in_language(result.strategy_reason_ja, result.strategy_reason_en),
        evidence=ResultEvidenceOut(retrieved_chunks=_shown_chunks(result), ontology_refs=topics),
        notices=result.notices,
        execution_time_ms=result.execution_time_ms,
        judgement=_judgement_out(result.judgement) if result.judgement else None,
    )


def _shown_chunks(result: CheckResult) -> list[str]:
    return [passage[0] for passage in result.judgement.get("passages", []) if passage[0]]


def _judgement_out(record: dict[str, Any]) -> JudgementOut:
    return JudgementOut(
        provider=record["provider"],
        model=record["model"],
        prompt_version=record["prompts"].get("judge"),
        reason=record["reason"],
        grounds=record["grounds"],
    )


def _finding_out(result: CheckResult, finding: Finding, *, with_evidence: bool) -> FindingOut:
    basis = in_language(finding.confidence_basis_ja, finding.confidence_basis_en)
    return FindingOut(
        id=finding.public_id,
        fingerprint=finding.fingerprint,
        rule_id=finding.rule_id,
        check_item_id=result.item_version.item.code,
        severity=finding.severity,
        message=finding.message,
        location=LocationOut(**finding.location),
        evidence=[EvidenceOut(**item) for item in finding.evidence] if with_evidence else [],
        searched=finding.searched,
        data=finding.data,
        related_guideline=finding.related_guideline or None,
        confidence=finding.confidence,
        confidence_basis=basis or None,
        triage=finding.triage,
    )


def _suggestion_out(suggestion: Suggestion) -> SuggestionOut:
    return SuggestionOut(
        id=suggestion.public_id,
        finding_id=suggestion.finding.public_id,
        content=in_language(suggestion.content_ja, suggestion.content_en),
        rationale=in_language(suggestion.rationale_ja, suggestion.rationale_en),
        confidence=suggestion.confidence,
        example=suggestion.example or None,
        references=suggestion.references,
    )


def _summary(
    review: Review, results: Sequence[CheckResult], pairs: Sequence[tuple[CheckResult, Finding]]
) -> SummaryOut:
    verdicts = [result.verdict for result in results]
    elapsed = review.finished_at - review.started_at if review.finished_at and review.started_at else None
    return SummaryOut(
        total_checks=len(results),
        passed=verdicts.count(Verdict.PASS),
        failed=verdicts.count(Verdict.FAIL),
        warnings=verdicts.count(Verdict.WARNING),
        errors=verdicts.count(Verdict.ERROR),
        skipped=verdicts.count(Verdict.SKIPPED),
        critical_findings=sum(finding.severity == "critical" for _result, finding in pairs),
        execution_time_ms=int(elapsed.total_seconds() * 1000) if elapsed else None,
        complete=bool(verdicts) and not {Verdict.SKIPPED, Verdict.ERROR} & set(verdicts),
    )
