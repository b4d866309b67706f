"""Embedder for Amazon Bedrock: Titan Text Embeddings V2, and Cohere Embed (multilingual v3, v4)."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from hub.core.processes import PerProcess
from hub.core.retries import TryAgain, with_retries
from knowledge.embedders.base import (
    BYTES_PER_TOKEN,
    FOR_PASSAGES,
    FOR_QUESTIONS,
    EmbedderUnavailable,
    EmbeddingRequestRefused,
    EmbeddingResponseInvalid,
    EmbeddingServerBusy,
    Patience,
    UnknownModel,
    Vectors,
    digest_of,
    embed_in_batches,
    estimate_tokens,
    prepare_input,
    prepare_text,
    unit_vectors,
)

DEFAULT_MODEL = "amazon.titan-embed-text-v2:0"
RECIPE = "bedrock nfkc 1"
CONNECT_TIMEOUT_S = 5.0
# Source: Amazon Bedrock API reference, InvokeModel, "Errors".
_PASSING_KINDS = ("Throttling", "ServiceUnavailable", "InternalServer", "ModelNotReady", "ModelTimeout")
PASSING = frozenset(f"{kind}Exception" for kind in _PASSING_KINDS)
REFUSED_KEY = frozenset({"AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException"})
_making = threading.Lock()


class _Family(ABC):
    """How one family of models is asked, and its limits."""

    dimension: int
    max_tokens: int
    batch_size: int

    @abstractmethod
    def body(self, texts: Sequence[str], *, as_query: bool) -> dict[str, Any]:
        """The request for the vectors of up to ``batch_size`` texts."""

    @abstractmethod
    def vectors(self, answer: dict[str, Any]) -> list[list[float]]:
        """The vectors in an answer, in the order of the texts. May raise KeyError and TypeError."""


class _Titan(_Family):
    """Source: Amazon Bedrock user guide, "Amazon Titan Text Embeddings models": 8,192 tokens, one text a request."""

    dimension, max_tokens, batch_size = 1024, 8192, 1

    def body(self, texts: Sequence[str], *, as_query: bool) -> dict[str, Any]:
        return {"inputText": texts[0], "dimensions": self.dimension, "normalize": True}

    def vectors(self, answer: dict[str, Any]) -> list[list[float]]:
        return [answer["embedding"]]


class _Cohere(_Family):
    """Source: Amazon Bedrock user guide, "Cohere Embed models": 96 texts a request; v3 reads 512 tokens each.

    v4 reads 128,000; more than 8,192 in one passage is of no use to search.
    """

    batch_size = 96

    def __init__(self, *, is_v4: bool) -> None:
        self._is_v4 = is_v4
        self.dimension = 1536 if is_v4 else 1024
        self.max_tokens = 8192 if is_v4 else 512

    def body(self, texts: Sequence[str], *, as_query: bool) -> dict[str, Any]:
        more = {"output_dimension": self.dimension} if self._is_v4 else {}
        return {
            "texts": list(texts),
            "input_type": "search_query" if as_query else "search_document",
            "embedding_types": ["float"],
            "truncate": "NONE",
            **more,
        }

    def vectors(self, answer: dict[str, Any]) -> list[list[float]]:
        found = answer["embeddings"]
        return list(found["float"] if isinstance(found, dict) else found)


class BedrockEmbedder:
    """Embed through Amazon Bedrock; see `Embedder` for what the methods promise.

    Tokens are estimated, never too low for ordinary text. A query is cut to what fits by that estimate.
    """

    name = "bedrock"
    query_prefix = ""
    passage_prefix = ""

    def __init__(
        self,
        *,
        model: str = DEFAULT_MODEL,
        region: str,
        profile: str | None = None,
        endpoint_url: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take a model id, or that of an inference profile (``jp.cohere.embed-v4:0``). Asks nobody.

        :raises UnknownModel: it is of neither family.
        """
        self.model = model
        self._family = _family_of(model)
        self._region = region
        self._profile = profile
        self._endpoint_url = endpoint_url
        self._sleep = sleep
        self._client = PerProcess(self._open_client)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of model and dimension; asks nobody. The region and the profile don't matter."""
        return digest_of(RECIPE, self.model.rpartition("cohere.")[2] or self.model, str(self.dimension))

    @property
    def dimension(self) -> int:
        return self._family.dimension

    @property
    def max_tokens(self) -> int:
        return self._family.max_tokens

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        prepared = [prepare_input(text, prefix="", model=self.model) for text in texts]
        if not prepared:
            return np.empty((0, self.dimension), np.float32)
        embed, size = partial(self._embed, as_query=False), self._family.batch_size
        return embed_in_batches(prepared, count=estimate_tokens, max_tokens=self.max_tokens, size=size, embed=embed)

    def embed_query(self, text: str) -> Vectors:
        limit_bytes = self.max_tokens * BYTES_PER_TOKEN
        prepared = prepare_input(text, prefix="", model=self.model).encode()[:limit_bytes].decode(errors="ignore")
        vector: Vectors = self._embed([prepared], as_query=True)[0]
        return vector

    def query_is_truncated(self, text: str) -> bool:
        return self.count_tokens(text, as_query=True) > self.max_tokens

    def count_tokens(self, text: str, *, as_query: bool = False) -> int:
        """Estimate the tokens of a text; Bedrock has no counter for these models."""
        return estimate_tokens(prepare_text(text, prefix=""))

    @property
    def client(self) -> Any:  # noqa: ANN401 - boto3's clients are made at run time
        return self._client.get()

    def _open_client(self) -> Any:  # noqa: ANN401
        import boto3  # takes a third of a second, which who does not use it need not wait

        config = Config(
            connect_timeout=CONNECT_TIMEOUT_S, read_timeout=FOR_PASSAGES.timeout_s, retries={"total_max_attempts": 1}
        )
        with _making:  # boto3's sessions must not be made by two threads at once
            session = boto3.Session(profile_name=self._profile, region_name=self._region)
            return session.client("bedrock-runtime", endpoint_url=self._endpoint_url, config=config)

    def _embed(self, texts: Sequence[str], *, as_query: bool) -> Vectors:
        patience = FOR_QUESTIONS if as_query else FOR_PASSAGES
        answer = self._invoke(self._family.body(texts, as_query=as_query), patience)
        try:
            vectors = np.array(self._family.vectors(answer), np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise _invalid(f"no list of embeddings ({type(error).__name__})") from error
        if vectors.shape != (len(texts), self.dimension):
            raise _invalid(f"{len(texts)} × {self.dimension} numbers were asked for, {vectors.shape} came")
        return unit_vectors(vectors, invalid=_invalid)

    def _invoke(self, body: dict[str, Any], patience: Patience) -> dict[str, Any]:
        def attempt() -> dict[str, Any]:
            try:
                response = self.client.invoke_model(
                    modelId=self.model, body=json.dumps(body), contentType="application/json", accept="application/json"
                )
                answer: dict[str, Any] = json.loads(response["body"].read())
            except ClientError as error:
                code = str(error.response.get("Error", {}).get("Code", ""))
                raise TryAgain(_busy(code, patience)) if code in PASSING else _refusal(error, code) from error
            except BotoCoreError as error:
                raise TryAgain(_busy(type(error).__name__, patience)) from error
            except ValueError as error:
                raise _invalid("no JSON") from error
            return answer

        return with_retries(
            attempt, attempts=patience.attempts, longest_delay_s=patience.longest_delay_s, sleep=self._sleep
        )


def _busy(failure: str, patience: Patience) -> EmbeddingServerBusy:
    return EmbeddingServerBusy(
        f"Amazon Bedrock failed {patience.attempts} times, last with: {failure}. See AWS_REGION, or try again later.",
        f"Amazon Bedrock は{patience.attempts}回失敗しました（最後: {failure}）。AWS_REGION を確認するか、"
        "時間をおいて再試行してください。",
        failure=failure,
    )


def _family_of(model: str) -> _Family:
    if "titan-embed-text-v2" in model:
        return _Titan()
    if "cohere.embed-v4" in model or "cohere.embed-multilingual-v3" in model:
        return _Cohere(is_v4="cohere.embed-v4" in model)
    raise UnknownModel(
        f"The bedrock embedding backend does not know the model {model!r}. It knows {DEFAULT_MODEL}, "
        "cohere.embed-multilingual-v3 and cohere.embed-v4:0, and inference profiles of these.",
        f"bedrock 埋め込みバックエンドはモデル {model!r} を扱えません。{DEFAULT_MODEL}、cohere.embed-multilingual-v3、"
        "cohere.embed-v4:0 と、その推論プロファイルを指定できます。",
        model=model,
    )


def _refusal(error: ClientError, code: str) -> EmbedderUnavailable | EmbeddingRequestRefused:
    reason = str(error.response.get("Error", {}).get("Message", "-"))[:200]
    if code in REFUSED_KEY:
        return EmbedderUnavailable(
            f"Amazon Bedrock refused access ({code}): {reason}. Check AWS_PROFILE, AWS_REGION and model access.",
            f"Amazon Bedrock がアクセスを拒否しました（{code}）: {reason}。AWS_PROFILE、AWS_REGION、"
            "モデルへのアクセス権を確認してください。",
            code=code,
        )
    return EmbeddingRequestRefused(
        f"Amazon Bedrock refused the request ({code}): {reason}",
        f"Amazon Bedrock が要求を拒否しました（{code}）: {reason}",
        code=code,
    )


def _invalid(what: str) -> EmbeddingResponseInvalid:
    return EmbeddingResponseInvalid(
        f"Amazon Bedrock's answer cannot be used: {what}.", f"Amazon Bedrock の応答を使えません: {what}。"
    )
