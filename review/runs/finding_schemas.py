"""Shapes of findings and suggestions."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _
from pydantic import BaseModel, Field

from hub.core.languages import in_language
from review.models import CheckResult, Finding, FindingAnswer, ModelSuggestion, Suggestion
from review.types import JUDGED_BY_MODEL, JudgedBy


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


class AnswerOut(BaseModel):
    """What the document's author answered."""

    plan: str
    text: str
    answered_by: str
    answered_on: date | None


class CarriedOut(BaseModel):
    """Where a finding's decision came from. With the mark `changed`, rejecting and waiving are left to decide anew."""

    review_id: str
    finding_id: str
    version: int
    triage: str = Field(description="the state in that review")
    mark: str = Field(description="same, moved, or changed: the evidence is not what was decided about")


class FindingOut(BaseModel):
    id: str
    number: int = Field(description="counts the review's findings in the order of the document, from 1")
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
    judged_by: str = Field(description="rules, hub_model, or callers_model: the own model of who asked for the review")
    triage: str
    triage_reason: str | None
    triaged_by: str | None
    triaged_at: datetime | None
    expires_at: datetime | None = Field(description="when a waiver ends and the finding is open again")
    assignee: str | None
    answer: AnswerOut | None
    carried: CarriedOut | None = Field(description="the earlier review that the decision was carried over from")
    revision: int = Field(description="give it back when changing the finding; another one by then is a conflict")


class SuggestionOut(BaseModel):
    id: str
    finding_id: str
    content: str
    rationale: str
    confidence: float | None
    example: str | None
    references: list[str]
    made_by: str = Field(
        "rules",
        description="rules; model: written by the hub's language model, to be read with care; or callers_model: by the "
        "own model of who asked for the review",
    )
    model: str | None = Field(None, description="the language model that wrote it")
    evidence: list[EvidenceOut] = Field(default=[], description="what a model's suggestion rests on, located")


def finding_out(number: int, result: CheckResult, finding: Finding, *, with_evidence: bool = True) -> FindingOut:
    """Expects the suggestion, answer and assignee to be selected with the finding."""
    judged_by = result.was_judged_by if finding.rule_id == JUDGED_BY_MODEL else JudgedBy.RULES
    return FindingOut(
        id=finding.public_id,
        number=number,
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
        confidence_basis=_basis(finding, judged_by) or None,
        judged_by=judged_by.value,
        triage=finding.triage,
        triage_reason=finding.triage_reason or None,
        triaged_by=finding.triaged_by or None,
        triaged_at=finding.triaged_at,
        expires_at=finding.expires_at,
        assignee=finding.assignee.get_username() if finding.assignee else None,
        answer=_answer_out(getattr(finding, "answer", None)),
        carried=CarriedOut(**finding.carried) if finding.carried else None,
        revision=finding.revision,
    )


def _basis(finding: Finding, judged_by: JudgedBy) -> str:
    """Where the confidence comes from, and that nobody but the caller vouches for what the caller's model said."""
    basis = in_language(finding.confidence_basis_ja, finding.confidence_basis_en)
    if judged_by is not JudgedBy.CALLERS_MODEL:
        return basis
    own = _("by the own language model of who asked for the review")
    return f"{basis}; {own}" if basis else own


def _answer_out(answer: FindingAnswer | None) -> AnswerOut | None:
    if answer is None:
        return None
    return AnswerOut(plan=answer.plan, text=answer.text, answered_by=answer.answered_by, answered_on=answer.answered_on)


def suggestion_label(suggestion: SuggestionOut) -> str:
    """A suggestion's heading; one that a model wrote says so, and whose model it was."""
    if suggestion.made_by == "rules":
        return _("Suggestion")
    if suggestion.made_by == JudgedBy.CALLERS_MODEL:
        return _("Suggestion by the own language model of who asked for the review")
    return _("Suggestion by a language model ({model})").format(model=suggestion.model or "?")


def suggestions_out(result: CheckResult, finding: Finding, *, with_evidence: bool = True) -> list[SuggestionOut]:
    """Show the suggestions for a finding: the rule's, then the model's. Expects both to be selected with it."""
    own: Suggestion | None = getattr(finding, "suggestion", None)
    model: ModelSuggestion | None = getattr(finding, "model_suggestion", None)
    shown = [_suggestion_out(own, result)] if own else []
    return [*shown, _model_suggestion_out(model, with_evidence=with_evidence)] if model else shown


def _suggestion_out(suggestion: Suggestion, result: CheckResult) -> SuggestionOut:
    """In the active language. What came with a model's judgement is the model's."""
    by_model = suggestion.finding.rule_id == JUDGED_BY_MODEL
    return SuggestionOut(
        id=suggestion.public_id,
        finding_id=suggestion.finding.public_id,
        content=in_language(suggestion.content_ja, suggestion.content_en),
        rationale=in_language(suggestion.rationale_ja, suggestion.rationale_en),
        confidence=suggestion.confidence,
        example=suggestion.example or None,
        references=suggestion.references,
        made_by=_made_by(is_callers=result.was_judged_by is JudgedBy.CALLERS_MODEL) if by_model else "rules",
        model=result.judgement.get("model") if by_model else None,
    )


def _made_by(*, is_callers: bool) -> str:
    return JudgedBy.CALLERS_MODEL.value if is_callers else "model"


def _model_suggestion_out(suggestion: ModelSuggestion, *, with_evidence: bool) -> SuggestionOut:
    return SuggestionOut(
        id=suggestion.public_id,
        finding_id=suggestion.finding.public_id,
        content=suggestion.content,
        rationale=suggestion.rationale,
        confidence=None,
        example=suggestion.example or None,
        references=[],
        made_by=_made_by(is_callers=suggestion.is_by_callers_model),
        model=suggestion.model,
        evidence=[EvidenceOut(**one) for one in suggestion.evidence] if with_evidence else [],
    )
