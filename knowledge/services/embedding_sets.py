"""The life of embedding sets: make one beside the active one, build it, switch to it, go back, drop it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from hub.core.languages import in_language
from hub.core.queue import enqueue_on_commit
from knowledge.backends.active_embedder import active_embedding_set, lock_publications, make_embedder
from knowledge.backends.embedders.base import Embedder, EmbeddingError
from knowledge.ingest import set_builds, set_removal
from knowledge.ingest.set_builds import SetProgress, progress_of
from knowledge.models import ChunkPolicy, EmbeddingSet, EmbeddingSetStatus
from knowledge.services.collections import may_curate
from knowledge.services.policies import policy_row
from knowledge.services.workers import POLL_S, worker_is_alive
from knowledge.tasks import build_embedding_set
from knowledge.types import ChunkOptions, SizeUnit

# What came in since the last slice is made before a switch; a corpus that grows faster than that is not switched.
CATCH_UP_TRIES = 5
CATCH_UP_S = 10.0

SwitchCheck = Callable[[Principal, EmbeddingSet], None]
"""Raises Conflict to keep a set from becoming the active one."""

_checks: list[SwitchCheck] = []

_COUNT_CHUNKS = """
UPDATE knowledge_documentversion v SET chunks_count = counted.number
FROM (SELECT version_id, count(*) AS number FROM knowledge_chunk WHERE policy_id = %s GROUP BY version_id) AS counted
WHERE v.id = counted.version_id AND NOT v.has_own_policy
  AND v.id IN (SELECT current_version_id FROM knowledge_document)
"""


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
    """A set and how far it is; no progress for a dropped one."""

    embedding_set: EmbeddingSet
    progress: SetProgress | None


def check_before_switch(check: SwitchCheck) -> None:
    """Have ``check`` called before a set is switched to, outside of the transaction that does so.

    This is how an app above this one measures the set first.
    """
    if check not in _checks:
        _checks.append(check)


def list_sets(principal: Principal, *, with_dropped: bool = True) -> list[SetState]:
    """Every set, the newest first, with its progress. For superusers, and curators of some collection."""
    check_curator(principal)
    sets = EmbeddingSet.objects.select_related("policy").order_by("-pk")
    if not with_dropped:
        sets = sets.exclude(status=EmbeddingSetStatus.DROPPED)
    return [SetState(embedding_set=one, progress=_progress(one)) for one in sets]


def get_set(principal: Principal, name: str) -> SetState:
    """One set by its name. Raises NotFound."""
    check_curator(principal)
    found = find_set(name)
    return SetState(embedding_set=found, progress=_progress(found))


def _progress(embedding_set: EmbeddingSet) -> SetProgress | None:
    return None if embedding_set.status == EmbeddingSetStatus.DROPPED else progress_of(embedding_set)


def check_curator(principal: Principal) -> None:
    """Raise Forbidden for callers who curate nothing."""
    principal.require(Scope.CURATE)
    if not may_curate(principal):
        raise Forbidden(_("Only administrators and curators of a collection may look at embedding sets."))


def _check_administrator(principal: Principal) -> None:
    """Raise Forbidden for all but superusers: a set is everybody's, whatever collections somebody administers."""
    principal.require(Scope.ADMIN)
    if not principal.is_superuser:
        raise Forbidden(_("Only administrators of the hub may change embedding sets."))


def create_set(*, principal: Principal, draft: SetDraft) -> EmbeddingSet:
    """Make a set that nobody searches yet and that nothing is built for. Its model is loaded or asked once.

    Raises InvalidInput when there is no such backend or model, it can't be used here, or the sizes don't fit it;
    Conflict when the name is taken.
    """
    _check_administrator(principal)
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
            _record(principal, "CREATE", made, backend=made.backend, model=made.model, policy=str(policy))
    except EmbeddingError as error:
        raise InvalidInput(
            _("This embedding model can't be used: {reason}"), code=error.code, reason=_words(error)
        ) from error
    except IntegrityError as error:
        raise Conflict(_('There is an embedding set "{name}" already.'), name=draft.name.strip()) from error
    return made


def _words(error: EmbeddingError) -> str:
    return in_language(error.ja, error.en)


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
    _check_administrator(principal)
    found = _kept_set(name)
    if found.status == EmbeddingSetStatus.BUILDING:
        with transaction.atomic():
            rows = EmbeddingSet.objects.filter(pk=found.pk)
            rows.update(build_started_at=Coalesce("build_started_at", Now()), status_reason="")
            rows.filter(lease_token="").update(lease_expires_at=None)
            enqueue_on_commit(build_embedding_set, set_id=found.pk)
            _record(principal, "BUILD", found)
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
        if worker_is_alive() or not set_builds.build_slice(found.pk, seconds=POLL_S):
            wait(POLL_S)
        found.refresh_from_db()


def switch_to(*, principal: Principal, name: str) -> EmbeddingSet:
    """Make a set the one that search uses, for all processes from their next query on.

    One transaction, in which no version can become current: the set has every passage or is refused. What came in
    since it was built is made first. Those who asked with :func:`check_before_switch` are heard before that. Switching
    to the active set does nothing. Raises NotFound, Conflict.
    """
    _check_administrator(principal)
    target = _switchable(name)
    if not target.is_active:
        for check in _checks:
            check(principal, target)
    return _switch(principal, target)


def _switchable(name: str) -> EmbeddingSet:
    target = _kept_set(name)
    if target.built_at is None and not target.is_active:
        raise _incomplete(target)
    return target


def _switch(principal: Principal, target: EmbeddingSet) -> EmbeddingSet:
    for _try in range(CATCH_UP_TRIES):
        set_builds.build_slice(target.pk, seconds=CATCH_UP_S)
        if _flip(principal, target):
            target.refresh_from_db()
            return target
        time.sleep(POLL_S)  # a worker may be at it
    raise _incomplete(target)


def _flip(principal: Principal, target: EmbeddingSet) -> bool:
    with transaction.atomic():
        lock_publications(shared=False)
        row = EmbeddingSet.objects.select_for_update().get(pk=target.pk)
        if row.is_active:
            return True
        if row.status != EmbeddingSetStatus.READY:
            return False
        previous = active_embedding_set()
        # the first set was never built nor switched to; from now on it is kept in step like any other
        dates = ("build_started_at", "built_at", "activated_at")
        known = {date: Coalesce(date, F("created_at")) for date in dates}
        EmbeddingSet.objects.filter(pk=previous.pk).update(is_active=False, **known)
        EmbeddingSet.objects.filter(pk=row.pk).update(is_active=True, activated_at=Now())
        if previous.policy_id != row.policy_id:
            with connection.cursor() as cursor:
                cursor.execute(_COUNT_CHUNKS, [row.policy_id])
        _record(principal, "SWITCH", row, previous=previous.name)
    return True


def _incomplete(target: EmbeddingSet) -> Conflict:
    target.refresh_from_db()
    progress = progress_of(target)
    return Conflict(
        _(
            'The embedding set "{name}" is not complete: {done} of {total} passages. {reason} '
            "Build it first, then switch."
        ),
        code="embedding_set_incomplete",
        name=target.name,
        done=progress.done,
        total=progress.total,
        reason=target.status_reason,
    )


def roll_back(*, principal: Principal) -> EmbeddingSet:
    """Switch back to the set that was active before. Rolling back twice returns to where one was. Raises Conflict.

    Nobody is asked first: both sets were let through once, and going back has to work in trouble.
    """
    _check_administrator(principal)
    kept = EmbeddingSet.objects.filter(is_active=False, activated_at__isnull=False)
    previous = kept.exclude(status=EmbeddingSetStatus.DROPPED).order_by("-activated_at").first()
    if previous is None:
        raise Conflict(_("There is no earlier embedding set to go back to."), code="no_previous_embedding_set")
    return _switch(principal, _switchable(previous.name))


def drop_set(*, principal: Principal, name: str) -> EmbeddingSet:
    """Give a set up: it can't be switched to from now on, and its vectors and index are cleared away in the background.

    Dropping twice goes on with the clearing. Raises NotFound, and Conflict for the active set.
    """
    _check_administrator(principal)
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
            _record(principal, "DROP", row)
        enqueue_on_commit(build_embedding_set, set_id=row.pk)
    row.refresh_from_db()
    return row


def clear_here(name: str) -> None:
    """Clear away a dropped set in this process, for when no worker is alive."""
    found = find_set(name)
    while not worker_is_alive() and set_removal.clear_slice(found.pk):
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


def _kept_set(name: str) -> EmbeddingSet:
    found = find_set(name)
    if found.status == EmbeddingSetStatus.DROPPED:
        raise Conflict(
            _('The embedding set "{name}" was dropped. Create a new one.'), code="embedding_set_dropped", name=name
        )
    return found


def _record(principal: Principal, what: str, embedding_set: EmbeddingSet, **details: object) -> None:
    record_event(
        principal=principal,
        action=f"EMBEDDING_SET_{what}",
        resource=f"embedding_set:{embedding_set.name}"[:200],
        **details,
    )
