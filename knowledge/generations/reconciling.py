"""Comparing what a search engine has with what PostgreSQL says, and putting right what differs.

Changes that were lost on the way, what a node forgot with its power, and what an engine's own errors leave behind are
found here alone. Nothing of it was ever shown to somebody who may not see it: PostgreSQL decides about every hit.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from django.db.models import Count
from django.db.models.functions import Now
from numpy.typing import NDArray

from hub.core.lease import LeaseLost, claim
from knowledge.generations.passages import numbers_after, passages_of
from knowledge.generations.sending import PASSAGES_AT_ONCE, retag
from knowledge.index.active_embedder import chunks_of
from knowledge.index.changes import has_engine
from knowledge.index.engine import get_engine
from knowledge.models import Chunk, Document, GenerationStatus, IndexGeneration
from knowledge.ports import SearchEngine
from knowledge.types.engines import Within

logger = logging.getLogger(__name__)

NUMBERS_AT_ONCE = 10_000
DOCUMENTS_AT_ONCE = 500


@dataclass(slots=True)
class Reconciled:
    """How many passages the engine lacked, had too many, and how many documents may have had other tags."""

    missing: int = 0
    stray: int = 0
    retagged: int = 0


def reconcile_all() -> dict[str, int]:
    """Reconcile every finished generation that nobody works on; gives the sums.

    :raises EngineError: the engine does not answer.
    """
    done = Reconciled()
    if has_engine():
        ready = IndexGeneration.objects.filter(status=GenerationStatus.READY).order_by("pk")
        for generation_id in ready.values_list("pk", flat=True):
            one = reconcile(generation_id) or Reconciled()
            done.missing += one.missing
            done.stray += one.stray
            done.retagged += one.retagged
    return {"missing": done.missing, "stray": done.stray, "retagged": done.retagged}


def reconcile(generation_id: int) -> Reconciled | None:
    """Bring a generation in line with PostgreSQL; None where it is not finished, or somebody works on it.

    Reads all of its numbers.

    :raises EngineError: the engine does not answer; what was put right until then stays.
    """
    lease = claim(IndexGeneration.objects.filter(status=GenerationStatus.READY), generation_id)
    if lease is None:
        return None
    found = Reconciled()
    generation = IndexGeneration.objects.select_related("embedding_set__policy").get(pk=generation_id)
    try:
        for _step in _steps(generation, get_engine(), found):
            lease.renew()
        lease.change(reconciled_at=Now())
        _log(generation, found)
    except LeaseLost:
        logger.info("generation %s was taken over while it was reconciled", generation)
    finally:
        lease.release()
    return found


def _log(generation: IndexGeneration, found: Reconciled) -> None:
    if found != Reconciled():
        logger.warning(
            "generation %s lacked %d passages, had %d too many, and %d documents in another place",
            *(generation, found.missing, found.stray, found.retagged),
        )


def _steps(generation: IndexGeneration, engine: SearchEngine, found: Reconciled) -> Iterator[None]:
    for low, high, there in _windows(generation, engine):
        # Read after the engine was: what was deleted in between is stray, and what was written is told by its change.
        numbered = Chunk.objects.filter(
            chunks_of(generation.embedding_set), lexical_entry__ordinal__range=(low + 1, high)
        )
        here = np.array(list(numbered.values_list("lexical_entry__ordinal", flat=True)), np.int64)
        stray = np.setdiff1d(there, here)
        engine.delete(generation.collection, stray.tolist())
        found.stray += stray.size
        yield
        missing = np.setdiff1d(here, there)
        for start in range(0, missing.size, PASSAGES_AT_ONCE):
            passages = passages_of(generation, missing[start : start + PASSAGES_AT_ONCE].tolist())
            engine.write(generation.collection, passages)
            found.missing += len(passages)
            yield
    yield from _put_in_their_places(generation, engine, found)


def _windows(generation: IndexGeneration, engine: SearchEngine) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Go through the numbers: those that are above ``low`` and up to ``high``, and which of them the engine has."""
    low = 0
    while True:
        there = engine.numbers(generation.collection, after=low, limit=NUMBERS_AT_ONCE)
        if there.size == NUMBERS_AT_ONCE:
            high = int(there[-1])
            yield low, high, there
            low = high
            continue
        yield from _last_windows(generation, low, there)
        return


def _last_windows(
    generation: IndexGeneration, low: int, there: NDArray[np.int64]
) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    while numbers := numbers_after(generation, low, NUMBERS_AT_ONCE):
        high = numbers[-1]
        yield low, high, there[(there > low) & (there <= high)]
        low = high
    rest = there[there > low]
    if rest.size:
        yield low, int(rest[-1]), rest


def _put_in_their_places(generation: IndexGeneration, engine: SearchEngine, found: Reconciled) -> Iterator[None]:
    """Tag the documents of each collection and classification again of which the engine counts other numbers."""
    indexed = Chunk.objects.filter(chunks_of(generation.embedding_set), lexical_entry__isnull=False)
    places = indexed.values_list("version__document__collection_id", "version__document__classification")
    wrong: set[int] = set()
    for collection_id, classification, number in places.annotate(number=Count("pk")).order_by():
        counts = [
            engine.count(generation.collection, Within(collection_ids=(collection_id,), ceiling=ceiling))
            for ceiling in (classification, classification - 1)
        ]
        yield
        if counts[0] - counts[1] != number:
            wrong.add(collection_id)
    documents = Document.objects.filter(collection_id__in=wrong, current_version__isnull=False).order_by("pk")
    keys = list(documents.values_list("pk", flat=True))
    for start in range(0, len(keys), DOCUMENTS_AT_ONCE):
        batch = keys[start : start + DOCUMENTS_AT_ONCE]
        retag(generation, engine, batch)
        found.retagged += len(batch)
        yield
