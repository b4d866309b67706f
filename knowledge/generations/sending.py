"""Filling a generation in the search engine, and telling it of changes, slice by slice.

Only the holder of a generation's lease works. What is sent is what PostgreSQL says at that moment, so a slice may be
killed anywhere and done again: at worst the engine is told twice. Rows stay for an hour after the engine acknowledged
them, for a node that lost its last writes with its power (`send_again`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from hub.core.lease import Lease, LeaseLost, claim, free
from knowledge.engines import WRITE_TIMEOUT_FACTOR, EngineError
from knowledge.generations.passages import numbers_after, passages_of
from knowledge.index.changes import has_engine
from knowledge.index.engine import get_engine
from knowledge.models import ChangeKind, Document, GenerationStatus, IndexChange, IndexGeneration
from knowledge.ports import SearchEngine
from knowledge.types.engines import Layout, Tags

logger = logging.getLogger(__name__)

SLICE_S = 20.0
# Of passages so many are written at once, a few megabytes; of changes so many rows are looked at together.
PASSAGES_AT_ONCE = 500
CHANGES_AT_ONCE = 200
PAUSE_AFTER_FAILURE = timedelta(seconds=10)
KEPT = timedelta(hours=1)
MOST_REASON_CHARS = 500
# Transactions that write, other than this one, and began to do so before a number was given out.
_OTHERS_BEFORE = """
SELECT EXISTS (
  SELECT FROM pg_snapshot_xip(pg_current_snapshot()) AS one (xid)
  WHERE one.xid::text::bigint < %s AND one.xid IS DISTINCT FROM pg_current_xact_id_if_assigned()
)
"""


def take_waiting() -> list[int]:
    """Name the generations that have something to be done and that nobody works on.

    One query, none without an engine.
    """
    if not has_engine():
        return []
    unsent = Exists(IndexChange.objects.filter(generation_id=OuterRef("pk"), sent_at__isnull=True))
    unfinished = Q(status__in=[GenerationStatus.BUILDING, GenerationStatus.DROPPED])
    waiting = IndexGeneration.objects.filter(free(), unfinished | Q(unsent)).order_by("pk")
    return list(waiting.values_list("pk", flat=True))


def work_on(generation_id: int, *, seconds: float = SLICE_S) -> bool:
    """Send, and fill, for about ``seconds``. True when more is left; False when nothing is, held, paused or gone.

    What the engine refuses is noted as ``failure``, and the generation is left alone for ten seconds.
    """
    lease = claim(IndexGeneration.objects.all(), generation_id) if has_engine() else None
    if lease is None:
        return False
    generation = IndexGeneration.objects.select_related("embedding_set__policy").get(pk=generation_id)
    deadline = time.monotonic() + seconds
    try:
        for _step in _steps(generation, lease, get_engine()):
            if time.monotonic() > deadline:
                lease.release()
                return True
        lease.change(failure="")
    except LeaseLost:
        logger.info("generation %s was taken over or dropped while at work", generation)
        return False
    except EngineError as error:
        logger.warning("generation %s can't be told of changes now: %s", generation, error)
        IndexGeneration.objects.filter(pk=generation_id).update(failure=str(error)[:MOST_REASON_CHARS])
        lease.release(retry_in=PAUSE_AFTER_FAILURE)
        return False
    lease.release()
    return False


def send_again() -> int:
    """Have everything sent once more that the engine acknowledged within the last hour; gives the number of rows."""
    return IndexChange.objects.filter(sent_at__isnull=False).update(sent_at=None)


def prune_changes() -> int:
    """Remove what was acknowledged more than an hour ago, and what nobody is to be told any more."""
    is_old = Q(sent_at__lt=Now() - KEPT)
    if not has_engine():
        is_old |= Q(sent_at__isnull=True)
    return IndexChange.objects.filter(is_old).delete()[0]


def _steps(generation: IndexGeneration, lease: Lease, engine: SearchEngine) -> Iterator[None]:
    """Do one thing after the other, until nothing is left. Before each the lease is held for as long as it may take."""
    if generation.status == GenerationStatus.DROPPED:
        engine.drop(generation.collection)
        generation.delete()
        return
    if generation.status == GenerationStatus.BUILDING:
        _hold(lease)
        engine.make(generation.collection, layout_of(generation))
    while _send_some(generation, lease, engine) or _fill_some(generation, lease, engine):
        yield


def layout_of(generation: IndexGeneration) -> Layout:
    dimension = generation.embedding_set.dimension
    return Layout(dimension=dimension, shards=generation.shards, copies=generation.copies)


def _hold(lease: Lease) -> None:
    lease.hold_for(WRITE_TIMEOUT_FACTOR * settings.CONFIG.qdrant_timeout_s)


def _send_some(generation: IndexGeneration, lease: Lease, engine: SearchEngine) -> bool:
    """Send the oldest changes; False when there are none.

    Each is told as it is now: what is put and gone meanwhile is left out, and what is dropped is not there any more.
    """
    unsent = IndexChange.objects.filter(generation=generation, sent_at__isnull=True).order_by("pk")
    rows = list(unsent[:CHANGES_AT_ONCE])
    if not rows:
        return False
    _hold(lease)
    engine.delete(generation.collection, _numbers(rows, ChangeKind.DROP))
    new = _numbers(rows, ChangeKind.PUT)
    for start in range(0, len(new), PASSAGES_AT_ONCE):
        engine.write(generation.collection, passages_of(generation, new[start : start + PASSAGES_AT_ONCE]))
        _hold(lease)
    tagged = {row.document_id for row in rows if row.kind == ChangeKind.RETAG}
    retag(generation, engine, [one for one in tagged if one is not None])
    with transaction.atomic():
        lease.lock()
        IndexChange.objects.filter(pk__in=[row.pk for row in rows]).update(sent_at=Now())
    return True


def _numbers(rows: Sequence[IndexChange], kind: ChangeKind) -> list[int]:
    return sorted({number for row in rows if row.kind == kind for number in row.numbers})


def retag(generation: IndexGeneration, engine: SearchEngine, document_ids: Sequence[int]) -> None:
    """Tell the engine where documents are now. One query."""
    places = Document.objects.filter(pk__in=document_ids).values_list("pk", "collection_id", "classification")
    for document_id, collection_id, classification in places.order_by("pk"):
        tags = Tags(collection_id=collection_id, classification=classification)
        engine.retag(generation.collection, document_id, tags)


def _is_told_all(generation: IndexGeneration, lease: Lease) -> bool:
    """Whether every transaction that is still running knows of the generation. Two queries."""
    with connection.cursor() as cursor:
        if generation.told_from is None:
            cursor.execute("SELECT pg_current_xact_id()::text::bigint")  # greater than that of all who write now
            generation.told_from = int(cursor.fetchone()[0])
            lease.change(told_from=generation.told_from)
        cursor.execute(_OTHERS_BEFORE, [generation.told_from])
        return not cursor.fetchone()[0]


def _fill_some(generation: IndexGeneration, lease: Lease, engine: SearchEngine) -> bool:
    """Write the next passages that were there before the generation.

    False when all are, which makes it ready, and while somebody writes who does not know of it yet.
    """
    if generation.status != GenerationStatus.BUILDING or not _is_told_all(generation, lease):
        return False
    numbers = numbers_after(generation, generation.filled_to, PASSAGES_AT_ONCE)
    if not numbers:
        generation.status = GenerationStatus.READY
        lease.change(status=GenerationStatus.READY)
        return False
    _hold(lease)
    engine.write(generation.collection, passages_of(generation, numbers))
    generation.filled_to = numbers[-1]
    lease.change(filled_to=generation.filled_to)
    return True
