"""Shapes of findings and suggestions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _
from pydantic import BaseModel, Field

from hub.core.languages import in_language
from hub.core.shapes import TextOrNone, filled
from review.models import CheckResult, Finding, ModelSuggestion, Suggestion
from review.rules.certainty import Certainty, certainty_of, sureness
from review.types import JUDGED_BY_MODEL, JudgedBy


class LocationOut(BaseModel):
    """Where a finding stands; all null when something is missing."""

    section_path: list[str]
    page_number: int | None
    line_range: list[int] | None = Field(description="first and last line, from 1, inclusive")
    start_offset: int | None
    end_offset: int | None
    cell: str | None
    ocr_confidence: float | None = Field(None, description="0 to 1, how sure OCR was of the words there; null: no OCR")


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


class SecondOpinionOut(BaseModel):
    """What the hub's language model said of a finding."""

    decision: str = Field(
        description="confirmed; doubted; overturned; narrowed (some of the topics named are treated); set_aside (so, "
        "and nobody would act on it); disputed (held wrong by quotes that do not show it); or proposed and refuted, "
        "trivial, same (as another), unrefuted or left_over (sweep)"
    )
    reason: str = ""
    quotes: list[EvidenceOut] = Field([], description="where it stands in the document that the finding is wrong")
    provider: str = ""
    model: str = ""
    prompt_version: int | None = None


class FindingOut(BaseModel):
    id: str
    number: int | None = Field(
        description="counts the review's findings in the order of the document, from 1; null while the review runs, "
        "since more may come before it"
    )
    fingerprint: str
    rule_id: str
    check_item_id: str
    severity: str
    message: str
    location: LocationOut
    evidence: list[EvidenceOut]
    searched: list[str] = Field(description="what was looked through for something that is missing")
    data: dict[str, Any]
    related_guideline: TextOrNone
    confidence: float | None = Field(
        description="how often findings of this kind were right where people judged them: the lower bound of the share"
    )
    confidence_basis: TextOrNone
    certainty: str = Field(description="what the confidence comes to: sure, likely or doubtful")
    judged_by: str = Field(description="rules, hub_model, or callers_model: the own model of who asked for the review")
    state: str = Field(
        "found",
        description="found; overturned (a language model took it back, with quotes) and candidate (it proposed it, or "
        "set it aside): these do not count; promoted: a person said that it counts",
    )
    second_opinion: SecondOpinionOut | None = Field(None, description="what a language model said of it")
    triage: str
    triage_reason: TextOrNone
    triaged_by: TextOrNone
    triaged_at: datetime | None
    expires_at: datetime | None = Field(description="when a waiver ends and the finding is open again")
    assignee: str | None
    due_on: date | None = Field(description="the last day on which it is to be settled")
    answer: AnswerOut | None
    carried: CarriedOut | None = Field(description="the earlier review that the decision was carried over from")
    revision: int = Field(description="give it back when changing the finding; another one by then is a conflict")

    @property
    def counter(self) -> str:
        """The number with a full stop, for pages and reports to put before the message; empty while the review runs."""
        return f"{self.number}. " if self.number else ""


class SuggestionOut(BaseModel):
    id: str
    finding_id: str
    content: str
    rationale: str
    confidence: float | None
    example: TextOrNone
    references: list[str]
    made_by: str = Field(
        "rules",
        description="rules; model: written by the hub's language model, to be read with care; or callers_model: by the "
        "own model of who asked for the review",
    )
    model: str | None = Field(None, description="the language model that wrote it")
    evidence: list[EvidenceOut] = Field(default=[], description="what a model's suggestion rests on, located")


def finding_out(number: int | None, result: CheckResult, finding: Finding, *, with_evidence: bool = True) -> FindingOut:
    """Expects the suggestion, answer and assignee to be selected with the finding."""
    judged_by = _judged_by(result, finding)
    return filled(
        FindingOut,
        finding,
        id=finding.public_id,
        number=number,
        check_item_id=result.item_version.item.code,
        evidence=finding.evidence if with_evidence else [],
        second_opinion=_opinion(finding, with_evidence=with_evidence),
        confidence_basis=_basis(finding, judged_by),
        certainty=certainty_of(sureness(finding.rule_id, finding.confidence)).value,
        judged_by=judged_by.value,
        assignee=finding.assignee.get_username() if finding.assignee else None,
        answer=getattr(finding, "answer", None),
        carried=finding.carried or None,
    )


def _judged_by(result: CheckResult, finding: Finding) -> JudgedBy:
    """Who made a finding; the hub's model, which reads the whole document, adds some to checks that rules decided."""
    if finding.rule_id != JUDGED_BY_MODEL:
        return JudgedBy.RULES
    is_callers = result.was_judged_by is JudgedBy.CALLERS_MODEL
    return JudgedBy.CALLERS_MODEL if is_callers else JudgedBy.HUB_MODEL


def certainty_label(certainty: str) -> str:
    """How sure a finding is, for people."""
    labels = {Certainty.SURE: _("sure"), Certainty.LIKELY: _("likely"), Certainty.DOUBTFUL: _("doubtful")}
    return labels[Certainty(certainty)]


def sure_first(findings: Iterable[FindingOut]) -> list[FindingOut]:
    """Put sure findings before likely ones and those before doubtful ones; else the order stays."""
    order = [each.value for each in Certainty]
    return sorted(findings, key=lambda each: order.index(each.certainty))


def _opinion(finding: Finding, *, with_evidence: bool) -> dict[str, Any] | None:
    if not finding.second_opinion:
        return None
    return {**finding.second_opinion, **({} if with_evidence else {"quotes": []})}


def _basis(finding: Finding, judged_by: JudgedBy) -> str:
    """Where the confidence comes from, and that nobody but the caller vouches for what the caller's model said."""
    basis = in_language(finding.confidence_basis_ja, finding.confidence_basis_en)
    if judged_by is not JudgedBy.CALLERS_MODEL:
        return basis
    own = _("by the own language model of who asked for the review")
    return f"{basis}; {own}" if basis else own


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
    if model:
        made_by = _made_by(is_callers=model.is_by_callers_model)
        evidence = model.evidence if with_evidence else []
        shown.append(
            filled(
                SuggestionOut,
                model,
                id=model.public_id,
                finding_id=finding.public_id,
                confidence=None,
                references=[],
                made_by=made_by,
                evidence=evidence,
            )
        )
    return shown


def _suggestion_out(suggestion: Suggestion, result: CheckResult) -> SuggestionOut:
    """In the active language. What came with a model's judgement is the model's."""
    by_model = suggestion.finding.rule_id == JUDGED_BY_MODEL
    return filled(
        SuggestionOut,
        suggestion,
        id=suggestion.public_id,
        finding_id=suggestion.finding.public_id,
        content=in_language(suggestion.content_ja, suggestion.content_en),
        rationale=in_language(suggestion.rationale_ja, suggestion.rationale_en),
        made_by=_made_by(is_callers=result.was_judged_by is JudgedBy.CALLERS_MODEL) if by_model else "rules",
        model=result.judgement.get("model") if by_model else None,
    )


def _made_by(*, is_callers: bool) -> str:
    return JudgedBy.CALLERS_MODEL.value if is_callers else "model"
