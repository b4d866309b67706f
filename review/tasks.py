"""Celery tasks of the review app: each makes one call."""

from __future__ import annotations

from celery import shared_task

from hub.core.queue import enqueue
from review import runs
from review.evaluation import execution


@shared_task(name="review.execute", acks_late=True)
def execute_review(*, review_id: int) -> None:
    """Work on a review until it is finished."""
    runs.execute(review_id)


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
    ids = execution.take_stuck()
    for run_id in ids:
        enqueue(execute_evaluation, run_id=run_id)
    return len(ids)
