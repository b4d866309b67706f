"""The vectors of one document in one embedding set: how many there are, and making those that are missing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import InvalidInput
from hub.core.languages import shown
from knowledge.documents.documents import changeable_document, get_document
from knowledge.documents.workers import work_through
from knowledge.embedders import EmbeddingError
from knowledge.index.active_embedder import active_embedding_set, embedder_of
from knowledge.ingest import version_vectors
from knowledge.models import Document, DocumentStatus, EmbeddingSet, EmbeddingSetStatus
from knowledge.models.documents import IN_WORK


class VectorStatus(StrEnum):
    """Whether every chunk of the version that search sees has its vector."""

    READY = "ready"
    PENDING = "pending"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentVectors:
    """How far a document is in a set. ``chunks`` counts its chunks there, ``embedded`` those with a vector.

    ``reason`` says why it is failed or pending, in the active language; ``created_at`` when the last one was made.
    """

    document_id: str
    embedding_set: EmbeddingSet
    chunks: int
    embedded: int
    status: VectorStatus
    reason: str | None
    created_at: datetime | None


def vectors_of(principal: Principal, document_id: str) -> list[DocumentVectors]:
    """A document's vectors in every set that is kept, the active one first. Raises NotFound."""
    document = get_document(principal, document_id)
    active_embedding_set()  # before the first document there is none; asking for it makes it
    return [_state(document, embedding_set) for embedding_set in _kept_sets()]


class DocumentEmbedding:
    """Makes a document's vectors in one set, a slice at a time; what other callers make meanwhile is not made again.

    With ``again`` those that are there are made anew too.
    """

    def __init__(self, *, principal: Principal, document_id: str, model: str = "", again: bool = False) -> None:
        """Look for the document and the set; the active set when ``model`` is empty. Writes an audit line.

        Raises NotFound, Forbidden, and InvalidInput when no set is of that model, naming those that are.
        """
        document = changeable_document(principal, document_id)
        self.embedding_set = _find_set(model)
        self.error: EmbeddingError | None = None
        self.made = 0
        self._principal = principal
        self._document_id = document_id
        self._again = again
        self._next = 0
        record_event(
            principal,
            "DOCUMENT_EMBED",
            f"document:{document.public_id}",
            embedding_set=self.embedding_set.name,
            again=again,
        )

    def advance(self, seconds: float) -> bool:
        """Work for about ``seconds``; True when nothing more can be done: complete, or ``error`` says why not.

        A document that still comes in is waited for, and worked on here while no worker is alive.
        """
        document = self._document()
        latest = document.latest_version
        if latest is not None and latest.status in IN_WORK and not work_through([latest.pk], timeout_s=seconds):
            return False
        version = self._document().current_version
        if version is None:
            return True
        try:
            embedder = embedder_of(self.embedding_set)
            done = version_vectors.embed_slice(
                version, self.embedding_set, embedder, start=self._next, again=self._again, seconds=seconds
            )
        except EmbeddingError as error:
            self.error = error
            return True
        self.made += done.made
        self._next = done.next_index
        return done.is_last

    def state(self) -> DocumentVectors:
        """How far the document is now."""
        return _state(self._document(), self.embedding_set, self.error)

    def _document(self) -> Document:
        return get_document(self._principal, self._document_id, scope=Scope.READ)


def _kept_sets() -> list[EmbeddingSet]:
    kept = EmbeddingSet.objects.exclude(status=EmbeddingSetStatus.DROPPED)
    return list(kept.select_related("policy").order_by("-is_active", "-pk"))


def _find_set(model: str) -> EmbeddingSet:
    """The set of that name, or of that model: in full, or without what is before its last slash."""
    active = active_embedding_set()
    wanted = model.strip()
    if not wanted:
        return active
    kept = _kept_sets()
    for found in kept:
        if wanted in {found.name, found.model, found.model.rpartition("/")[2]}:
            return found
    raise InvalidInput(
        _(
            'No embedding set uses the model "{model}". There are: {known}. Leave it out to use the active one; an '
            "administrator adds others with manage.py embedding_set create."
        ),
        code="unknown_model",
        model=wanted[:80],
        known=", ".join(dict.fromkeys(found.model for found in kept)),
    )


def _state(document: Document, embedding_set: EmbeddingSet, error: EmbeddingError | None = None) -> DocumentVectors:
    version = document.current_version or document.latest_version
    chunks = embedded = 0
    if version is not None:
        chunks, embedded = version_vectors.count(version, embedding_set)
    status, reason = _status(document, error=error)
    if status == VectorStatus.READY and embedded < chunks:
        status, reason = VectorStatus.PENDING, _what_to_do(embedding_set)
    made_at = version.finished_at if version and embedding_set.is_active else embedding_set.built_at
    return DocumentVectors(
        document_id=document.public_id,
        embedding_set=embedding_set,
        chunks=chunks,
        embedded=embedded,
        status=status,
        reason=reason,
        created_at=made_at if embedded else None,
    )


def _status(document: Document, *, error: EmbeddingError | None) -> tuple[VectorStatus, str | None]:
    """What is to be said before anything is counted."""
    latest = document.latest_version
    if error is not None:
        return VectorStatus.FAILED, shown(error.text)
    if document.current_version is not None:
        return VectorStatus.READY, None
    failed = latest is not None and latest.status == DocumentStatus.FAILED
    return (VectorStatus.FAILED if failed else VectorStatus.PENDING), latest.status_reason if latest else None


def _what_to_do(embedding_set: EmbeddingSet) -> str | None:
    """Where a set cuts documents otherwise, only building it makes its chunks."""
    if embedding_set.is_active:
        return None
    words = _('The set "{name}" is not complete. An administrator builds it: manage.py embedding_set build {name}')
    return str(words).replace("{name}", embedding_set.name)
