"""The gate: what is about to go live is measured on the datasets that guard it, and may be refused.

A subject is a check list's version, a prompt, or an embedding set with its chunk policy (:mod:`.candidates`). It is
held against what is in force; the runs are stored, and hold as long as candidate, cases and their documents stay the
same.

HUB_EVALUATION_GATE is off (nothing is measured), warn (the difference has to be there first, then all is let through)
or refuse (what does worse is refused, and so is what nobody can tell). Nothing overrides it but the setting.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from hub.access.principals import Principal, system_principal
from hub.access.services import record_event
from hub.core.errors import Conflict
from hub.evaluation.models import UNFINISHED_RUNS, EvaluationDataset, EvaluationRun, RunStatus
from knowledge.models import EmbeddingSet
from review.evaluation import runs
from review.evaluation.candidates import Candidate, find_candidate, pins_of, set_candidate
from review.evaluation.datasets import hidden_cases
from review.evaluation.gate_report import OFF, REFUSE, Comparison, GateReport, Standing

# How long a caller waits for a comparison that is not there yet, while a worker makes it.
WAIT_S = 20.0
FLIPS_NAMED = 10


def look_at(principal: Principal, name: str) -> GateReport:
    """Tell what is known of a candidate on the datasets that guard it; nothing is measured.

    For those who evaluate, and who may put it in force. Raises NotFound, InvalidInput.
    """
    candidate = find_candidate(principal, name)
    return _report(principal, candidate, [_known(dataset, candidate) for dataset in _guarding(candidate)])


def compare(*, principal: Principal, name: str, wait_s: float | None = WAIT_S) -> GateReport:
    """Measure a candidate against what is in force, where that is not known yet, and wait for it up to ``wait_s``.

    For those who evaluate, and who may put it in force. Raises NotFound, InvalidInput.
    """
    candidate = find_candidate(principal, name)
    return _report(principal, candidate, _measured(candidate, wait_s))


def check_switch(principal: Principal, embedding_set: EmbeddingSet) -> None:
    """Let an embedding set pass, or raise what :func:`let_through` raises."""
    let_through(principal, set_candidate(embedding_set))


def let_through(principal: Principal, candidate: Candidate) -> GateReport:
    """Measure a candidate on every dataset that guards it, before it is published, and write down what was found.

    Call it outside of the transaction that publishes. Raises Conflict: ``evaluation_pending`` while the comparison is
    being made, ``evaluation_regression`` with the flipped cases, ``evaluation_unknown`` with the reason and what to do.
    """
    mode = settings.CONFIG.hub_evaluation_gate
    if mode == OFF:
        return GateReport(candidate=candidate.name, mode=mode)
    report = _report(principal, candidate, _measured(candidate, WAIT_S))
    if report.comparisons:
        record_event(
            principal,
            "EVALUATION_GATE",
            candidate.guard,
            candidate=candidate.name,
            mode=mode,
            runs=[one.run.public_id for one in report.comparisons if one.run],
            found={one.dataset.code: one.standing.value for one in report.comparisons},
            regressions=[run.public_id for run in report.regressions],
        )
    if refusal := _refusal(report):
        raise refusal
    return report


def _guarding(candidate: Candidate) -> list[EvaluationDataset]:
    return list(EvaluationDataset.objects.filter(guards__contains=[candidate.guard]).order_by("code"))


def _known(dataset: EvaluationDataset, candidate: Candidate) -> Comparison:
    """The newest comparison of the same candidate on the same cases, whatever became of it."""
    try:
        digest = pins_of(system_principal("evaluation"), dataset, candidate, rounds=1).digest
        current = pins_of(system_principal("evaluation"), dataset, candidate.in_force(), rounds=1).digest
    except Conflict as error:
        return Comparison(dataset=dataset, standing=Standing.UNKNOWN, reason=str(error))
    same = dataset.runs.filter(pins_digest=digest, baseline__pins_digest=current)
    run = same.select_related("dataset", "baseline").order_by("-pk").first()
    return _compared(dataset, candidate, run) if run else Comparison(dataset=dataset, standing=Standing.NOT_MEASURED)


def _measured(candidate: Candidate, wait_s: float | None) -> list[Comparison]:
    """Start what has to be measured, all of it before waiting for any."""
    principal = system_principal("evaluation")
    found: list[Comparison] = []
    for dataset in _guarding(candidate):
        try:
            run = runs.start_comparison(principal=principal, dataset=dataset.code, candidate=candidate, anew=False)
        except Conflict as error:
            found.append(Comparison(dataset=dataset, standing=Standing.UNKNOWN, reason=str(error)))
            continue
        found.append(Comparison(dataset=dataset, standing=Standing.PENDING, run=run))
    return [_finished(principal, candidate, one, wait_s) for one in found]


def _finished(principal: Principal, candidate: Candidate, one: Comparison, wait_s: float | None) -> Comparison:
    if one.run is None:
        return one
    # inside a transaction no worker can see the run
    is_hidden = connection.in_atomic_block
    runs.wait_for_run(one.run, timeout_s=None if is_hidden else wait_s, work_here=is_hidden)
    return _compared(one.dataset, candidate, runs.get_run(principal, one.run.public_id))


def _compared(dataset: EvaluationDataset, candidate: Candidate, run: EvaluationRun) -> Comparison:
    """Say what a run comes to."""
    if run.status in UNFINISHED_RUNS:
        return Comparison(dataset=dataset, standing=Standing.PENDING, run=run)
    if run.status == RunStatus.FAILED:
        return Comparison(dataset=dataset, standing=Standing.UNKNOWN, run=run, reason=run.error)
    if reason := _why_unknown(candidate, run):
        return Comparison(dataset=dataset, standing=Standing.UNKNOWN, run=run, reason=reason)
    better = Standing.BETTER if run.metrics.get("improved") else Standing.SAME
    return Comparison(dataset=dataset, standing=Standing.WORSE if run.metrics.get("regression") else better, run=run)


def _why_unknown(candidate: Candidate, run: EvaluationRun) -> str:
    """Why a comparison that only a model can make tells nothing; empty when it tells."""
    if not candidate.asks_model:
        return ""
    open_cases = runs.left_open(run)
    if not open_cases and run.baseline is not None:
        open_cases = runs.left_open(run.baseline)
    if open_cases:
        codes = ", ".join(f"{code} ({count})" for code, count in open_cases.items())
        return _(
            "The language model answered not all cases: {codes}. Set LLM_PROVIDER and what it needs, see that the "
            "model is reached and the budget is enough, and compare again; what was answered is not asked again."
        ).format(codes=codes)
    if not run.details.get("model", {}).get("answered"):
        return _(
            "No case of this dataset is judged by a language model, so it tells nothing of a prompt. Add cases of such "
            "check items, or take “prompt” off what the dataset guards."
        )
    return ""


def _report(principal: Principal, candidate: Candidate, comparisons: Sequence[Comparison]) -> GateReport:
    """The comparisons as the caller may see them: who may not read a dataset learns how it ended, not its cases."""
    readable = set(EvaluationDataset.objects.visible_to(principal).values_list("pk", flat=True))
    return GateReport(
        candidate=candidate.name,
        mode=settings.CONFIG.hub_evaluation_gate,
        comparisons=tuple(comparisons),
        readable=frozenset(readable),
        hidden_cases=frozenset().union(
            *(hidden_cases(principal, one.dataset) for one in comparisons if one.flips and one.dataset.pk in readable)
        ),
    )


def _refusal(report: GateReport) -> Conflict | None:
    """What keeps a candidate from being published, if anything does."""
    if pending := report.of(Standing.PENDING):
        return Conflict(
            gettext_lazy(
                "{candidate} is still being compared with what is in force, on {datasets}. "
                "Look at the difference when it is done, and publish again."
            ),
            code="evaluation_pending",
            candidate=report.candidate,
            datasets=_codes(pending),
            runs=[one.run.public_id for one in pending if one.run],
        )
    if report.mode != REFUSE:
        return None
    if worse := report.of(Standing.WORSE):
        return _regression(report, worse)
    if unknown := report.of(Standing.UNKNOWN):
        return Conflict(
            gettext_lazy(
                "The evaluation gate refuses {candidate}: nobody can tell how it does on {datasets}. {reasons}"
            ),
            code="evaluation_unknown",
            candidate=report.candidate,
            datasets=_codes(unknown),
            reasons=" ".join(dict.fromkeys(one.reason for one in unknown)),
        )
    return None


def _regression(report: GateReport, worse: Sequence[Comparison]) -> Conflict:
    flips = [flip for one in worse for flip in report.flips_of(one) if flip["is_worse"]]
    count = sum(flip["is_worse"] for one in worse for flip in one.flips)
    return Conflict(
        gettext_lazy(
            "The evaluation gate refuses {candidate}: it does worse on {datasets}. {count} cases flipped: {flips}"
        ),
        code="evaluation_regression",
        candidate=report.candidate,
        datasets=_codes(worse),
        count=count,
        flips="; ".join(map(_in_words, flips[:FLIPS_NAMED])) or "-",
        runs=[one.run.public_id for one in worse if one.run],
    )


def _codes(comparisons: Sequence[Comparison]) -> str:
    return ", ".join(one.dataset.code for one in comparisons)


def _in_words(flip: dict[str, object]) -> str:
    if "query" in flip:
        return f"{flip['query']} (recall@10: {flip['before']} -> {flip['after']})"
    return (
        f"{flip['document']}: {flip['item'] or flip['decided_by']} "
        f"({flip['expected']}: {flip['before']} -> {flip['after']})"
    )
