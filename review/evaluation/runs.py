"""Evaluation runs: starting, waiting, reading, choosing the baseline. Every door calls these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.core.queue import enqueue_on_commit
from hub.evaluation.cases import RETRIEVAL, REVIEW
from hub.evaluation.datasets import get_dataset
from hub.evaluation.execution import queue_run
from hub.evaluation.metrics import MEASURES, REPRODUCIBILITY
from hub.evaluation.models import EvaluationDataset, EvaluationRun, RunStatus
from knowledge.documents import workers
from knowledge.evaluation.measuring import MEASURES as RETRIEVAL_MEASURES
from knowledge.evaluation.measuring import retrieval_summary
from review.evaluation import execution
from review.evaluation.candidates import Candidate, Pins, find_candidate, pins_of
from review.evaluation.datasets import require_reader, withhold_from_run
from review.evaluation.execution import review_summary
from review.evaluation.schemas import ComparisonOut, comparison_out

ALIASES = {"f1": "f1_score", "fpr": "false_positive_rate", "fnr": "false_negative_rate"}
KNOWN_METRICS = (*MEASURES, REPRODUCIBILITY, *RETRIEVAL_MEASURES)
MOST_ROUNDS = 10
RUNS_TRIED = 5


def start_run(
    *,
    principal: Principal,
    dataset: str,
    candidate: str = "",
    compare_baseline: bool = False,
    kind: str = "",
    rounds: int = 2,
    asks_model: bool = False,
) -> EvaluationRun:
    """Queue a run of a dataset's cases over what is in force now, or over a candidate, as ``start_comparison`` does.

    ``kind`` is review, or retrieval where a dataset has only such cases; a candidate brings its own. ``rounds`` is how
    often each document is judged, for the reproducibility. With ``asks_model`` a language model judges what rules leave
    open; what it answered before comes from the recordings. Raises NotFound, InvalidInput, Conflict when there are no
    cases or none of the documents is there.
    """
    if candidate:
        named = find_candidate(principal, candidate)
        return start_comparison(principal=principal, dataset=dataset, candidate=named, rounds=rounds)
    principal.require_hub(HubRight.EVALUATION)
    found = get_dataset(principal, dataset)
    kind = _kind(found, kind)
    measured = Candidate(name="", guard="", kind=kind, asks_model=asks_model and kind == REVIEW)
    baseline = baseline_of(found, kind) if compare_baseline else None
    pins = _pinned(principal, found, measured, rounds)
    if compare_baseline and baseline is None:
        pins.notices.append({"code": "no_baseline", "text": "no earlier run to compare with"})
    return _queue(principal, found, measured, pins, baseline)


def start_comparison(
    *, principal: Principal, dataset: str, candidate: Candidate, rounds: int = 1, anew: bool = True
) -> EvaluationRun:
    """Queue a run over a candidate, to be compared with one over what is in force; gives the candidate's run.

    What is in force is not measured again when the same was measured on the same cases before; unless ``anew``, neither
    is the candidate. A run that failed, or in which a model left something open, does not count. Raises what
    ``start_run`` raises.
    """
    principal.require_hub(HubRight.EVALUATION)
    found = get_dataset(principal, dataset)
    current = candidate.in_force()
    pins = _pinned(principal, found, current, rounds)
    before = usable_run(found, pins.digest) or _queue(principal, found, current, pins, None)
    pins = _pinned(principal, found, candidate, rounds)
    after = None if anew else usable_run(found, pins.digest, baseline=before)
    return after or _queue(principal, found, candidate, pins, before)


def usable_run(
    dataset: EvaluationDataset, digest: str, *, baseline: EvaluationRun | None = None
) -> EvaluationRun | None:
    """The newest run of the same things on the same cases that is under way, or complete with nothing left open."""
    runs = dataset.runs.filter(pins_digest=digest).exclude(status=RunStatus.FAILED).order_by("-pk")
    if baseline is not None:
        runs = runs.filter(baseline=baseline)
    return next((run for run in runs[:RUNS_TRIED] if not left_open(run)), None)


def left_open(run: EvaluationRun) -> dict[str, int]:
    """The cases that a language model should have answered and did not, by the reason."""
    return dict(run.details.get("model", {}).get("left_open", {}))


def _pinned(principal: Principal, dataset: EvaluationDataset, candidate: Candidate, rounds: int) -> Pins:
    if not 1 <= rounds <= MOST_ROUNDS:
        raise InvalidInput(_("rounds: expected 1 to {limit}."), limit=MOST_ROUNDS)
    return pins_of(principal, dataset, candidate, rounds=rounds)


def _queue(
    principal: Principal, dataset: EvaluationDataset, measured: Candidate, pins: Pins, baseline: EvaluationRun | None
) -> EvaluationRun:
    last = dataset.cases.filter(kind=measured.kind).aggregate(last=Max("pk"))["last"]
    with transaction.atomic():
        run = queue_run(
            principal,
            dataset,
            kind=measured.kind,
            subject=pins.subject,
            parameters={**pins.parameters, "last_case": last, "candidate": measured.name},
            baseline=baseline,
            pins_digest=pins.digest,
            details={"notices": pins.notices},
        )
        record_event(
            principal,
            "EVALUATION_RUN",
            f"evaluation_run:{run.public_id}",
            dataset=dataset.code,
            **{"candidate": measured.name} if measured.name else {},
        )
        enqueue_on_commit("review.evaluate", run_id=run.pk)
    return run


def _kind(dataset: EvaluationDataset, kind: str) -> str:
    kinds = set(dataset.cases.order_by().values_list("kind", flat=True).distinct())
    if kind not in ("", REVIEW, RETRIEVAL):
        raise InvalidInput(_("kind: expected review or retrieval."))
    return kind or next((name for name in (REVIEW, RETRIEVAL) if name in kinds), REVIEW)


def baseline_of(dataset: EvaluationDataset, kind: str) -> EvaluationRun | None:
    """The run that later ones are held against: the chosen one, else the newest completed one."""
    completed = dataset.runs.filter(kind=kind, status=RunStatus.COMPLETED).order_by("-is_baseline", "-pk")
    return completed.first()


def get_run(principal: Principal, run_id: str) -> EvaluationRun:
    """A run by its public id. Raises NotFound, also for runs of datasets that the caller may not read."""
    require_reader(principal)
    found = _visible_runs(principal).filter(public_id=run_id).first()
    if found is None:
        raise NotFound(_('There is no evaluation run "{run_id}".'), code="evaluation_not_found", run_id=run_id)
    return withhold_from_run(principal, found)


def _visible_runs(principal: Principal) -> QuerySet[EvaluationRun]:
    visible = EvaluationDataset.objects.visible_to(principal).values("pk")
    return EvaluationRun.objects.select_related("dataset", "baseline").filter(dataset__in=visible)


def list_runs(principal: Principal, *, dataset: str = "") -> QuerySet[EvaluationRun]:
    """The runs of datasets that the caller may read, newest first, without the scores of single cases."""
    runs = _visible_runs(principal).defer("scores", "baseline__scores", "baseline__details").order_by("-pk")
    return runs.filter(dataset=get_dataset(principal, dataset)) if dataset else runs


def comparable_runs(principal: Principal, run: EvaluationRun) -> QuerySet[EvaluationRun]:
    """The other completed runs of a run's dataset and kind, newest first."""
    return (
        list_runs(principal)
        .filter(dataset=run.dataset_id, kind=run.kind, status=RunStatus.COMPLETED)
        .exclude(pk=run.pk)
    )


def compare_runs(principal: Principal, run_id: str, *, base_id: str) -> ComparisonOut:
    """Hold a completed run against any other of its dataset and kind: masters, prompts, sets, chunking side by side.

    Raises NotFound, InvalidInput (another dataset or kind), Conflict (not completed).
    """
    run, base = get_run(principal, run_id), get_run(principal, base_id)
    if (run.dataset_id, run.kind) != (base.dataset_id, base.kind) or run.pk == base.pk:
        raise InvalidInput(
            _("base: {base_id} is no other run of this dataset and kind."), base_id=base_id, field="base"
        )
    if run.status != RunStatus.COMPLETED or base.status != RunStatus.COMPLETED:
        raise Conflict(_("Only completed runs can be compared."), code="run_not_completed")
    run.baseline = base  # for this answer only: nothing is saved
    cases = list(run.dataset.cases.filter(pk__in=[int(name) for name in run.scores]))
    summary = (retrieval_summary if run.kind == RETRIEVAL else review_summary)(run, cases)
    run.metrics, run.details, run.flips = summary["metrics"], summary["details"], summary["flips"]
    return comparison_out(withhold_from_run(principal, run))


def mark_baseline(*, principal: Principal, run_id: str) -> EvaluationRun:
    """Hold later runs of the dataset against this one. Raises NotFound, Conflict when it is not completed."""
    principal.require_hub(HubRight.EVALUATION)
    run = get_run(principal, run_id)
    if run.status != RunStatus.COMPLETED:
        raise Conflict(_("Only a completed run can be the baseline."), code="run_not_completed")
    with transaction.atomic():
        EvaluationRun.objects.filter(dataset=run.dataset, kind=run.kind, is_baseline=True).update(is_baseline=False)
        EvaluationRun.objects.filter(pk=run.pk).update(is_baseline=True)
        record_event(principal, "EVALUATION_BASELINE", f"evaluation_run:{run_id}")
    return get_run(principal, run_id)


def wait_for_run(
    run: EvaluationRun,
    *,
    timeout_s: float | None,
    on_progress: Callable[[int, str], None] | None = None,
    work_here: bool = False,
) -> bool:
    """Wait until a run is finished. False when time ran out.

    The work is done here while no worker is alive, or with ``work_here`` anyway (inside a transaction no worker can
    see the run).
    """
    return workers.wait_for_run(
        run.pk, execute=execution.execute, timeout_s=timeout_s, on_progress=on_progress, work_here=work_here
    )


def chosen_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """Translate asked names (``f1`` is ``f1_score``); all of them unless some are asked. Raises InvalidInput."""
    wanted = tuple(dict.fromkeys(ALIASES.get(name, name) for name in names))
    if unknown := sorted(set(wanted) - set(KNOWN_METRICS)):
        raise InvalidInput(
            _("metrics: unknown {unknown}. Known: {known}."),
            code="unknown_metric",
            unknown=", ".join(unknown),
            known=", ".join(KNOWN_METRICS),
        )
    return wanted or KNOWN_METRICS
