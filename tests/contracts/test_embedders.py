"""What every embedder promises (``Embedder``), asked of each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from knowledge.embedders import Embedder, EmbeddingError, EmbeddingInputEmpty, EmbeddingInputTooLong
from knowledge.embedders.bedrock import BedrockEmbedder
from knowledge.embedders.bundled.backend import BundledEmbedder
from knowledge.embedders.bundled.weights import Weights, find_weights
from knowledge.embedders.openai_compatible import OpenAICompatibleEmbedder
from knowledge.embedders.registry import BUNDLED_PRECISIONS, KNOWN_BACKENDS
from knowledge.embedders.sentence_transformers import SentenceTransformersEmbedder
from tests.contracts.model_server import Fault, ModelServer
from tests.knowledge.embedders.export_model import export_model

Make = Callable[[], Embedder]
MODELS = {"titan": "amazon.titan-embed-text-v2:0", "cohere": "cohere.embed-multilingual-v3"}
REMOTE = ("openai", *MODELS)
LOCAL = (*BUNDLED_PRECISIONS, "sentence-transformers")
LONG = "応答時間は3秒以内とする。" * 4000


@pytest.fixture(scope="session")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("contract-graphs")


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sentence_transformers", reason="needs pip install -r requirements/ml.txt")
    folder = tmp_path_factory.mktemp("contract-model") / "multilingual-e5-small"
    folder.mkdir()
    export_model(Weights(find_weights()), folder)
    return folder


def local_embedder(kind: str, request: pytest.FixtureRequest) -> Embedder:
    if kind in BUNDLED_PRECISIONS:
        return BundledEmbedder(cache_dir=request.getfixturevalue("graphs"), precision=BUNDLED_PRECISIONS[kind])
    return SentenceTransformersEmbedder(model=str(request.getfixturevalue("model_folder")))


def remote_embedder(kind: str, url: str) -> OpenAICompatibleEmbedder | BedrockEmbedder:
    if kind == "openai":
        return OpenAICompatibleEmbedder(base_url=f"{url}/v1", model="model", api_key="key", sleep=lambda _s: None)
    return BedrockEmbedder(model=MODELS[kind], region="ap-northeast-1", endpoint_url=url, sleep=lambda _s: None)


def close(embedder: Embedder) -> None:
    if isinstance(embedder, OpenAICompatibleEmbedder):
        embedder.close()
    elif isinstance(embedder, BedrockEmbedder):
        embedder.client.close()


@pytest.fixture(params=[*LOCAL, *REMOTE])
def make(request: pytest.FixtureRequest, models: ModelServer) -> Iterator[Make]:
    """Makes the embedder anew at each call."""
    made: list[Embedder] = []

    def one() -> Embedder:
        kind = request.param
        made.append(local_embedder(kind, request) if kind in LOCAL else remote_embedder(kind, models.url))
        return made[-1]

    yield one
    for embedder in made:
        close(embedder)


@pytest.fixture(scope="session")
def loaded() -> dict[str, Embedder]:
    """The local embedders, which take seconds to load their model."""
    return {}


@pytest.fixture(params=[*LOCAL, *REMOTE])
def embedder(request: pytest.FixtureRequest, models: ModelServer, loaded: dict[str, Embedder]) -> Iterator[Embedder]:
    kind = request.param
    if kind in LOCAL:
        if kind not in loaded:
            loaded[kind] = local_embedder(kind, request)
        yield loaded[kind]
        return
    embedder = remote_embedder(kind, models.url)
    yield embedder
    close(embedder)


@pytest.fixture(params=REMOTE)
def remote(request: pytest.FixtureRequest, models: ModelServer) -> Iterator[Embedder]:
    embedder = remote_embedder(request.param, models.url)
    yield embedder
    close(embedder)


def test_every_backend_is_asked() -> None:
    assert set(KNOWN_BACKENDS) == {*LOCAL, "openai", "bedrock"}


def test_it_says_what_it_is(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.name in KNOWN_BACKENDS
    assert embedder.model
    assert embedder.dimension > 0
    assert embedder.max_tokens > 0


def test_passages_come_back_in_order_as_unit_vectors(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(["個人情報の取扱い", "システムの可用性", "個人情報の取扱い"])
    assert vectors.shape == (3, embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-6)
    assert float(vectors[0] @ vectors[1]) < 0.99


def test_no_passages_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.dimension)


def test_a_query_is_one_unit_vector(embedder: Embedder) -> None:
    vector = embedder.embed_query("応答時間は")
    assert vector.shape == (embedder.dimension,)
    assert vector.dtype == np.float32
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_half_width_kana_have_the_vector_of_their_nfkc_form(embedder: Embedder) -> None:
    half, full = embedder.embed_passages(["ｻｰﾊﾞの可用性", "サーバの可用性"])
    np.testing.assert_allclose(half, full, atol=1e-6)


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "👨‍👩‍👧", "か\u3099", "x" * 300], ids=lambda text: ascii(text[:9]))
def test_odd_texts_have_unit_vectors(embedder: Embedder, text: str) -> None:
    assert abs(float(np.linalg.norm(embedder.embed_passages([text])[0])) - 1) < 1e-5
    assert embedder.count_tokens(text) > 0


def test_an_empty_text_is_embedded_as_its_prefix_or_refused_where_there_is_none(embedder: Embedder) -> None:
    if embedder.passage_prefix:
        empty, blank = embedder.embed_passages(["", " \n"])
        np.testing.assert_allclose(empty, blank, atol=1e-6)
    else:
        with pytest.raises(EmbeddingInputEmpty):
            embedder.embed_passages([""])


def test_a_passage_beyond_the_window_is_named_and_nothing_of_the_call_is_embedded(
    embedder: Embedder, models: ModelServer
) -> None:
    with pytest.raises(EmbeddingInputTooLong) as refused:
        embedder.embed_passages(["短い文", LONG])
    assert refused.value.data["index"] == 1
    assert refused.value.data["max_tokens"] == embedder.max_tokens
    assert models.requests == []


def test_a_query_beyond_the_window_is_cut_and_says_so(embedder: Embedder) -> None:
    assert embedder.query_is_truncated(LONG)
    assert not embedder.query_is_truncated("応答時間は")
    assert embedder.embed_query(LONG).shape == (embedder.dimension,)


def test_a_longer_text_has_no_fewer_tokens(embedder: Embedder) -> None:
    counts = [embedder.count_tokens("応答時間は3秒以内とする。" * times) for times in (1, 2, 10)]
    assert counts == sorted(set(counts))
    assert embedder.count_tokens(LONG) > embedder.max_tokens


def test_the_fingerprint_is_that_of_every_embedder_made_alike(make: Make) -> None:
    first, second = make().fingerprint, make().fingerprint
    assert first == second
    assert len(first) == 64
    int(first, 16)


def test_threads_get_equal_vectors(embedder: Embedder) -> None:
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _n: embedder.embed_query("応答時間は"), range(8)))
    for vector in vectors[1:]:
        np.testing.assert_allclose(vector, vectors[0], atol=1e-6)


def test_a_busy_service_is_asked_again(remote: Embedder, models: ModelServer) -> None:
    models.script += [Fault.BUSY, Fault.BUSY]
    assert len(remote.embed_passages(["応答時間"])) == 1
    assert len(models.requests) == 3


def test_a_service_that_stays_busy_is_given_up_and_may_be_asked_later(remote: Embedder, models: ModelServer) -> None:
    models.script += [Fault.BUSY] * 50
    with pytest.raises(EmbeddingError) as busy:
        remote.embed_passages(["応答時間"])
    assert (busy.value.code, busy.value.retryable) == ("embedding_server_busy", True)


@pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.BAD_KEY])
def test_a_refusal_is_final_and_no_key_is_shown(remote: Embedder, models: ModelServer, fault: Fault) -> None:
    models.script += [fault]
    with pytest.raises(EmbeddingError) as refused:
        remote.embed_passages(["応答時間"])
    assert not refused.value.retryable
    assert len(models.requests) == 1
    assert "key" not in refused.value.data.values()
    assert refused.value.text.ja != refused.value.text.en
