"""Embedding models outside of the own network: what they may be sent, and without whose personal data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Max, QuerySet

from hub.access.principals import Classification
from hub.core.masking import Masking
from hub.llm.confirmations import EMBEDDINGS
from hub.llm.outside import Service, admit, needs_masking
from hub.llm.providers.openai_compatible import is_private_host
from knowledge.embedders import Embedder, Vectors
from knowledge.models import Document


def service_of(backend: str, base_url: str) -> Service | None:
    """Give the service that a backend's texts go to; None for models that run in the hub's own processes."""
    if backend not in {"openai", "bedrock"}:
        return None
    is_private = is_private_host(base_url) if base_url else False
    endpoint = urlsplit(base_url).netloc.rpartition("@")[2].lower() if base_url else settings.CONFIG.aws_region
    return Service(name=EMBEDDINGS, endpoint=endpoint, is_private=is_private, is_trusted=is_private)


class OutsideEmbedder:
    """Embeds with a service's model what it may be sent, masked where LLM_MASKING asks for it.

    Passages go through `admitted`, which knows whose they are; questions belong to no document and are masked alone.
    """

    def __init__(self, model: Embedder, service: Service) -> None:
        self._model = model
        self.service = service

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def _masked(self, text: str) -> str:
        return Masking().mask(text) if needs_masking(self.service) else text

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._model.embed_passages([self._masked(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        return self._model.embed_query(self._masked(text))

    def count_tokens(self, text: str, *, as_query: bool = False) -> int:
        """Count the tokens of a text, or of what is sent in its place where that has more."""
        counts = {self._model.count_tokens(one, as_query=as_query) for one in {text, self._masked(text)}}
        return max(counts)


def behind_the_door(model: Embedder, backend: str, base_url: str) -> Embedder:
    """Give a model as it is, or with the rules of what goes outside."""
    service = service_of(backend, base_url)
    return model if service is None else cast(Embedder, OutsideEmbedder(model, service))


def admit_versions(embedder: Embedder, version_ids: Collection[int]) -> None:
    """Let an embedder have the text of versions, by their keys; see `admit_documents`."""
    _admit(embedder, Document.objects.filter(versions__in=version_ids))


def admit_documents(embedder: Embedder, document_ids: Collection[str]) -> None:
    """Let an embedder have the text of documents; no query for one that sends nothing, else two at most.

    :raises LlmRefused: a document, or its collection, is classified above what goes there.
    """
    _admit(embedder, Document.objects.filter(public_id__in=document_ids))


def _admit(embedder: Embedder, documents: QuerySet[Document]) -> None:
    service = getattr(embedder, "service", None)
    if not isinstance(service, Service):
        return
    found = documents.aggregate(own=Max("classification"), of_collection=Max("collection__classification"))
    admit(service, Classification(max(found["own"] or Classification.C1, found["of_collection"] or Classification.C1)))
