"""Celery tasks of the review app: each makes one call."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from hub.access.principals import system_principal
from hub.core.queue import enqueue
from hub.core.scheduled_rows import for_each_row
from hub.evaluation.execution import take_stuck
from hub.evaluation.models import EvaluationDataset
from review.evaluation import execution
from review.evaluation.runs import start_run
from review.runs import execution as runs
from review.triage.decisions import reopen_expired_waivers

HELPERS = 3
"""Workers asked to help with a review."""


@shared_task(name="review.execute", acks_late=True)
def execute_review(*, review_id: int) -> None:
    """Work on a review until it is finished."""
    runs.execute(review_id, call_for_help=_call_for_help)


@shared_task(name="review.assist", expires=60, acks_late=False)
def assist_review(*, review_id: int) -> None:
    """Judge checks of a review beside the worker that has it; nothing when it is finished."""
    runs.assist(review_id)


def _call_for_help(review_id: int) -> None:
    """Ask other workers; who is busy comes too late and does nothing."""
    for _ in range(HELPERS):
        if not enqueue("review.assist", review_id=review_id):
            return


@shared_task(name="review.sweep", expires=60)
def sweep_reviews() -> int:
    """Queue reviews that can go on and that nobody works on; gives their number."""
    ids = runs.take_stuck()
    for review_id in ids:
        enqueue("review.execute", review_id=review_id)
    return len(ids)


@shared_task(name="review.evaluate", acks_late=True)
def execute_evaluation(*, run_id: int) -> None:
    """Work on an evaluation run until it is finished."""
    execution.execute(run_id)


@shared_task(name="review.sweep_evaluations", expires=60)
def sweep_evaluations() -> int:
    """Queue evaluation runs that nobody works on; gives their number."""
    ids = take_stuck()
    for run_id in ids:
        enqueue("review.evaluate", run_id=run_id)
    return len(ids)


@shared_task(name="review.reopen_waivers", expires=300)
def reopen_waivers() -> dict[str, int]:
    """Open findings again whose waiver has ended; gives how many were ``reopened``, and reviews that ``failed``."""
    outcome = reopen_expired_waivers(now=timezone.now())
    return {"reopened": sum(outcome.done), "failed": len(outcome.failed)}


@shared_task(name="review.nightly", expires=3600)
def nightly_evaluations() -> dict[str, int]:
    """Start a run of every dataset that is marked for the night, against its baseline.

    Gives how many were ``started``, and how many ``failed`` to start.
    """

    def start(code: str) -> None:
        start_run(principal=system_principal("evaluation"), dataset=code, compare_baseline=True)

    codes = EvaluationDataset.objects.filter(is_nightly=True).order_by("code").values_list("code", flat=True)
    outcome = for_each_row("review.nightly", list(codes), start, name=str)
    return {"started": len(outcome.done), "failed": len(outcome.failed)}
