"""The embedder that this process uses, and the embedding set whose vectors it made."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from hub.core.errors import Unavailable
from knowledge.backends.embedders.base import Embedder
from knowledge.backends.embedders.registry import create_embedder
from knowledge.backends.vectors import create_index
from knowledge.models import ChunkPolicy, EmbeddingSet
from knowledge.types import ChunkOptions


class EmbedderMismatch(Unavailable):
    """The configured model is not the one that made the stored vectors; they can't be compared."""

    code = "embedder_mismatch"
    retryable = False


@cache
def get_embedder() -> Embedder:
    """The configured embedder. Making it loads nothing; its first use does."""
    config = settings.CONFIG
    return create_embedder(
        config.embedding_backend,
        model=config.embedding_model or None,
        cache_dir=settings.HUB_DATA_DIR / "models",
        base_url=config.embedding_base_url or None,
        api_key=config.embedding_api_key or None,
    )


def active_embedding_set() -> EmbeddingSet:
    """The set that search uses, with its policy; the first call on an empty database makes it. One query.

    Raises EmbedderMismatch when the configured embedder did not make this set's vectors.
    """
    embedding_set = EmbeddingSet.objects.select_related("policy").filter(is_active=True).first()
    if embedding_set is None:
        embedding_set = _make_first_set(get_embedder())
    embedder = get_embedder()
    if embedding_set.fingerprint != embedder.fingerprint:
        raise EmbedderMismatch(
            _(
                "The stored vectors were made by {stored}, but {configured} is configured. "
                "Set EMBEDDING_BACKEND and EMBEDDING_MODEL back."
            ),
            stored=f"{embedding_set.backend} {embedding_set.model}",
            configured=f"{embedder.name} {embedder.model}",
        )
    return embedding_set


def _make_first_set(embedder: Embedder) -> EmbeddingSet:
    options = ChunkOptions(size=min(ChunkOptions().size, embedder.max_tokens))
    policy, _made = ChunkPolicy.objects.get_or_create(
        strategy=options.strategy, size=options.size, overlap=options.overlap, unit=options.unit
    )
    try:
        with transaction.atomic():
            embedding_set = EmbeddingSet.objects.create(
                name=f"{embedder.model} 1",
                backend=embedder.name,
                model=embedder.model,
                fingerprint=embedder.fingerprint,
                dimension=embedder.dimension,
                max_tokens=embedder.max_tokens,
                policy=policy,
                is_active=True,
            )
            create_index(embedding_set)
    except IntegrityError:  # another process was first
        return EmbeddingSet.objects.select_related("policy").get(is_active=True)
    return embedding_set
