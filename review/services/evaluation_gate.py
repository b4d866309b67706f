"""The gate: what is about to go live is measured on the datasets that guard it, and may be refused.

HUB_EVALUATION_GATE is off (nothing is measured), warn (measured, told, let through) or refuse. A subject is a check
list's version, or whatever else its caller can measure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, system_principal
from hub.access.services import record_event
from hub.core.errors import Conflict
from hub.evaluation.models import EvaluationDataset, EvaluationRun, RunStatus
from hub.evaluation.review_cases import REVIEW
from review.models import CheckListVersion
from review.services.evaluation import GUARD_CHECKLIST
from review.services.evaluation_runs import get_run, start_run, wait_for_run

OFF, WARN, REFUSE = "off", "warn", "refuse"
FLIPS_SHOWN = 10

Measure = Callable[[EvaluationDataset], EvaluationRun]
"""Runs a dataset over what is in force and over the candidate, and gives the candidate's run, compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """What the gate saw: the runs of the datasets that guard the subject, and those that got worse."""

    mode: str
    runs: tuple[EvaluationRun, ...] = ()

    @property
    def regressions(self) -> tuple[EvaluationRun, ...]:
        return tuple(run for run in self.runs if run.metrics.get("regression"))


def check_publish(checklist_version: CheckListVersion, *, principal: Principal | None = None) -> GateOutcome:
    """Measure a check list's version against the one in force, on the datasets that guard the list.

    Call it before the version is approved, outside of the transaction that does so. Raises Conflict with the flipped
    cases when a dataset's F1 would fall and the gate refuses.
    """
    guard = f"{GUARD_CHECKLIST}{checklist_version.checklist.code}"
    return gate(guard, lambda dataset: _measure_checklist(dataset, checklist_version), principal=principal)


def gate(guard: str, measure: Measure, *, principal: Principal | None = None) -> GateOutcome:
    """Measure what is about to go live on every dataset that has ``guard``, by the caller's ``measure``.

    Raises Conflict when something got worse and the gate refuses, or a run could not be completed.
    """
    mode = settings.CONFIG.hub_evaluation_gate
    if mode == OFF:
        return GateOutcome(mode=mode)
    datasets = EvaluationDataset.objects.filter(guards__contains=[guard]).order_by("code")
    outcome = GateOutcome(mode=mode, runs=tuple(measure(dataset) for dataset in datasets))
    unfinished = [run for run in outcome.runs if run.status != RunStatus.COMPLETED]
    if outcome.runs:
        record_event(
            principal=principal or system_principal("evaluation"),
            action="EVALUATION_GATE",
            resource=guard,
            mode=mode,
            runs=[run.public_id for run in outcome.runs],
            regressions=[run.public_id for run in outcome.regressions],
        )
    if mode == REFUSE and (outcome.regressions or unfinished):
        raise _refusal(guard, [*outcome.regressions, *unfinished])
    return outcome


def _measure_checklist(dataset: EvaluationDataset, subject: CheckListVersion) -> EvaluationRun:
    """Run the dataset over what is in force and over the candidate, and compare the two."""
    principal = system_principal("evaluation")
    before = start_run(principal=principal, dataset=dataset.code, kind=REVIEW, rounds=1)
    wait_for_run(before, timeout_s=None, work_here=True)
    after = start_run(
        principal=principal,
        dataset=dataset.code,
        kind=REVIEW,
        rounds=1,
        candidates={subject.checklist.code: subject.pk},
        baseline=before,
    )
    wait_for_run(after, timeout_s=None, work_here=True)
    return get_run(principal, after.public_id)


def _refusal(guard: str, runs: list[EvaluationRun]) -> Conflict:
    worse = [flip for run in runs for flip in run.flips if flip.get("is_worse")]
    shown = "; ".join(
        f"{flip['document']}: {flip['item'] or flip['decided_by']} "
        f"({flip['expected']}: {flip['before']} -> {flip['after']})"
        for flip in worse[:FLIPS_SHOWN]
    )
    return Conflict(
        _("The evaluation gate refuses {guard}: it does worse on {datasets}. {count} cases flipped: {flips}"),
        code="evaluation_regression",
        guard=guard,
        datasets=", ".join(sorted({run.dataset.code for run in runs})),
        count=len(worse),
        flips=shown or "; ".join(run.error for run in runs if run.error) or "-",
        runs=[run.public_id for run in runs],
    )
