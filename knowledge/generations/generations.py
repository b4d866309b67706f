"""Generations, and what an operator does with them: make, look at, switch to, drop."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.core.errors import Conflict, NotFound
from hub.core.ids import new_id
from hub.core.queue import enqueue_on_commit
from knowledge.engines import EngineError
from knowledge.index.active_embedder import active_embedding_set, chunks_of
from knowledge.index.changes import SEND, has_engine
from knowledge.index.engine import get_engine
from knowledge.models import (
    Chunk,
    EmbeddingSet,
    EmbeddingSetStatus,
    GenerationStatus,
    IndexChange,
    IndexGeneration,
    LexicalField,
    LexicalStatistics,
)
from knowledge.types.engines import EngineHealth, Within

# An engine that was not told of something for so long is in trouble.
LATE_S = 15 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """How many changes a generation was not told of yet, and for how long the oldest of them waits, in seconds."""

    rows: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationState:
    """A generation, how far it is behind, and how the engine says it is: None where it does not answer."""

    generation: IndexGeneration
    is_active: bool
    lag: Lag
    wanted: int
    health: EngineHealth | None


def create_generation(*, principal: Principal, set_name: str = "", shards: int, copies: int) -> IndexGeneration:
    """Make a generation of an embedding set, by default the active one; workers fill it, and nothing else changes.

    Raises NotFound, and Conflict where no search engine is set.
    """
    principal.require_hub(HubRight.OPERATION)
    _require_engine()
    wanted = _set_named(set_name)
    with transaction.atomic():
        lengths = _average_lengths(wanted)
        generation = IndexGeneration.objects.create(
            embedding_set=wanted,
            collection=new_id("kb"),
            shards=shards,
            copies=copies,
            word_length=lengths[LexicalField.WORD.value],
            bigram_length=lengths[LexicalField.BIGRAM.value],
        )
        _record(principal, "CREATE", generation, embedding_set=wanted.name, shards=shards, copies=copies)
        enqueue_on_commit(SEND, generation_id=generation.pk)
    return generation


def list_generations(principal: Principal) -> list[GenerationState]:
    """Tell of all generations, the oldest first, and ask the engine about each."""
    principal.require_hub(HubRight.OPERATION)
    rows = IndexGeneration.objects.select_related("embedding_set__policy").order_by("pk")
    return [_state_of(row) for row in rows]


def switch_to_generation(*, principal: Principal, generation_id: int) -> IndexGeneration:
    """Have searches of its embedding set ask a generation, from their next one on.

    One row is written, so going back is as quick. Refused while it is not filled, or the engine has another number of
    passages than PostgreSQL. Raises NotFound, Conflict, and EngineError where the engine does not answer.
    """
    principal.require_hub(HubRight.OPERATION)
    _require_engine()
    generation = _generation(generation_id)
    lag, wanted = lag_of(generation.pk), wanted_passages(generation)
    there = get_engine().count(generation.collection, Within()) if generation.status == GenerationStatus.READY else 0
    if generation.status != GenerationStatus.READY or there != wanted or lag.rows:
        raise Conflict(
            _(
                "Generation {id} is not complete: the search engine has {there} of {wanted} passages, and {rows} "
                "changes wait to be sent. Wait until it is, or look at manage.py search_index list."
            ),
            code="index_generation_incomplete",
            id=generation.pk,
            there=there,
            wanted=wanted,
            rows=lag.rows,
        )
    with transaction.atomic():
        EmbeddingSet.objects.filter(pk=generation.embedding_set_id).update(generation=generation)
        _record(principal, "SWITCH", generation)
    return generation


def switch_to_postgresql(*, principal: Principal) -> EmbeddingSet:
    """Have searches of the active set ask PostgreSQL again, from their next one on."""
    principal.require_hub(HubRight.OPERATION)
    active = active_embedding_set()
    with transaction.atomic():
        EmbeddingSet.objects.filter(pk=active.pk).update(generation=None)
        record_event(principal, "INDEX_GENERATION_SWITCH", f"embedding_set:{active.name}"[:200], to="postgresql")
    return active


def drop_generation(*, principal: Principal, generation_id: int) -> None:
    """Give a generation up: a worker removes it from the engine.

    Raises NotFound, and Conflict where searches ask it.
    """
    principal.require_hub(HubRight.OPERATION)
    _require_engine()
    generation = _generation(generation_id)
    with transaction.atomic():
        if EmbeddingSet.objects.select_for_update().filter(generation=generation).exists():
            raise Conflict(
                _("Searches ask generation {id}. Switch to another one, or to postgresql, before you drop it."),
                code="index_generation_active",
                id=generation.pk,
            )
        IndexGeneration.objects.filter(pk=generation.pk).update(
            status=GenerationStatus.DROPPED, lease_token="", lease_expires_at=None
        )
        _record(principal, "DROP", generation)
        enqueue_on_commit(SEND, generation_id=generation.pk)


def lag_of(generation_id: int) -> Lag:
    """Count what a generation was not told of yet. One query."""
    return _lags(IndexChange.objects.filter(generation=generation_id)).get(generation_id, Lag())


def lags() -> dict[int, Lag]:
    """Tell how far generations are behind, by key; those that are not are left out.

    One query, none without an engine.
    """
    return _lags(IndexChange.objects.all()) if has_engine() else {}


def _lags(changes: QuerySet[IndexChange]) -> dict[int, Lag]:
    unsent = changes.filter(sent_at__isnull=True).values("generation_id")
    counted = unsent.annotate(rows=Count("pk"), age=Now() - Min("created_at")).order_by()
    return {row["generation_id"]: Lag(rows=row["rows"], seconds=row["age"].total_seconds()) for row in counted}


def wanted_passages(generation: IndexGeneration) -> int:
    """Count the passages that a generation should have. One query."""
    return Chunk.objects.filter(chunks_of(generation.embedding_set), lexical_entry__isnull=False).count()


def _state_of(generation: IndexGeneration) -> GenerationState:
    try:
        health = get_engine().health(generation.collection) if has_engine() else None
    except EngineError:
        health = None
    return GenerationState(
        generation=generation,
        is_active=generation.embedding_set.is_active and generation.embedding_set.generation_id == generation.pk,
        lag=lag_of(generation.pk),
        wanted=wanted_passages(generation),
        health=health,
    )


def _average_lengths(embedding_set: EmbeddingSet) -> dict[int, float]:
    """Return how many terms a passage of the set has on average, by field; 1 where there is none yet."""
    lengths = dict.fromkeys(LexicalField.values, 1.0)
    own = LexicalStatistics.objects.filter(Q(policy__isnull=True) | Q(policy=embedding_set.policy_id))
    totals = dict.fromkeys(LexicalField.values, (0, 0))
    for field, chunks, length in own.values_list("field", "chunks", "total_length"):
        totals[field] = (totals[field][0] + chunks, totals[field][1] + length)
    return lengths | {field: length / chunks for field, (chunks, length) in totals.items() if chunks}


def _set_named(name: str) -> EmbeddingSet:
    if not name:
        return active_embedding_set()
    found = EmbeddingSet.objects.exclude(status=EmbeddingSetStatus.DROPPED).filter(name=name).first()
    if found is None:
        raise NotFound(_('There is no embedding set "{name}".'), name=name)
    return found


def _generation(generation_id: int) -> IndexGeneration:
    kept = IndexGeneration.objects.exclude(status=GenerationStatus.DROPPED).select_related("embedding_set__policy")
    found = kept.filter(pk=generation_id).first()
    if found is None:
        raise NotFound(_("There is no generation {id} of the index."), id=generation_id)
    return found


def _require_engine() -> None:
    if not has_engine():
        raise Conflict(
            _("There is no search engine: set SEARCH_INDEX=qdrant and QDRANT_URL, and start the hub again."),
            code="no_search_engine",
        )


def _record(principal: Principal, what: str, generation: IndexGeneration, **details: object) -> None:
    record_event(
        principal=principal,
        action=f"INDEX_GENERATION_{what}",
        resource=f"index_generation:{generation.pk}",
        **details,
    )
