"""Building embedding sets beside the active one, keeping them in step with new documents, clearing dropped ones away.

A set's row holds the state: ``building`` means that chunks of current versions may be missing in it, ``ready`` that
none is. :func:`build_slice` and :func:`clear_slice` work for a bounded time and may be called by anyone, any number of
times, at once: only the holder of the set's lease works, and a slice that was killed leaves nothing but whole chunks.
``build_started_at`` of a dropped set stays until nothing is left of it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Sum
from django.db.models.functions import Coalesce, Now
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from hub.core.errors import HubError, Unavailable
from hub.core.languages import shown
from hub.core.lease import Lease, LeaseLost, claim, free, lease_duration
from knowledge.embedders import EmbeddingError
from knowledge.index.active_embedder import chunks_of, embedder_of, lock_publications
from knowledge.index.vectors import EMBED_BATCH, create_index, drop_index, embed_chunks, write_embedded
from knowledge.ingest.stages import cut, store_chunks, unindex
from knowledge.models import Chunk, ChunkVector, Document, DocumentVersion, EmbeddingSet, EmbeddingSetStatus
from knowledge.models.documents import IN_WORK

logger = logging.getLogger(__name__)

SLICE_S = 20.0
NOTE_EVERY_S = 3.0
PAUSE_AFTER_FAILURE = timedelta(seconds=60)
# Building an HNSW index over many vectors takes minutes in which the lease can't be renewed.
INDEX_LEASE = timedelta(minutes=25)
READ_AT_ONCE = 256
MOST_REASON_CHARS = 2000


class NothingToCut(Unavailable):
    """A version that has chunks for one chunk policy has none for another."""

    code = "nothing_to_cut"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetProgress:
    """How far a set is: chunks, chunks per second of work (None before the first slice), seconds left."""

    done: int
    total: int
    per_second: float | None
    eta_s: float | None

    @property
    def percent(self) -> int:
        """Whole percent, 100 only when nothing is missing."""
        return 100 if self.done >= self.total else min(99, 100 * self.done // self.total)


def progress_of(embedding_set: EmbeddingSet) -> SetProgress:
    """Count a set's chunks. Versions that are not yet cut for it count with their present number of chunks."""
    needed = _needed(embedding_set)
    uncut = _uncut(embedding_set).aggregate(total=Sum("chunks_count"))["total"] or 0
    missing = _without_vector(embedding_set, needed).count() + uncut
    total, rate = needed.count() + uncut, embedding_set.passages_per_second
    eta_s = missing / rate if rate else (0.0 if not missing else None)
    return SetProgress(done=total - missing, total=total, per_second=rate, eta_s=eta_s)


def is_complete(embedding_set: EmbeddingSet) -> bool:
    """Whether every current chunk has its vector in the set. To act on it, hold `lock_publications`."""
    missing = _without_vector(embedding_set, _needed(embedding_set))
    return not (_uncut(embedding_set).exists() or missing.exists())


def take_waiting() -> list[int]:
    """Name the sets that somebody started to build or drop, that are not done, and that nobody works on."""
    in_work = (EmbeddingSetStatus.BUILDING, EmbeddingSetStatus.DROPPED)
    waiting = EmbeddingSet.objects.filter(free(), status__in=in_work, is_active=False, build_started_at__isnull=False)
    return list(waiting.order_by("pk").values_list("pk", flat=True))


def build_slice(set_id: int, *, seconds: float = SLICE_S) -> bool:
    """Work on a set for about ``seconds``. True when more is to be done; False when ready, held, paused or gone.

    What the model refuses is written into ``status_reason``, and the set is left alone for a minute.
    """
    building = EmbeddingSet.objects.filter(status=EmbeddingSetStatus.BUILDING, build_started_at__isnull=False)
    lease = claim(building, set_id)
    if lease is None:
        return False
    embedding_set = EmbeddingSet.objects.select_related("policy").get(pk=set_id)
    try:
        return _Build(embedding_set, lease).run(seconds)
    except LeaseLost:
        logger.info("embedding set %s was taken over or dropped while at work", embedding_set.name)
    except (EmbeddingError, HubError) as error:
        logger.warning("embedding set %s can not be built now: %s", embedding_set.name, error)
        EmbeddingSet.objects.filter(pk=set_id).update(status_reason=_reason(error))
        lease.release(retry_in=PAUSE_AFTER_FAILURE)
    return False


def _reason(error: EmbeddingError | HubError) -> str:
    with translation.override(settings.LANGUAGE_CODE):
        text = shown(error.text) if isinstance(error, EmbeddingError) else str(error)
    return text[:MOST_REASON_CHARS]


def _current_versions() -> QuerySet[DocumentVersion]:
    """Versions that search sees. Those in work come to the set when they are done."""
    current = Document.objects.live().values("current_version_id")
    return DocumentVersion.objects.filter(pk__in=current).exclude(status__in=IN_WORK)


def _needed(embedding_set: EmbeddingSet) -> QuerySet[Chunk]:
    return Chunk.objects.filter(chunks_of(embedding_set), version__in=_current_versions().values("pk"))


def _without_vector(embedding_set: EmbeddingSet, chunks: QuerySet[Chunk]) -> QuerySet[Chunk]:
    return chunks.filter(~Exists(ChunkVector.objects.filter(embedding_set=embedding_set, chunk_id=OuterRef("pk"))))


def _uncut(embedding_set: EmbeddingSet) -> QuerySet[DocumentVersion]:
    chunks = Chunk.objects.filter(version_id=OuterRef("pk"), policy_id=embedding_set.policy_id)
    return _current_versions().filter(~Exists(chunks), has_own_policy=False, chunks_count__gt=0)


class _Build:
    def __init__(self, embedding_set: EmbeddingSet, lease: Lease) -> None:
        self._set = embedding_set
        self._lease = lease
        self._embedded = 0

    def run(self, seconds: float) -> bool:
        """Work until nothing is missing or the time is over; True when it is over."""
        self._make_index()
        started = noted = time.monotonic()
        for _step in self._steps():
            self._lease.renew()
            now = time.monotonic()
            if now - started > seconds:
                self._note_rate(now - started)
                self._lease.release()
                return True
            if now - noted > NOTE_EVERY_S:  # people wait for an estimate; a slice may also break off
                self._note_rate(now - started)
                noted = now
        self._note_rate(time.monotonic() - started)
        return not self._finish()

    def _steps(self) -> Iterator[None]:
        for version_id in self._version_ids():
            self._cut(version_id)
            yield
        for batch in self._batches():
            self._embed(batch)
            yield

    def _make_index(self) -> None:
        """Have an HNSW index from the start: while chunks come in one by one it costs next to nothing."""
        self._hold_for(INDEX_LEASE)
        create_index(self._set, concurrently=True)
        self._hold_for(lease_duration())

    def _hold_for(self, duration: timedelta) -> None:
        mine = EmbeddingSet.objects.filter(pk=self._set.pk, lease_token=self._lease.token)
        if not mine.update(lease_expires_at=Now() + duration):
            raise LeaseLost

    def _version_ids(self) -> Iterator[int]:
        last = 0
        while ids := list(_uncut(self._set).filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:100]):
            yield from ids
            last = ids[-1]

    def _cut(self, version_id: int) -> None:
        """Make a version's chunks for the set's policy, unless it was worked on again or went meanwhile."""
        version = DocumentVersion.objects.select_related("content", "document").get(pk=version_id)
        rows = cut(version, self._set.policy, embedder_of(self._set), heartbeat=self._lease.renew)
        if not rows:
            raise NothingToCut(
                _('"{path}" has no passages when cut by {policy}.'),
                path=version.document.path,
                policy=str(self._set.policy),
            )
        with transaction.atomic():
            self._lease.lock()
            unchanged = _uncut(self._set).filter(pk=version_id, finished_at=version.finished_at)
            if unchanged.select_for_update(of=("self",)).exists():
                store_chunks(rows)

    def _batches(self) -> Iterator[list[Chunk]]:
        """Return chunks without a vector, those of one document at a time, in batches of what is embedded at once."""
        last = 0
        waiting = _without_vector(self._set, _needed(self._set)).select_related("version__document").order_by("pk")
        while rows := list(waiting.filter(pk__gt=last)[:READ_AT_ONCE]):
            last = rows[-1].pk
            batch = [rows[0]]
            for row in rows[1:]:
                if row.version_id != batch[0].version_id or len(batch) == EMBED_BATCH:
                    yield batch
                    batch = []
                batch.append(row)
            yield batch

    def _embed(self, batch: list[Chunk]) -> None:
        """Write vectors, and the postings of chunks that no other set has, for those that are still needed."""
        vectors = embed_chunks(batch, embedder_of(self._set))
        with transaction.atomic():
            self._lease.lock()
            needed = _needed(self._set).filter(pk__in=[row.pk for row in batch]).select_for_update(of=("self",))
            kept = set(needed.values_list("pk", flat=True))
            written = write_embedded(self._set, batch, vectors, document=batch[0].version.document, needed=kept)
        self._embedded += written

    def _note_rate(self, seconds: float) -> None:
        if self._embedded:
            rate = self._embedded / max(seconds, 0.001)
            EmbeddingSet.objects.filter(pk=self._set.pk).update(passages_per_second=rate, status_reason="")

    def _finish(self) -> bool:
        """Declare the set ready while no version can become current; False when some did before that."""
        with transaction.atomic():
            lock_publications(shared=False)
            self._lease.lock()
            self._lease.release()
            complete = is_complete(self._set)
            if complete:
                EmbeddingSet.objects.filter(pk=self._set.pk).update(
                    status=EmbeddingSetStatus.READY, built_at=Coalesce(F("built_at"), Now()), status_reason=""
                )
        return complete


VECTORS_AT_ONCE = 5000
_DELETE_VECTORS = """
DELETE FROM knowledge_chunkvector WHERE embedding_set_id = %s AND chunk_id IN (
  SELECT chunk_id FROM knowledge_chunkvector WHERE embedding_set_id = %s ORDER BY chunk_id LIMIT %s
)
"""


def clear_slice(set_id: int, *, seconds: float = SLICE_S) -> bool:
    """Clear away a dropped set for about ``seconds``. True when more is left; False when done, held or not dropped."""
    dropped = EmbeddingSet.objects.filter(status=EmbeddingSetStatus.DROPPED, build_started_at__isnull=False)
    lease = claim(dropped, set_id)
    if lease is None:
        return False
    embedding_set = EmbeddingSet.objects.get(pk=set_id)
    deadline = time.monotonic() + seconds
    try:
        drop_index(embedding_set, concurrently=True)
        while _remove_chunks_of_one_version(embedding_set, lease) or _remove_vectors(embedding_set, lease):
            if time.monotonic() > deadline:
                lease.release()
                return True
        _note_cleared(embedding_set, lease)
    except LeaseLost:
        logger.info("clearing embedding set %s was taken over", embedding_set.name)
    return False


def _remove_chunks_of_one_version(embedding_set: EmbeddingSet, lease: Lease) -> bool:
    """Remove the chunks of a version that is cut for the active set too, if no set that is kept cuts as this one did.

    All of them in one transaction: for a set that is made anew a version is either cut or not.
    """
    lease.renew()
    with transaction.atomic():
        lease.lock()
        kept = EmbeddingSet.objects.exclude(status=EmbeddingSetStatus.DROPPED)
        if kept.filter(policy_id=embedding_set.policy_id).exists():
            return False
        active = Chunk.objects.filter(
            version_id=OuterRef("pk"), policy_id__in=kept.filter(is_active=True).values("policy_id")
        )
        unused = Chunk.objects.filter(version_id=OuterRef("pk"), policy_id=embedding_set.policy_id)
        versions = DocumentVersion.objects.filter(Exists(unused), Exists(active), has_own_policy=False).order_by("pk")
        version = versions.select_for_update(skip_locked=True).first()
        if version is None:
            return False
        chunks = Chunk.objects.filter(version=version, policy_id=embedding_set.policy_id)
        unindex(list(chunks.values_list("pk", flat=True)))
        chunks.delete()
    return True


def _remove_vectors(embedding_set: EmbeddingSet, lease: Lease) -> bool:
    lease.renew()
    with transaction.atomic(), connection.cursor() as cursor:
        lease.lock()
        cursor.execute(_DELETE_VECTORS, [embedding_set.pk, embedding_set.pk, VECTORS_AT_ONCE])
        return bool(cursor.rowcount)


def _note_cleared(embedding_set: EmbeddingSet, lease: Lease) -> None:
    with transaction.atomic():
        lease.lock()
        lease.release()
        EmbeddingSet.objects.filter(pk=embedding_set.pk).update(build_started_at=None, passages_per_second=None)
