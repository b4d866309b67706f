"""Titan and Cohere on Amazon Bedrock, against botocore's stubber."""

from __future__ import annotations

import io
import json
from contextlib import closing

import numpy as np
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from knowledge.embedders import (
    Embedder,
    EmbedderUnavailable,
    EmbeddingInputEmpty,
    EmbeddingInputTooLong,
    EmbeddingRequestRefused,
    EmbeddingResponseInvalid,
    EmbeddingServerBusy,
    UnknownModel,
    create_embedder,
)
from knowledge.embedders.base import FOR_QUESTIONS
from knowledge.embedders.bedrock import BedrockEmbedder

TITAN = "amazon.titan-embed-text-v2:0"
COHERE = "cohere.embed-multilingual-v3"


@pytest.fixture(autouse=True)
def _credentials(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")


@pytest.fixture
def bedrock():
    made: list[BedrockEmbedder] = []

    def make(model: str, *answers: dict) -> tuple[BedrockEmbedder, list[dict]]:
        embedder = BedrockEmbedder(model=model, region="ap-northeast-1", sleep=lambda _s: None)
        made.append(embedder)
        sent: list[dict] = []
        client = embedder.client
        client.meta.events.register(
            "provide-client-params.*.InvokeModel", lambda params, **_: sent.append(json.loads(params["body"]))
        )
        embedder.stubber = Stubber(client)  # type: ignore[attr-defined]
        embedder.stubber.activate()  # type: ignore[attr-defined]
        for answer in answers:
            embedder.stubber.add_response("invoke_model", response(answer))  # type: ignore[attr-defined]
        return embedder, sent

    yield make
    for embedder in made:
        with closing(embedder.client):
            pass


def response(answer: dict) -> dict:
    raw = json.dumps(answer).encode()
    return {"body": StreamingBody(io.BytesIO(raw), len(raw)), "contentType": "application/json"}


def vector(seed: int, dimension: int = 1024) -> list[float]:
    return np.random.default_rng(seed).normal(size=dimension).tolist()


def test_titan_is_asked_for_one_text_at_a_time(bedrock):
    embedder, sent = bedrock(TITAN, {"embedding": vector(1)}, {"embedding": vector(2)})
    vectors = embedder.embed_passages(["応答時間は３秒以内", "稼働率は99.9%"])
    assert vectors.shape == (2, 1024)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert sent == [
        {"inputText": "応答時間は3秒以内", "dimensions": 1024, "normalize": True},
        {"inputText": "稼働率は99.9%", "dimensions": 1024, "normalize": True},
    ]


def test_cohere_is_asked_in_batches_and_told_questions_from_passages(bedrock):
    texts = [f"文書{n}" for n in range(100)]
    answers = [
        {"embeddings": {"float": [vector(n) for n in range(96)]}},
        {"embeddings": [vector(n) for n in range(4)]},
        {"embeddings": {"float": [vector(7)]}},
    ]
    embedder, sent = bedrock(COHERE, *answers)
    assert embedder.embed_passages(texts).shape == (100, 1024)
    assert embedder.embed_query("応答時間は").shape == (1024,)
    assert [(len(body["texts"]), body["input_type"]) for body in sent] == [
        (96, "search_document"),
        (4, "search_document"),
        (1, "search_query"),
    ]
    assert {body["truncate"] for body in sent} == {"NONE"}


def test_cohere_v4_behind_an_inference_profile_has_its_own_dimension(bedrock):
    embedder, sent = bedrock("jp.cohere.embed-v4:0", {"embeddings": {"float": [vector(1, 1536)]}})
    assert embedder.embed_passages(["図面"]).shape == (1, 1536)
    assert sent[0]["output_dimension"] == 1536
    direct = BedrockEmbedder(model="cohere.embed-v4:0", region="us-east-1")
    assert direct.fingerprint == embedder.fingerprint
    assert direct.fingerprint != BedrockEmbedder(model=COHERE, region="us-east-1").fingerprint


def test_nothing_is_cut_silently(bedrock):
    embedder, sent = bedrock(COHERE, {"embeddings": [vector(1)]})
    with pytest.raises(EmbeddingInputTooLong):
        embedder.embed_passages(["短い", "長" * 600])
    assert sent == []
    assert embedder.query_is_truncated("長" * 600)
    embedder.embed_query("長" * 600)
    assert embedder.count_tokens(sent[0]["texts"][0]) <= embedder.max_tokens
    with pytest.raises(EmbeddingInputEmpty):
        embedder.embed_passages([" "])
    assert embedder.embed_passages([]).shape == (0, 1024)


def test_what_passes_by_itself_is_tried_again_and_given_up_in_the_end(bedrock):
    embedder, _sent = bedrock(TITAN)
    embedder.stubber.add_client_error("invoke_model", "ThrottlingException")
    embedder.stubber.add_response("invoke_model", response({"embedding": vector(1)}))
    assert embedder.embed_query("質問").shape == (1024,)
    for _try in range(FOR_QUESTIONS.attempts):
        embedder.stubber.add_client_error("invoke_model", "ServiceUnavailableException")
    with pytest.raises(EmbeddingServerBusy, match="ServiceUnavailableException"):
        embedder.embed_query("質問")


@pytest.mark.parametrize(
    ("code", "error"),
    [("AccessDeniedException", EmbedderUnavailable), ("ValidationException", EmbeddingRequestRefused)],
)
def test_a_refusal_is_told_with_its_reason(bedrock, code, error):
    embedder, _sent = bedrock(TITAN)
    embedder.stubber.add_client_error("invoke_model", code, service_message="model access is off")
    with pytest.raises(error, match="model access is off") as caught:
        embedder.embed_query("質問")
    assert "Bedrock" in caught.value.text.ja


@pytest.mark.parametrize("answer", [{}, {"embedding": [1.0, 2.0]}, {"embedding": [0.0] * 1024}, {"embedding": "x"}])
def test_an_answer_without_the_right_vectors_is_refused(bedrock, answer):
    embedder, _sent = bedrock(TITAN, answer)
    with pytest.raises(EmbeddingResponseInvalid):
        embedder.embed_query("質問")


def test_the_registry_makes_one_with_its_default_model(tmp_path):
    embedder = create_embedder("bedrock", model=None, cache_dir=tmp_path)
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.model, embedder.dimension) == ("bedrock", TITAN, 1024)
    with pytest.raises(UnknownModel, match="titan-embed"):
        create_embedder("bedrock", model="amazon.titan-embed-image-v1", cache_dir=tmp_path)
