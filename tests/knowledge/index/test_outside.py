"""Embedding models and knowledge bases outside are behind the same door as chat models."""

from __future__ import annotations

import numpy as np
import pytest

from hub.access.principals import Classification, local_operator
from hub.llm.confirmations import EMBEDDINGS, confirm_no_training
from hub.llm.errors import LlmRefused
from knowledge.index.outside import OutsideEmbedder, admit_documents, admit_versions, behind_the_door, service_of
from knowledge.index.vectors import embed_chunks
from knowledge.models import Chunk, DocumentVersion
from knowledge.remote.bedrock_kb import KbConfig, ask
from tests.factories import upload_text
from tests.hub.core.personal_data import positives

OUTSIDE = "https://embeddings.example.com/v1"


class Recorder:
    """A model that notes what it was sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.max_tokens = 512

    def embed_passages(self, texts):
        self.sent += texts
        return np.zeros((len(texts), 2), np.float32)

    def embed_query(self, text):
        self.sent.append(text)
        return np.zeros(2, np.float32)

    def count_tokens(self, text, *, as_query=False):
        return len(text)


@pytest.fixture
def model() -> Recorder:
    return Recorder()


def version_of(tmp_path, classification: Classification) -> DocumentVersion:
    outcome = upload_text(local_operator(), tmp_path, "# 本文\n", classification=classification)
    return DocumentVersion.objects.get(document=outcome.document)


@pytest.mark.parametrize(
    ("backend", "url", "is_private"),
    [
        ("bundled", "", None),
        ("sentence-transformers", "", None),
        ("openai", "http://127.0.0.1:9000/v1", True),
        ("openai", "http://embedder:9000/v1", True),
        ("openai", OUTSIDE, False),
        ("bedrock", "", False),
    ],
)
def test_which_models_are_outside(backend, url, is_private):
    service = service_of(backend, url)
    assert (service and service.is_private) == is_private


def test_nothing_of_the_corpus_is_sent_and_a_model_in_the_own_network_gets_it_as_it_is(model):
    lines = [line for line in positives(300) if line.kind not in {"password", "field"}]
    embedder = behind_the_door(model, "openai", OUTSIDE)
    embedder.embed_passages([line.text for line in lines])
    for line in lines:
        embedder.embed_query(line.text)
    assert [line for line in lines if any(line.secret in text for text in model.sent)] == []
    assert embedder.max_tokens == 512
    behind_the_door(model, "openai", "http://127.0.0.1:1/v1").embed_query("a@example.jp")
    assert model.sent[-1] == "a@example.jp"


@pytest.mark.django_db
def test_what_is_classified_too_high_is_refused_and_a_confirmation_lets_c2_go(tmp_path, model, settings):
    embedder = behind_the_door(model, "openai", OUTSIDE)
    assert isinstance(embedder, OutsideEmbedder)
    version = version_of(tmp_path, Classification.C2)
    chunk = Chunk(version=version, content="本文")
    with pytest.raises(LlmRefused, match="embeddings") as refused:
        embed_chunks([chunk], embedder)
    assert refused.value.error_code == "llm_no_training_not_confirmed"
    assert model.sent == []
    settings.CONFIG = settings.CONFIG.model_copy(update={"embedding_base_url": OUTSIDE})
    confirm_no_training(principal=local_operator(), evidence="契約書", retention="なし", provider=EMBEDDINGS)
    embed_chunks([chunk], embedder)
    assert model.sent == ["本文"]
    high = version_of(tmp_path, Classification.C3)
    for admitted in (
        lambda: admit_versions(embedder, [high.pk]),
        lambda: admit_documents(embedder, [high.document.public_id]),
    ):
        with pytest.raises(LlmRefused) as refused:
            admitted()
        assert refused.value.error_code == "llm_classification_too_high"


@pytest.mark.django_db
def test_a_model_of_the_hub_itself_costs_no_query(model, django_assert_num_queries):
    with django_assert_num_queries(0):
        admit_versions(behind_the_door(model, "bundled", ""), [1])


def test_questions_to_a_knowledge_base_are_masked():
    class Runtime:
        def retrieve(self, **request):
            self.asked = request["retrievalQuery"]["text"]
            return {"retrievalResults": []}

    for masks, sent in ((True, "[EMAIL-1] の件"), (False, "a@example.jp の件")):
        runtime = Runtime()
        ask(KbConfig(aws_region="x", kb_id="KB"), query="a@example.jp の件", client=runtime, masks=masks)
        assert runtime.asked == sent
