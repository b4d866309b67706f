"""Text embedders: the bundled offline model, sentence-transformers, and OpenAI-compatible endpoints.

Plain Python: nothing here imports Django, and importing this package loads no model and no heavy library.
"""

from knowledge.embedders.base import (
    Embedder,
    EmbedderUnavailable,
    EmbeddingError,
    EmbeddingInputEmpty,
    EmbeddingInputTooLong,
    EmbeddingRequestRefused,
    EmbeddingResponseInvalid,
    EmbeddingServerBusy,
    UnknownEmbedder,
    UnknownModel,
)
from knowledge.embedders.registry import create_embedder

__all__ = [
    "Embedder",
    "EmbedderUnavailable",
    "EmbeddingError",
    "EmbeddingInputEmpty",
    "EmbeddingInputTooLong",
    "EmbeddingRequestRefused",
    "EmbeddingResponseInvalid",
    "EmbeddingServerBusy",
    "UnknownEmbedder",
    "UnknownModel",
    "create_embedder",
]
