import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from knowledge.embedders.base import Embedder, EmbedderUnavailable, EmbeddingInputTooLong, UnknownModel
from knowledge.embedders.bundled.backend import BundledEmbedder
from knowledge.embedders.bundled.weights import Weights, find_weights
from knowledge.embedders.sentence_transformers import SentenceTransformersEmbedder

from .export_model import export_model


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sentence_transformers", reason="needs pip install -r requirements/ml.txt")
    folder = tmp_path_factory.mktemp("exported") / "multilingual-e5-small"
    folder.mkdir()
    export_model(Weights(find_weights()), folder)
    return folder


@pytest.fixture(scope="module")
def embedder(model_folder: Path) -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(model=str(model_folder))


def test_it_is_an_embedder_with_the_sizes_of_its_model(embedder: SentenceTransformersEmbedder) -> None:
    assert isinstance(embedder, Embedder)
    assert (embedder.dimension, embedder.max_tokens) == (384, 512)
    assert (embedder.query_prefix, embedder.passage_prefix) == ("query: ", "passage: ")


def test_torch_and_the_bundled_graph_agree_on_the_same_weights(
    embedder: SentenceTransformersEmbedder, fp32: BundledEmbedder, japanese_passages: list[str]
) -> None:
    passages = japanese_passages[:200:10]

    cosines = np.sum(embedder.embed_passages(passages) * fp32.embed_passages(passages), axis=1)
    query_cosine = embedder.embed_query("首都はどこですか") @ fp32.embed_query("首都はどこですか")

    assert cosines.min() > 0.9999
    assert query_cosine > 0.9999


def test_both_count_the_same_tokens_in_real_texts(
    embedder: SentenceTransformersEmbedder, fp32: BundledEmbedder, real_texts: list[str]
) -> None:
    different = [text for text in real_texts if embedder.count_tokens(text) != fp32.count_tokens(text)]

    assert different == []


def test_special_tokens_typed_in_a_text_are_plain_text(
    embedder: SentenceTransformersEmbedder, fp32: BundledEmbedder
) -> None:
    typed, taken_apart = "取り消し線は<s>自由に</s>書く", "取り消し線は< s>自由に< /s>書く"

    assert embedder.count_tokens(typed) == fp32.count_tokens(taken_apart)
    assert embedder.embed_passages([typed])[0] @ fp32.embed_passages([taken_apart])[0] > 0.9999


def test_vectors_are_float32_of_norm_1_in_order(embedder: SentenceTransformersEmbedder) -> None:
    vectors = embedder.embed_passages(["短い", "少し長い文章です。" * 10, "短い"])

    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert embedder.embed_passages([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["", "\ud800", "a\0b", "👨‍👩‍👧"], ids=ascii)
def test_odd_texts_have_unit_vectors(embedder: SentenceTransformersEmbedder, text: str) -> None:
    assert np.linalg.norm(embedder.embed_passages([text])[0]) == pytest.approx(1, abs=1e-6)


def test_a_passage_beyond_the_window_is_refused_and_a_query_cut(embedder: SentenceTransformersEmbedder) -> None:
    text = "電子申請の本人確認はどのように行うか。" * 100

    with pytest.raises(EmbeddingInputTooLong, match="Passage 0 has"):
        embedder.embed_passages([text])
    assert embedder.query_is_truncated(text)
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1, abs=1e-6)


def test_threads_may_count_and_embed_at_once(embedder: SentenceTransformersEmbedder) -> None:
    expected = embedder.embed_query("同時に")
    results: list[np.ndarray] = []

    def work() -> None:
        for _ in range(5):
            embedder.count_tokens("数える" * 300)
            results.append(embedder.embed_query("同時に"))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 15
    assert all(np.array_equal(result, expected) for result in results)


def test_the_fingerprint_of_a_folder_follows_its_content(tmp_path: Path) -> None:
    folder = tmp_path / "multilingual-e5-tiny"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"one")
    before = SentenceTransformersEmbedder(model=str(folder)).fingerprint
    moved = folder.rename(tmp_path / "moved-e5")

    same = SentenceTransformersEmbedder(model=str(moved)).fingerprint
    (moved / "model.safetensors").write_bytes(b"two")

    assert same == before
    assert SentenceTransformersEmbedder(model=str(moved)).fingerprint != before


def test_the_fingerprint_of_a_name_follows_the_name() -> None:
    name = "intfloat/multilingual-e5-large"
    fingerprints = {
        SentenceTransformersEmbedder(model=name).fingerprint,
        SentenceTransformersEmbedder(model="intfloat/multilingual-e5-base").fingerprint,
    }

    assert len(fingerprints) == 2


def test_a_folder_without_a_model_is_an_unknown_model(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs pip install -r requirements/ml.txt")

    with pytest.raises(UnknownModel, match="cannot load the model"):
        SentenceTransformersEmbedder(model=str(tmp_path)).embed_query("申請")


def test_a_missing_package_names_the_requirements_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    with pytest.raises(EmbedderUnavailable, match=r"pip install -r requirements/ml\.txt"):
        SentenceTransformersEmbedder().embed_query("申請")
