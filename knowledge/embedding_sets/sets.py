"""The life of embedding sets: make one beside the active one, build it, drop it. Switching is in set_switching."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.core.languages import shown
from hub.core.queue import enqueue_on_commit
from knowledge.documents.documents import policy_row
from knowledge.documents.workers import POLL_S, worker_is_alive
from knowledge.embedders import Embedder, EmbeddingError
from knowledge.embedding_sets import builds
from knowledge.embedding_sets.builds import SetProgress, progress_of
from knowledge.index.active_embedder import active_embedding_set, make_embedder
from knowledge.models import ChunkPolicy, EmbeddingSet, EmbeddingSetStatus
from knowledge.types.chunks import ChunkOptions, SizeUnit

LOOKING = (HubRight.EVALUATION, HubRight.OPERATION)
"""The rights of which one is enough to look at embedding sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDraft:
    """What a new set is to be. Empty ``model`` means the backend's default, empty ``base_url`` EMBEDDING_BASE_URL.

    Without ``chunk_options`` it cuts as the active set does, in smaller pieces if its model reads fewer tokens.
    """

    name: str
    backend: str
    model: str = ""
    base_url: str = ""
    chunk_options: ChunkOptions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetState:
    embedding_set: EmbeddingSet
    progress: SetProgress | None


def list_sets(principal: Principal, *, with_dropped: bool = True) -> list[SetState]:
    """Every set, the newest first, with its progress. For holders of one of LOOKING."""
    principal.require_hub(*LOOKING)
    sets = EmbeddingSet.objects.select_related("policy").order_by("-pk")
    if not with_dropped:
        sets = sets.exclude(status=EmbeddingSetStatus.DROPPED)
    return [SetState(embedding_set=one, progress=_progress(one)) for one in sets]


def get_set(principal: Principal, name: str) -> SetState:
    principal.require_hub(*LOOKING)
    found = find_set(name)
    return SetState(embedding_set=found, progress=_progress(found))


def _progress(embedding_set: EmbeddingSet) -> SetProgress | None:
    return None if embedding_set.status == EmbeddingSetStatus.DROPPED else progress_of(embedding_set)


def create_set(*, principal: Principal, draft: SetDraft) -> EmbeddingSet:
    """Make a set that nobody searches yet and that nothing is built for. Its model is loaded or asked once.

    Raises InvalidInput when there is no such backend or model, it can't be used here, or the sizes don't fit it;
    Conflict when the name is taken.
    """
    principal.require_hub(HubRight.OPERATION)
    if not draft.name.strip() or "\0" in draft.name:
        raise InvalidInput(_("Give the embedding set a name."), field="name")
    active = active_embedding_set()
    try:
        embedder = make_embedder(draft.backend, draft.model, draft.base_url)
        policy = _policy(draft.chunk_options, active.policy, embedder)
        with transaction.atomic():
            made = EmbeddingSet.objects.create(
                name=draft.name.strip(),
                backend=embedder.name,
                model=embedder.model,
                base_url=draft.base_url,
                fingerprint=embedder.fingerprint,
                dimension=len(embedder.embed_query("次元")),
                max_tokens=embedder.max_tokens,
                policy=policy,
                status=EmbeddingSetStatus.BUILDING,
            )
            record_step(principal, "CREATE", made, backend=made.backend, model=made.model, policy=str(policy))
    except EmbeddingError as error:
        raise InvalidInput(
            _("This embedding model can't be used: {reason}"), code=error.code, reason=shown(error.text)
        ) from error
    except IntegrityError as error:
        raise Conflict(_('There is an embedding set "{name}" already.'), name=draft.name.strip()) from error
    return made


def _policy(options: ChunkOptions | None, current: ChunkPolicy, embedder: Embedder) -> ChunkPolicy:
    if options is not None:
        return policy_row(options, token_limit=embedder.max_tokens)
    if current.unit != SizeUnit.TOKENS or current.size <= embedder.max_tokens:
        return current
    size = embedder.max_tokens
    fitting = ChunkOptions(
        strategy=current.options().strategy, size=size, overlap=min(current.overlap, size // 2), unit=SizeUnit.TOKENS
    )
    return policy_row(fitting, token_limit=embedder.max_tokens)


def start_build(*, principal: Principal, name: str) -> EmbeddingSet:
    """Start building a set, or go on at once after a failure. A set that is ready stays as it is.

    Raises NotFound, and Conflict for a dropped set.
    """
    principal.require_hub(HubRight.OPERATION)
    found = kept_set(name)
    if found.status == EmbeddingSetStatus.BUILDING:
        with transaction.atomic():
            rows = EmbeddingSet.objects.filter(pk=found.pk)
            rows.update(build_started_at=Coalesce("build_started_at", Now()), status_reason="")
            rows.filter(lease_token="").update(lease_expires_at=None)
            enqueue_on_commit("knowledge.build_embedding_set", set_id=found.pk)
            record_step(principal, "BUILD", found)
        found.refresh_from_db()
    return found


def work_on_set(name: str, *, on_progress: Callable[[SetProgress], None], wait: Callable[[float], object]) -> bool:
    """Wait until a set that was started is ready, working on it here while no worker is alive.

    ``wait`` sleeps. False when it can't go on now: ``status_reason`` of the set says why.
    """
    found = find_set(name)
    while True:
        on_progress(progress_of(found))
        if found.status != EmbeddingSetStatus.BUILDING or found.status_reason:
            return found.status == EmbeddingSetStatus.READY
        if worker_is_alive() or not builds.build_slice(found.pk, seconds=POLL_S):
            wait(POLL_S)
        found.refresh_from_db()


def drop_set(*, principal: Principal, name: str) -> EmbeddingSet:
    """Give a set up: it can't be switched to from now on, and its vectors and index are cleared away in the background.

    Dropping twice goes on with the clearing. Raises NotFound, and Conflict for the active set.
    """
    principal.require_hub(HubRight.OPERATION)
    with transaction.atomic():
        row = EmbeddingSet.objects.select_for_update().filter(pk=find_set(name).pk).get()
        if row.is_active:
            raise Conflict(
                _('The embedding set "{name}" is the active one. Switch to another one before dropping it.'),
                code="embedding_set_active",
                name=name,
            )
        if row.status != EmbeddingSetStatus.DROPPED:
            EmbeddingSet.objects.filter(pk=row.pk).update(
                status=EmbeddingSetStatus.DROPPED,
                status_reason="",
                lease_token="",
                lease_expires_at=None,
                build_started_at=Coalesce("build_started_at", Now()),
            )
            record_step(principal, "DROP", row)
        enqueue_on_commit("knowledge.build_embedding_set", set_id=row.pk)
    row.refresh_from_db()
    return row


def clear_here(name: str) -> None:
    """Clear away a dropped set in this process, for when no worker is alive."""
    found = find_set(name)
    while not worker_is_alive() and builds.clear_slice(found.pk):
        pass


def find_set(name: str) -> EmbeddingSet:
    """Find a set by its name, with its policy. Raises NotFound naming those there are."""
    found = EmbeddingSet.objects.select_related("policy").filter(name=name).first()
    if found is None:
        known = EmbeddingSet.objects.exclude(status=EmbeddingSetStatus.DROPPED).order_by("pk")
        raise NotFound(
            _('There is no embedding set "{name}". Known: {known}.'),
            name=name,
            known=", ".join(known.values_list("name", flat=True)) or "-",
        )
    return found


def kept_set(name: str) -> EmbeddingSet:
    """Find a set that was not dropped by its name. Raises NotFound, Conflict."""
    found = find_set(name)
    if found.status == EmbeddingSetStatus.DROPPED:
        raise Conflict(
            _('The embedding set "{name}" was dropped. Create a new one.'), code="embedding_set_dropped", name=name
        )
    return found


def record_step(principal: Principal, what: str, embedding_set: EmbeddingSet, **details: object) -> None:
    record_event(
        principal=principal,
        action=f"EMBEDDING_SET_{what}",
        resource=f"embedding_set:{embedding_set.name}"[:200],
        **details,
    )
