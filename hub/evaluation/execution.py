"""Working on an evaluation run, whatever it measures: part by part, each stored as it is done.

Whoever holds the run's lease works on it; the next one after a crash keeps what is stored and goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from hub.access.principals import Principal, system_principal
from hub.access.services import principal_for_user, record_event
from hub.core.lease import Lease, LeaseLost, claim, free
from hub.evaluation.models import UNFINISHED_RUNS, EvaluationCase, EvaluationDataset, EvaluationRun, RunStatus

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 4
STUCK_LIMIT = 20

Summary = dict[str, Any]
"""``metrics``, ``details`` and ``flips`` of a run, as they are stored."""
Measure = Callable[[EvaluationRun, Lease, Sequence[EvaluationCase]], None]
Summarise = Callable[[EvaluationRun, Sequence[EvaluationCase]], Summary]
Kinds = Mapping[str, tuple[Measure, Summarise]]
"""By the kind of cases: what scores those that have no score yet, and what sums the scores up."""


class RunFailed(Exception):
    """The run can't go on; the text says why."""


def queue_run(
    principal: Principal,
    dataset: EvaluationDataset,
    *,
    kind: str,
    subject: str,
    parameters: Mapping[str, Any],
    baseline: EvaluationRun | None,
    **fields: Any,  # noqa: ANN401 (of the model)
) -> EvaluationRun:
    """Make a run that waits for a worker. ``parameters`` name the ``last_case`` that it measures."""
    return EvaluationRun.objects.create(
        dataset=dataset,
        kind=kind,
        subject=subject[:200],
        parameters={**parameters, "as_system": principal.user_id is None},
        baseline=baseline,
        status=RunStatus.QUEUED,
        progress=0,
        principal=principal.name,
        requested_by_id=principal.user_id,
        **fields,
    )


def work_on(run_id: int, kinds: Kinds) -> bool:
    """Work on a run of one of ``kinds`` until it is finished. False when it is finished or another has it.

    The run that it is to be compared with is worked on first.
    """
    waiting = EvaluationRun.objects.filter(status__in=UNFINISHED_RUNS, kind__in=kinds)
    before = waiting.filter(pk=run_id).values_list("baseline", flat=True).first()
    if before is not None and waiting.filter(pk=before).exists() and not work_on(before, kinds):
        return False  # another process measures the baseline; the sweep comes back to this run
    lease = claim(waiting, run_id, status=RunStatus.RUNNING, attempts=F("attempts") + 1)
    if lease is None:
        return False
    run = EvaluationRun.objects.select_related("dataset", "baseline", "requested_by").get(pk=run_id)
    measure, summarise = kinds[run.kind]
    try:
        if run.attempts > MAX_ATTEMPTS:
            raise RunFailed(f"interrupted {MAX_ATTEMPTS} times in a row")
        if run.baseline is not None and run.baseline.status == RunStatus.FAILED:
            raise RunFailed(f"the run to compare with failed: {run.baseline.error}")
        cases = list(run.dataset.cases.filter(kind=run.kind, pk__lte=run.parameters["last_case"]))
        measure(run, lease, cases)
        _finish(run, lease, cases, summarise)
    except RunFailed as error:
        with transaction.atomic():
            lease.lock()
            _close(run, status=RunStatus.FAILED, error=str(error))
    except LeaseLost:
        logger.info("evaluation run %s was deleted or taken over", run.public_id)
    return True


def take_stuck() -> list[int]:
    """Find runs that nobody works on: never started, or crashed."""
    ready = EvaluationRun.objects.filter(free(), status__in=UNFINISHED_RUNS)
    return list(ready.order_by("created_at").values_list("pk", flat=True)[:STUCK_LIMIT])


def caller_of(run: EvaluationRun) -> Principal:
    """Questions are asked with the eyes of the person who asked for the run. Raises RunFailed."""
    if run.parameters["as_system"]:
        return system_principal("evaluation")
    if not isinstance(run.requested_by, User) or not run.requested_by.is_active:
        raise RunFailed("the person who started the run is gone")
    return principal_for_user(run.requested_by)


def store_scores(run: EvaluationRun, lease: Lease, scores: Mapping[str, Any], share: float) -> None:
    """Keep the scores of more cases, by the cases' ids; ``share`` is how much is done, 0 to 1. Raises LeaseLost."""
    run.scores = {**run.scores, **scores}
    with transaction.atomic():
        lease.lock()
        EvaluationRun.objects.filter(pk=run.pk).update(
            scores=run.scores, details=run.details, progress=min(99, int(100 * share))
        )


def _finish(run: EvaluationRun, lease: Lease, cases: Sequence[EvaluationCase], summarise: Summarise) -> None:
    judged = [case for case in cases if str(case.pk) in run.scores]
    if not judged:
        raise RunFailed("the dataset has no cases any more")
    summary = summarise(run, judged)
    with transaction.atomic():
        lease.lock()
        _close(run, status=RunStatus.COMPLETED, progress=100, **summary)
        record_event(
            system_principal("evaluation"),
            "EVALUATION_COMPLETE",
            f"evaluation_run:{run.public_id}",
            dataset=run.dataset.code,
            regression=bool(summary["metrics"].get("regression")),
        )


def _close(run: EvaluationRun, **fields: object) -> None:
    EvaluationRun.objects.filter(pk=run.pk).update(**fields, finished_at=Now(), lease_token="", lease_expires_at=None)
