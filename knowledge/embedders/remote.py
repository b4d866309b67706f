"""What embedders that ask a server have in common: estimates, empty texts, batches, and vectors of norm 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from knowledge.embedders.base import (
    EmbeddingInputEmpty,
    EmbeddingInputTooLong,
    EmbeddingResponseInvalid,
    Vectors,
    prepare_text,
)

BYTES_PER_TOKEN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a server is waited for: attempts, seconds for each answer, and seconds between two attempts at most."""

    attempts: int
    timeout_s: float
    longest_delay_s: float


FOR_PASSAGES = Patience(attempts=5, timeout_s=60.0, longest_delay_s=30.0)
# Somebody waits for the answer to a question, which words can give as well.
FOR_QUESTIONS = Patience(attempts=2, timeout_s=10.0, longest_delay_s=1.0)


def estimate_tokens(text: str) -> int:
    """Estimate tokens for an unknown tokenizer: one per two bytes of UTF-8, rounded up.

    Above what byte-level BPE vocabularies need for ordinary text (Japanese about 1.1 tokens per character, here
    1.5; English 0.25, here 0.5), but no bound: rare ideographs or random bytes may need more.
    """
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def prepare_input(text: str, *, prefix: str, model: str) -> str:
    """Build what the model reads. :raises EmbeddingInputEmpty: text and prefix are empty."""
    prepared = prepare_text(text, prefix=prefix)
    if not prepared:
        raise EmbeddingInputEmpty(
            f"The text is empty, and the model {model} has no prefix to embed instead.",
            f"文章が空です。モデル {model} には代わりに埋め込む接頭辞もありません。",
            model=model,
        )
    return prepared


def embed_in_batches(
    prepared: Sequence[str],
    *,
    count: Callable[[str], int],
    max_tokens: int,
    size: int,
    embed: Callable[[Sequence[str]], Vectors],
) -> Vectors:
    """Embed one text or more, up to ``size`` in a request: (n, dimension), in their order.

    :raises EmbeddingInputTooLong: for the first that is too long; none is sent then.
    """
    for index, text in enumerate(prepared):
        if (tokens := count(text)) > max_tokens:
            raise EmbeddingInputTooLong.at(index, tokens=tokens, max_tokens=max_tokens)
    return np.concatenate([embed(prepared[start : start + size]) for start in range(0, len(prepared), size)])


def unit_vectors(vectors: Vectors, *, invalid: Callable[[str], EmbeddingResponseInvalid]) -> Vectors:
    """Bring each row to norm 1; raises what ``invalid`` makes for one that is zero or not finite."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise invalid("a vector that is zero or not finite")
    normalised: Vectors = vectors / norms
    return normalised
