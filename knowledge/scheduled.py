"""Celery tasks that call services: scans of sources, retention, tidying up. Services name them, and can't import them.

What is to be done stands in PostgreSQL; a task that is lost or done twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from celery import shared_task
from django.utils import timezone

from hub.core.queue import enqueue
from hub.core.scheduled_rows import for_each_row
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
def enforce_retention() -> dict[str, int]:
    """Delete a batch of expired documents and queue the rest; gives how many were ``deleted`` and ``failed``."""
    enforced = retention.enforce_retention()
    if enforced.deleted == retention.BATCH:
        enqueue(enforce_retention)
    return {"deleted": enforced.deleted, "failed": len(enforced.failed)}


@shared_task(name="knowledge.tidy", expires=3600)
def tidy() -> dict[str, int]:
    """Remove what is no longer needed: bytes of deleted documents, private copies, old removals.

    Gives how many of the three ``failed``; none keeps the others from theirs.
    """
    parts: dict[str, Callable[[], object]] = {
        "stray bytes": deletion.remove_stray_bytes,
        "private copies": lambda: prune_private_folders(timezone.now()),
        "removals of the graph": prune_removals,
    }
    outcome = for_each_row("knowledge.tidy", parts, lambda part: parts[part](), name=str)
    return {"failed": len(outcome.failed)}
