"""Celery tasks that call services of the review app. Services start tasks, so these can't stand beside those."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from review.services import reopen_expired_waivers


@shared_task(name="review.reopen_waivers", expires=300)
def reopen_waivers() -> int:
    """Open findings again whose waiver has ended; gives their number."""
    return reopen_expired_waivers(now=timezone.now())
