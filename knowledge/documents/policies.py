"""Chunking options as rows that chunks can point at."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from hub.core.errors import InvalidInput
from knowledge.index.active_embedder import active_embedding_set
from knowledge.models import ChunkPolicy
from knowledge.types.chunks import ChunkOptions, SizeUnit

SMALLEST_SIZE, LARGEST_SIZE = 50, 100_000


def chunk_policy(options: ChunkOptions | None) -> ChunkPolicy:
    """The policy row for ``options``, or the active embedding set's own. Raises InvalidInput for impossible sizes."""
    embedding_set = active_embedding_set()
    return embedding_set.policy if options is None else policy_row(options, token_limit=embedding_set.max_tokens)


def policy_row(options: ChunkOptions, *, token_limit: int) -> ChunkPolicy:
    """The policy row for ``options`` with a model that reads ``token_limit`` tokens. Raises InvalidInput."""
    if options.unit is SizeUnit.TOKENS and options.size > token_limit:
        raise InvalidInput(
            _("chunk_size {size} is above the embedding model's limit of {limit} tokens."),
            code="chunk_size_above_limit",
            size=options.size,
            limit=token_limit,
        )
    if not SMALLEST_SIZE <= options.size <= LARGEST_SIZE or not 0 <= options.overlap <= options.size // 2:
        raise InvalidInput(
            _(
                "chunk_size must be from {smallest} to {largest}, and chunk_overlap between 0 and half of it; "
                "got {size} and {overlap}."
            ),
            smallest=SMALLEST_SIZE,
            largest=LARGEST_SIZE,
            size=options.size,
            overlap=options.overlap,
        )
    policy, _created = ChunkPolicy.objects.get_or_create(
        strategy=options.strategy, size=options.size, overlap=options.overlap, unit=options.unit
    )
    return policy
