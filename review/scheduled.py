"""Celery tasks that call services of the review app. Services start tasks, so these can't stand beside those."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone

from hub.access.principals import system_principal
from hub.core.errors import HubError
from hub.evaluation.models import EvaluationDataset
from review.services import reopen_expired_waivers
from review.services.evaluation_runs import start_run

logger = logging.getLogger(__name__)


@shared_task(name="review.reopen_waivers", expires=300)
def reopen_waivers() -> int:
    """Open findings again whose waiver has ended; gives their number."""
    return reopen_expired_waivers(now=timezone.now())


@shared_task(name="review.nightly", expires=3600)
def nightly_evaluations() -> int:
    """Start a run of every dataset that is marked for the night, against its baseline; gives their number."""
    started = 0
    for code in EvaluationDataset.objects.filter(is_nightly=True).values_list("code", flat=True):
        try:
            start_run(principal=system_principal("evaluation"), dataset=code, compare_baseline=True)
            started += 1
        except HubError as error:
            logger.warning("nightly evaluation of %s not started: %s", code, error)
    return started
