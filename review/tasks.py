"""Celery tasks of the review app: each makes one call."""

from __future__ import annotations

from celery import shared_task

from hub.core.queue import enqueue
from hub.evaluation.working import take_stuck
from review import runs
from review.evaluation import execution

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
        if not enqueue(assist_review, review_id=review_id):
            return


@shared_task(name="review.sweep", expires=30)
def sweep_reviews() -> int:
    """Queue reviews that can go on and that nobody works on; gives their number."""
    ids = runs.take_stuck()
    for review_id in ids:
        enqueue(execute_review, review_id=review_id)
    return len(ids)


@shared_task(name="review.evaluate", acks_late=True)
def execute_evaluation(*, run_id: int) -> None:
    """Work on an evaluation run until it is finished."""
    execution.execute(run_id)


@shared_task(name="review.sweep_evaluations", expires=30)
def sweep_evaluations() -> int:
    """Queue evaluation runs that nobody works on; gives their number."""
    ids = take_stuck()
    for run_id in ids:
        enqueue(execute_evaluation, run_id=run_id)
    return len(ids)
