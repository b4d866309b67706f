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
    Vectors,
)
from knowledge.embedders.registry import KNOWN_BACKENDS, create_embedder
