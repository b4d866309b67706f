"""Celery tasks of the knowledge app: each makes one call. What is to be done is in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celery import shared_task
from django.utils import timezone

from hub.core.queue import enqueue
from hub.core.scheduled_rows import for_each_row
from knowledge import operation
from knowledge.documents import deletion, scans
from knowledge.embedding_sets import builds
from knowledge.evaluation import measuring
from knowledge.generations import reconciling, sending
from knowledge.graph.cypher.projection import prune_removals
from knowledge.graph.masters import sync_masters
from knowledge.index import postings
from knowledge.index.warm_up import warm_up
from knowledge.ingest import figures, graph, pipeline
from knowledge.ontology import shape_checks


@shared_task(name="knowledge.sample", ignore_result=True, expires=60)
def sample() -> None:
    """Keep how the hub fares at this minute."""
    operation.take_sample(now=timezone.now())


@shared_task(name="knowledge.advance_version", acks_late=True)
def advance_version(*, version_id: int) -> None:
    """Do the next stage of a version and queue what follows."""
    _advance(version_id)


# CELERY_TASK_ROUTES give it a queue of its own: what one person brings in large numbers lets others go first.
@shared_task(name="knowledge.advance_bulk_version", acks_late=True)
def advance_bulk_version(*, version_id: int) -> None:
    """Do the next stage of a version that is one of many, and queue what follows."""
    _advance(version_id)


def _advance(version_id: int) -> None:
    if pipeline.advance(version_id):
        pipeline.queue(version_id)


# CELERY_TASK_ROUTES give it a queue of its own, behind the others: pages that are read for minutes let documents with
# text go first.
@shared_task(name="knowledge.read_version", acks_late=True)
def read_version(*, version_id: int) -> None:
    """Read pages of a version with OCR for a bounded time and queue what follows."""
    _advance(version_id)


# A message that waits longer is dropped: the sweep sends another one every few seconds while a set needs work.
@shared_task(name="knowledge.build_embedding_set", acks_late=True, expires=60)
def build_embedding_set(*, set_id: int) -> None:
    """Work on an embedding set for a bounded time, or clear away a dropped one, and queue what is left to do."""
    if builds.build_slice(set_id) or builds.clear_slice(set_id):
        enqueue("knowledge.build_embedding_set", set_id=set_id)


@shared_task(name="knowledge.send_index_changes", acks_late=True, expires=60)
def send_index_changes(*, generation_id: int) -> None:
    """Tell a search engine of changes for a bounded time, fill a new generation in it, and queue what is left."""
    if sending.work_on(generation_id):
        enqueue("knowledge.send_index_changes", generation_id=generation_id)


@shared_task(name="knowledge.reconcile_index", ignore_result=True, expires=3600, time_limit=6 * 3600)
def reconcile_index() -> dict[str, int]:
    """Compare what a search engine has with PostgreSQL, and put right what differs; gives how much of it."""
    return reconciling.reconcile_all()


@shared_task(name="knowledge.keep_lexical_index", ignore_result=True, expires=60)
def keep_lexical_index() -> None:
    """Merge what was indexed, index again what a new edition of the analysis cuts otherwise, and queue the rest."""
    if postings.keep_lexical_index():
        enqueue("knowledge.keep_lexical_index")


# Slices leave the workers to documents in between; one that waits for a minute is not worth being done any more.
@shared_task(name="knowledge.warm_up_search", ignore_result=True, expires=60)
def warm_up_search(*, start: int = 0) -> None:
    """Read a part of the search index into memory, and queue the rest."""
    following = warm_up(start)
    if following is not None:
        enqueue("knowledge.warm_up_search", start=following)


@shared_task(name="knowledge.update_graph", acks_late=True, expires=60)
def update_graph(*, document_pk: int) -> None:
    """Bring the graph in line with a document."""
    graph.update_graph(document_pk)


@shared_task(name="knowledge.sync_graph_masters", ignore_result=True, expires=60)
def sync_graph_masters() -> int:
    """Bring the graph in line with the masters; gives how many of them had changed."""
    return sync_masters()


@shared_task(name="knowledge.describe_figure", acks_late=True, expires=60)
def describe_figure(*, figure_pk: int) -> None:
    """Have a picture described by a language model."""
    figures.describe_figure(figure_pk)


@shared_task(name="knowledge.measure_set", acks_late=True)
def measure_set(*, run_id: int) -> None:
    """Work on a retrieval run until it is finished. ``review.sweep_evaluations`` finds those that nobody works on."""
    measuring.execute(run_id)


@shared_task(name="knowledge.sweep", ignore_result=True, expires=60)
def sweep() -> int:
    """Queue again what lost its worker or its task; gives their number. A kind that fails leaves the others theirs."""
    kinds: dict[str, Callable[[], Sequence[int]]] = {
        "versions": pipeline.queue_stuck,
        "pages to read": pipeline.queue_stuck_readings,
        "changes of the index": lambda: _queue_each(
            sending.take_waiting(), task="knowledge.send_index_changes", argument="generation_id"
        ),
        "embedding sets": lambda: _queue_each(
            builds.take_waiting(), task="knowledge.build_embedding_set", argument="set_id"
        ),
        "graphs of documents": lambda: _queue_each(
            graph.take_due(), task="knowledge.update_graph", argument="document_pk"
        ),
        "shape checks": lambda: _queue_each(
            shape_checks.lost_checks(), task="knowledge.validate_shapes", argument="ontology_id"
        ),
        "pictures": lambda: _queue_each(
            figures.take_due_figures(), task="knowledge.describe_figure", argument="figure_pk"
        ),
    }
    queued = for_each_row("knowledge.sweep", kinds, lambda kind: kinds[kind](), name=str)
    return sum(len(ids) for ids in queued.done)


def _queue_each(ids: Sequence[int], *, task: str, argument: str) -> Sequence[int]:
    """Queue the task of this name once for each id, given as ``argument``; gives the ids."""
    for one in ids:
        enqueue(task, **{argument: one})
    return ids


@shared_task(name="knowledge.validate_shapes", acks_late=True)
def validate_shapes(*, ontology_id: int) -> None:
    """Check an ontology against the SHACL shapes that came with it, and store the report."""
    shape_checks.check_shapes(ontology_id)


@shared_task(name="knowledge.scan_due_sources", expires=60)
def scan_due_sources() -> int:
    """Queue a scan of each source whose time has come; gives their number."""
    ids = scans.due_sources()
    for source_id in ids:
        enqueue("knowledge.scan_source", source_id=source_id)
    return len(ids)


@shared_task(name="knowledge.scan_source", acks_late=True)
def scan_source(*, source_id: int) -> None:
    """Do a piece of a source's scan and queue the rest."""
    if scans.scan(source_id):
        enqueue("knowledge.scan_source", source_id=source_id)


@shared_task(name="knowledge.enforce_retention", expires=3600)
def enforce_retention() -> dict[str, int]:
    """Delete a batch of expired documents and queue the rest; gives how many were ``deleted`` and ``failed``."""
    enforced = deletion.enforce_retention()
    if enforced.deleted == deletion.BATCH:
        enqueue("knowledge.enforce_retention")
    return {"deleted": enforced.deleted, "failed": len(enforced.failed)}


@shared_task(name="knowledge.tidy", expires=3600)
def tidy() -> dict[str, int]:
    """Remove what is no longer needed: bytes of deleted documents, private copies, old removals.

    Gives how many of the three ``failed``; none keeps the others from theirs.
    """
    parts: dict[str, Callable[[], object]] = {
        "stray bytes": deletion.remove_stray_bytes,
        "removals of the graph": prune_removals,
    }
    outcome = for_each_row("knowledge.tidy", parts, lambda part: parts[part](), name=str)
    return {"failed": len(outcome.failed)}
