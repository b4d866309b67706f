"""Which embedding set search uses: switching to another one while people search, and going back."""

from __future__ import annotations

import time

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.core.errors import Conflict
from knowledge.documents.workers import POLL_S
from knowledge.embedding_sets import builds
from knowledge.embedding_sets.builds import progress_of
from knowledge.embedding_sets.sets import kept_set, record_step
from knowledge.extensions import SWITCH_CHECKS
from knowledge.index.active_embedder import active_embedding_set, lock_publications
from knowledge.models import EmbeddingSet, EmbeddingSetStatus

# What came in since the last slice is made before a switch; a corpus that grows faster than that is not switched.
CATCH_UP_TRIES = 5
CATCH_UP_S = 10.0

_COUNT_CHUNKS = """
UPDATE knowledge_documentversion v SET chunks_count = counted.number
FROM (SELECT version_id, count(*) AS number FROM knowledge_chunk WHERE policy_id = %s GROUP BY version_id) AS counted
WHERE v.id = counted.version_id AND NOT v.has_own_policy
  AND v.id IN (SELECT current_version_id FROM knowledge_document)
"""


def switch_to(*, principal: Principal, name: str) -> EmbeddingSet:
    """Make a set the one that search uses, for all processes from their next query on.

    One transaction, in which no version can become current: the set has every chunk or is refused. What came in
    since it was built is made first. ``SWITCH_CHECKS`` are called before that. Switching to the active set does
    nothing. Raises NotFound, Conflict.
    """
    principal.require_hub(HubRight.OPERATION)
    target = _switchable(name)
    if not target.is_active:
        for check in SWITCH_CHECKS:
            check(principal, target)
    return _switch(principal, target)


def _switchable(name: str) -> EmbeddingSet:
    target = kept_set(name)
    if target.built_at is None and not target.is_active:
        raise _incomplete(target)
    return target


def _switch(principal: Principal, target: EmbeddingSet) -> EmbeddingSet:
    for _try in range(CATCH_UP_TRIES):
        builds.build_slice(target.pk, seconds=CATCH_UP_S)
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
        record_step(principal, "SWITCH", row, previous=previous.name)
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
    principal.require_hub(HubRight.OPERATION)
    kept = EmbeddingSet.objects.filter(is_active=False, activated_at__isnull=False)
    previous = kept.exclude(status=EmbeddingSetStatus.DROPPED).order_by("-activated_at").first()
    if previous is None:
        raise Conflict(_("There is no earlier embedding set to go back to."), code="no_previous_embedding_set")
    return _switch(principal, _switchable(previous.name))
