"""Embedder for servers that speak OpenAI's POST /embeddings."""

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import httpx2
import numpy as np

from hub.core.model_servers import AnswerTooLong, ModelServer, RequestRefused, ServerAway
from hub.core.retries import TryAgain, with_retries
from knowledge.embedders.base import (
    FOR_PASSAGES,
    FOR_QUESTIONS,
    EmbedderUnavailable,
    EmbeddingRequestRefused,
    EmbeddingResponseInvalid,
    EmbeddingServerBusy,
    Patience,
    UnknownEmbedder,
    Vectors,
    default_prefixes,
    digest_of,
    embed_in_batches,
    estimate_tokens,
    prepare_input,
    prepare_text,
    unit_vectors,
)

RECIPE = "openai-compatible nfkc 1"
# A server that hangs must not hold up one question after the other.
PAUSE_AFTER_FAILURE_S = 5.0
# Source: OpenAI API reference, "Create embeddings": 8,192 tokens for the text-embedding-3 models.
DEFAULT_MAX_TOKENS = 8192
# A query is cut to this many characters per token before its exact length is searched for.
MOST_CHARACTERS_PER_TOKEN = 16
# 64 texts with vectors of 16,000 numbers of 20 characters.
MOST_ANSWER_BYTES = 20 * 1024 * 1024


class OpenAICompatibleEmbedder:
    """Embed through a server; see `Embedder` for what the methods promise.

    The fingerprint is made of model and prefixes: a server that moves keeps it, and a server that puts other
    weights behind the same model name cannot be noticed.
    """

    name = "openai"

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        count: Callable[[str], int] = estimate_tokens,
        batch_size: int = 64,
        sleep: Callable[[float], None] = time.sleep,
        pause_s: float = PAUSE_AFTER_FAILURE_S,
    ) -> None:
        """Take the URL that ``/embeddings`` is added to, and `count`, which counts tokens of a prepared text.

        After a question that the server did not answer others don't ask it for ``pause_s``; passages do.

        The first answer decides the dimension; each later one must agree.

        :raises UnknownEmbedder: if the URL is not an http(s) URL.
        """
        self.model = model
        self.max_tokens = max_tokens
        self.query_prefix, self.passage_prefix = default_prefixes(model)
        _check_url(base_url)
        self._server = ModelServer(base_url, api_key=api_key or "", most_bytes=MOST_ANSWER_BYTES)
        self._url = f"{self._server.url}/embeddings"
        self._dimension: int | None = None
        self._count = count
        self._batch_size = batch_size
        self._sleep = sleep
        self._pause_s = pause_s
        self._resume_at, self._failure = 0.0, ""

    @cached_property
    def fingerprint(self) -> str:
        """Hash of model and prefixes; asks nobody."""
        # The empty part stands for a dimension asked for: none is, and stored fingerprints stay as they are.
        return digest_of(RECIPE, self.model, "", self.query_prefix, self.passage_prefix)

    @property
    def dimension(self) -> int:
        """Length of each vector; asks the server unless it is known."""
        if self._dimension is None:
            self._dimension = self._request(["dimension"]).shape[1]
        return self._dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        prepared = [prepare_input(text, prefix=self.passage_prefix, model=self.model) for text in texts]
        if not prepared:
            return np.empty((0, self.dimension), np.float32)
        return embed_in_batches(
            prepared, count=self._count, max_tokens=self.max_tokens, size=self._batch_size, embed=self._request
        )

    def embed_query(self, text: str) -> Vectors:
        """As `Embedder` says. It is given up sooner than passages are, and at once for a while after one was."""
        if time.monotonic() < self._resume_at:
            raise self._busy(self._failure, attempts=FOR_QUESTIONS.attempts)
        prepared = prepare_input(text, prefix=self.query_prefix, model=self.model)
        prepared = prepared[: self.max_tokens * MOST_CHARACTERS_PER_TOKEN]
        if self._count(prepared) > self.max_tokens:
            lengths = range(1, len(prepared))
            fitting = bisect_right(lengths, self.max_tokens, key=lambda n: self._count(prepared[:n]))
            prepared = prepared[:fitting]
        try:
            vector: Vectors = self._request([prepared], patience=FOR_QUESTIONS)[0]
        except EmbeddingServerBusy as error:
            self._resume_at, self._failure = time.monotonic() + self._pause_s, str(error.data["failure"])
            raise
        return vector

    def query_is_truncated(self, text: str) -> bool:
        return self.count_tokens(text, as_query=True) > self.max_tokens

    def count_tokens(self, text: str, *, as_query: bool = False) -> int:
        """Count tokens with the counter given at the start, an estimate unless it knows the vocabulary."""
        return self._count(prepare_text(text, prefix=self.query_prefix if as_query else self.passage_prefix))

    def close(self) -> None:
        """Close the connections to the server; a later call opens new ones."""
        self._server.close()

    def _request(self, texts: Sequence[str], *, patience: Patience = FOR_PASSAGES) -> Vectors:
        """Ask for the vectors of one batch, (n, dimension), checked and brought to norm 1."""
        body: dict[str, object] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        vectors = _read_vectors(self._post(body, patience), count=len(texts))
        expected = self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != expected:
            # Of two answers that differ the first may have been the wrong one: the next decides anew.
            self._dimension = None
            raise EmbeddingResponseInvalid(
                f"{self._url} answered with vectors of {vectors.shape[1]} numbers; {expected} were expected. "
                f"Check that it serves the model {self.model}.",
                f"{self._url} のベクトルは{vectors.shape[1]}次元でした（想定は{expected}次元）。"
                f"モデル {self.model} を提供しているか確認してください。",
                found=vectors.shape[1],
                expected=expected,
            )
        return vectors

    def _post(self, body: dict[str, object], patience: Patience) -> httpx2.Response:
        def attempt() -> httpx2.Response:
            try:
                return self._server.ask("/embeddings", body, timeout_s=patience.timeout_s)
            except ServerAway as failure:
                busy = self._busy(failure.failure, attempts=patience.attempts)
                raise TryAgain(busy, retry_after_s=failure.retry_after_s) from failure
            except RequestRefused as refusal:
                raise self._refusal(refusal) from refusal
            except AnswerTooLong as error:
                raise _invalid(f"it has more than {MOST_ANSWER_BYTES:,} bytes") from error

        return with_retries(
            attempt, attempts=patience.attempts, longest_delay_s=patience.longest_delay_s, sleep=self._sleep
        )

    def _busy(self, failure: str, *, attempts: int) -> EmbeddingServerBusy:
        return EmbeddingServerBusy(
            f"{self._url} failed {attempts} times, last with: {failure}. Try again later.",
            f"{self._url} は{attempts}回失敗しました（最後: {failure}）。時間をおいて再試行してください。",
            url=self._url,
            failure=failure,
        )

    def _refusal(self, refusal: RequestRefused) -> EmbedderUnavailable | EmbeddingRequestRefused:
        status = refusal.status
        if refusal.is_about_key:  # without the server's words, which may repeat the key
            return EmbedderUnavailable(
                f"{self._url} refused the API key (HTTP {status}). Check EMBEDDING_API_KEY.",
                f"{self._url} が API キーを拒否しました（HTTP {status}）。EMBEDDING_API_KEY を確認してください。",
                status=status,
            )
        reason = refusal.reason or "no reason given"
        return EmbeddingRequestRefused(
            f"{self._url} refused the request (HTTP {status}): {reason}",
            f"{self._url} が要求を拒否しました（HTTP {status}）: {reason}",
            status=status,
        )


def _check_url(base_url: str) -> None:
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UnknownEmbedder(
            "The base URL of the openai embedding backend must look like https://host/v1.",
            "openai 埋め込みバックエンドの URL は https://host/v1 の形で指定してください。",
        )


def _read_vectors(response: httpx2.Response, *, count: int) -> Vectors:
    try:
        items: list[dict[str, Any]] = sorted(response.json()["data"], key=lambda item: int(item["index"]))
        indexes = [item["index"] for item in items]
        vectors = np.array([item["embedding"] for item in items], np.float32)
    except (ValueError, KeyError, TypeError) as error:
        raise _invalid(f"no list of embeddings ({type(error).__name__})") from error
    if indexes != list(range(count)) or vectors.ndim != 2:
        raise _invalid(f"{count} embeddings were asked for, {len(indexes)} came")
    return unit_vectors(vectors, invalid=_invalid)


def _invalid(what: str) -> EmbeddingResponseInvalid:
    return EmbeddingResponseInvalid(
        f"The embedding server's answer cannot be used: {what}.",
        f"埋め込みサーバーの応答を使えません: {what}。",
    )
