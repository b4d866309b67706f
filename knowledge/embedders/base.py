"""What every embedder offers, how it prepares a text, its errors, and what those that ask a server have in common."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hub.core.texts import Text
from knowledge.text.folding import normalise


def digest_of(*parts: str) -> str:
    """Hash the parts of a fingerprint, their boundaries included: SHA-256 in hexadecimal."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()


def prepare_text(text: str, *, prefix: str) -> str:
    """Build what the model reads: prefix and normalised text, without outer white space."""
    return (prefix + normalise(text).strip()).strip()


def default_prefixes(model: str) -> tuple[str, str]:
    """Return the (query, passage) prefixes a model was trained with: E5 has them, other families do not.

    Source: model card of intfloat/multilingual-e5-large, "Each input text should start with query: or
    passage:".
    """
    is_e5 = re.search(r"(?<![a-z0-9])e5(?![0-9])", model.lower()) is not None
    return ("query: ", "passage: ") if is_e5 else ("", "")


Vectors: TypeAlias = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turn texts into unit vectors whose dot product is their similarity.

    Constructing one loads nothing; the first use does. Every method may be called from several threads, and
    after a fork the child makes its own session. All texts are prepared by `text.prepare_text`: lone
    surrogates become U+FFFD, NFKC is applied, the prefix is added and outer white space dropped, so an
    empty text is embedded as the prefix alone.
    """

    @property
    def name(self) -> str:
        """Backend id as in the settings, e.g. ``bundled``."""

    @property
    def model(self) -> str:
        """Model name as the backend knows it."""

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits; vectors of two embedders may be compared only if theirs are equal."""

    @property
    def dimension(self) -> int:
        """Length of each vector."""

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, prefix and special tokens included."""

    @property
    def query_prefix(self) -> str:
        """Text put before each query."""

    @property
    def passage_prefix(self) -> str:
        """Text put before each passage."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages, in order: (n, dimension) float32, each row of norm 1.

        :raises EmbeddingInputTooLong: a text has more than `max_tokens`; nothing is ever cut, and no text of the call
            is embedded or sent.
        :raises EmbeddingInputEmpty: a text is empty and there is no prefix.
        :raises EmbeddingServerBusy: a server did not answer on any attempt.
        :raises EmbeddingRequestRefused: it refused the request or the key.
        :raises EmbeddingResponseInvalid: its answer is not what was asked for.
        """

    def embed_query(self, text: str) -> Vectors:
        """Embed a query: (dimension,) float32 of norm 1.

        A query beyond `max_tokens` is cut to its first tokens, for it must get an answer;
        `query_is_truncated` says whether that happens.
        """

    def query_is_truncated(self, text: str) -> bool:
        """Return whether `embed_query` sees only the beginning of this text."""

    def count_tokens(self, text: str, *, as_query: bool = False) -> int:
        """Count the tokens of a passage (or query) with prefix and special tokens, however long it is."""


class EmbeddingError(Exception):
    """Base of all errors of an embedder, with its message in English and Japanese.

    `retryable` says whether the same call may succeed later; `data` has the facts of the message.
    """

    code: ClassVar[str] = "embedding_error"
    retryable: ClassVar[bool] = False

    def __init__(self, en: str, ja: str, **data: str | int) -> None:
        super().__init__(en, ja)  # positional, so that the error survives pickling between processes
        self.text = Text(ja=ja, en=en)
        self.data = data

    def __str__(self) -> str:
        return self.text.en


class EmbedderUnavailable(EmbeddingError):
    """A package, file or server that the embedder needs is not there."""

    code = "embedder_unavailable"


class EmbeddingServerBusy(EmbedderUnavailable):
    """A server did not answer, or asked for patience, on every attempt."""

    code = "embedding_server_busy"
    retryable = True


class EmbeddingRequestRefused(EmbeddingError):
    """A server understood the request and refused it; the same request will be refused again."""

    code = "embedding_request_refused"


class EmbeddingResponseInvalid(EmbeddingError):
    """An answer does not hold the vectors that were asked for."""

    code = "embedding_response_invalid"


class EmbeddingInputTooLong(EmbeddingError, ValueError):
    """A passage has more tokens than the model reads."""

    code = "embedding_input_too_long"

    @classmethod
    def at(cls, index: int, *, tokens: int, max_tokens: int) -> EmbeddingInputTooLong:
        """Say which text of a call (from 0) is too long, and by how much."""
        return cls(
            f"Passage {index} has {tokens} tokens; the embedding model reads at most {max_tokens}, "
            "prefix included. Split it into smaller chunks.",
            f"{index}番目の文章は{tokens}トークンです。埋め込みモデルが読めるのは接頭辞を含めて"
            f"{max_tokens}トークンまでなので、チャンクを小さくしてください。",
            index=index,
            tokens=tokens,
            max_tokens=max_tokens,
        )


class EmbeddingInputEmpty(EmbeddingError, ValueError):
    """A text is empty and the model has no prefix to embed instead."""

    code = "embedding_input_empty"


class UnknownEmbedder(EmbeddingError, ValueError):
    """The settings name an embedding backend that does not exist, or give it options it does not take."""

    code = "unknown_embedder"


class UnknownModel(EmbeddingError, ValueError):
    """The backend exists but does not have the model asked for."""

    code = "unknown_model"


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
