"""Celery tasks of the knowledge app: each makes one call. What is to be done stands in PostgreSQL."""

from __future__ import annotations

from celery import shared_task

from hub.core.queue import enqueue
from knowledge.ingest import pipeline


@shared_task(name="knowledge.advance_version", acks_late=True)
def advance_version(*, version_id: int) -> None:
    """Do the next stage of a version and queue what follows."""
    if pipeline.advance(version_id):
        enqueue(advance_version, version_id=version_id)


@shared_task(name="knowledge.sweep", ignore_result=True, expires=30)
def sweep() -> int:
    """Queue again what lost its worker or its task; gives their number."""
    ids = pipeline.take_stuck()
    for version_id in ids:
        enqueue(advance_version, version_id=version_id)
    return len(ids)
