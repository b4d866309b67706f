"""Celery tasks that call services: scans of sources, retention, tidying up. Services name them, and can't import them.

What is to be done stands in PostgreSQL; a task that is lost or done twice changes nothing.
"""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from hub.core.queue import enqueue
from knowledge.backends.sources.private_copies import prune_private_folders
from knowledge.graph.cypher.projection import prune_removals
from knowledge.services import deletion, retention, scans


@shared_task(name="knowledge.scan_due_sources", expires=60)
def scan_due_sources() -> int:
    """Queue a scan of each source whose time has come; gives their number."""
    ids = scans.due_sources()
    for source_id in ids:
        enqueue(scan_source, source_id=source_id)
    return len(ids)


@shared_task(name="knowledge.scan_source", acks_late=True)
def scan_source(*, source_id: int) -> None:
    """Do a piece of a source's scan and queue the rest."""
    if scans.scan(source_id):
        enqueue(scan_source, source_id=source_id)


@shared_task(name="knowledge.enforce_retention", expires=3600)
def enforce_retention() -> int:
    """Delete a batch of expired documents and queue the rest; gives how many went."""
    deleted = retention.enforce_retention()
    if deleted == retention.BATCH:
        enqueue(enforce_retention)
    return deleted


@shared_task(name="knowledge.tidy", expires=3600)
def tidy() -> None:
    """Remove what is no longer needed: bytes of deleted documents, private copies, old removals."""
    deletion.remove_stray_bytes()
    prune_private_folders(timezone.now())
    prune_removals()
