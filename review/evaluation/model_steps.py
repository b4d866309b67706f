"""The steps of a review beside its checks, as an evaluation measures them: a second opinion, the reading of the whole
document. Nothing is stored but the recorded answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.models import DocumentVersion
from knowledge.types.notices import Notice
from review.judging import notices
from review.judging.asking import Reader
from review.judging.engine import fingerprint
from review.judging.excerpts import find_material, planted_in
from review.judging.judge import Judge
from review.judging.second_opinion.asking import SecondOpinion, doubt_of_draft
from review.judging.steps import StepName, StepOutcome, StepState
from review.judging.sweep.asking import Sweep
from review.judging.sweep.check_list import Point
from review.judging.types import CheckTask, Material
from review.models import CheckItemVersion
from review.rules.kinds import is_put_before_a_model
from review.types import FindingDraft, RuleInput, Severity, Span

ANSWERED = "answered"


@dataclass(slots=True, kw_only=True)
class MeasuredDocument:
    """A document version as the steps read it."""

    version: DocumentVersion
    target: RuleInput
    _planted: tuple[Span, ...] | None = None

    def planted_spans(self) -> tuple[Span, ...]:
        """The stretches of the document that speak to a model."""
        if self._planted is None:
            self._planted = planted_in(self.target)
        return self._planted

    def material(self, task: CheckTask) -> Material:
        """The document's passages, ranked for a task. :raises django.db.Error: they can't be read."""
        return find_material(self.version, self.target, task, self.planted_spans())


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a step leaves of findings. ``part``: ANSWERED, the code of why not all was, or empty if nobody was asked."""

    findings: tuple[FindingDraft, ...]
    part: str = ""
    taken_back: int = 0


def after_second_opinion(
    document: MeasuredDocument, judge: Judge, item: CheckItemVersion, findings: Sequence[FindingDraft]
) -> Measured:
    """The findings that an item's verdict is made of, without those that a second opinion takes back or sets aside."""
    asked = [
        (at, draft)
        for at, draft in enumerate(findings)
        if is_put_before_a_model(draft.rule_id, draft.data) and draft.severity is not Severity.INFO
    ]
    if not asked:
        return Measured(findings=tuple(findings))
    label = f"{item.item.code} {item.name_ja}"
    opinion = SecondOpinion(
        reader=_reader(document, judge, notices.second_opinion_failed, notices.SECOND_OPINION_BUDGET),
        doubts=[
            doubt_of_draft(draft, pk=at, item=label, fingerprint=fingerprint(item.item.code, draft))
            for at, draft in asked
        ],
    )
    outcome = opinion.ask()
    gone = {one.doubt.pk for one in opinion.opinions if one.takes_back and not one.leaves_missing}
    left = tuple(draft for at, draft in enumerate(findings) if at not in gone)
    return Measured(findings=left, part=_part(outcome), taken_back=len(gone))


def read_whole(
    document: MeasuredDocument, judge: Judge, pinned: Mapping[str, Any], points: Sequence[Point] = ()
) -> Measured:
    """The findings of the reading against a check list that count, with the limits that a run pins."""
    sweep = Sweep(
        reader=_reader(document, judge, notices.sweep_failed, notices.SWEEP_BUDGET),
        limit=pinned["sweep_limit"],
        least=Severity(pinned["sweep_severity"]),
        points=lambda: points,
    )
    outcome = sweep.ask()
    part = _part(outcome)
    if part == ANSWERED and not sweep.is_tested:
        part = notices.SWEEP_UNREFUTED.code
    return Measured(findings=tuple(one.draft for one in sweep.merged.kept if one.counts), part=part)


def _reader(document: MeasuredDocument, judge: Judge, failed: Any, budget: Notice) -> Reader:  # noqa: ANN401
    return Reader(session=document, judge=judge, purpose=judge.purpose, failed=failed, budget_notice=budget)


def _part(outcome: StepOutcome) -> str:
    if outcome.state is StepState.DONE:
        return ANSWERED
    return next((one.code for one in outcome.notices), outcome.state.value)


def options_in_force(config: Any, *, limit: int, severity: str) -> dict[str, Any]:  # noqa: ANN401
    """What of the configuration decides about the steps, as a run pins it."""
    return {
        StepName.SECOND_OPINION.value: config.llm_second_opinion,
        StepName.SWEEP.value: config.llm_sweep,
        "sweep_limit": limit,
        "sweep_severity": severity,
        "context_tokens": config.llm_context_tokens,
        "reading_tokens": config.llm_reading_tokens,
    }
