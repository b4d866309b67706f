"""Celery tasks that call services of the review app. Services start tasks, so these can't stand beside those."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from hub.access.principals import system_principal
from hub.core.scheduled_rows import for_each_row
from hub.evaluation.models import EvaluationDataset
from review.services import reopen_expired_waivers
from review.services.evaluation_runs import start_run


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
