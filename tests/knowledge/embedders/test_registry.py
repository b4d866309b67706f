from pathlib import Path

import pytest

from knowledge.embedders import Embedder, UnknownEmbedder, UnknownModel, create_embedder


@pytest.mark.parametrize(
    ("backend", "model"),
    [
        ("bundled", "multilingual-e5-small-q4"),
        ("bundled-fp32", "multilingual-e5-small-q4"),
        ("sentence-transformers", "intfloat/multilingual-e5-large"),
    ],
)
def test_a_backend_without_model_gets_its_default(tmp_path: Path, backend: str, model: str) -> None:
    embedder = create_embedder(backend, model=None, cache_dir=tmp_path)

    assert (embedder.name, embedder.model) == (backend, model)
    assert (embedder.query_prefix, embedder.passage_prefix) == ("query: ", "passage: ")


def test_an_openai_embedder_takes_model_and_url(tmp_path: Path) -> None:
    embedder = create_embedder(
        "openai", model="text-embedding-3-small", cache_dir=tmp_path, base_url="https://api.openai.com/v1"
    )

    assert isinstance(embedder.count_tokens("申請"), int)
    assert (embedder.name, embedder.max_tokens, embedder.query_prefix) == ("openai", 8192, "")


def test_a_remote_multilingual_e5_counts_like_the_bundled_one(tmp_path: Path) -> None:
    remote = create_embedder(
        "openai", model="intfloat/multilingual-e5-large", cache_dir=tmp_path, base_url="http://127.0.0.1:1/v1"
    )
    bundled = create_embedder("bundled", model=None, cache_dir=tmp_path)

    assert remote.max_tokens == 512
    assert remote.count_tokens("電子申請の手引き") == bundled.count_tokens("電子申請の手引き")


def test_an_unknown_backend_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        UnknownEmbedder, match="bundled, bundled-fp32, sentence-transformers, openai, bedrock"
    ) as caught:
        create_embedder("bundeld", model=None, cache_dir=tmp_path)

    assert "bundeld" in caught.value.text.ja


def test_a_bundled_backend_refuses_another_model(tmp_path: Path) -> None:
    with pytest.raises(UnknownModel, match="multilingual-e5-small-q4"):
        create_embedder("bundled", model="intfloat/multilingual-e5-large", cache_dir=tmp_path)


@pytest.mark.parametrize("options", [{"model": None, "base_url": "http://h/v1"}, {"model": "m", "base_url": None}])
def test_an_openai_backend_without_model_or_url_says_what_it_needs(tmp_path: Path, options) -> None:
    with pytest.raises(UnknownEmbedder, match="needs EMBEDDING_MODEL and EMBEDDING_BASE_URL"):
        create_embedder("openai", cache_dir=tmp_path, **options)


@pytest.mark.parametrize("url", ["api.openai.com/v1", "ftp://host/v1", "http://"])
def test_a_base_url_that_is_none_is_refused_before_any_use(tmp_path: Path, url: str) -> None:
    with pytest.raises(UnknownEmbedder, match="must look like"):
        create_embedder("openai", model="m", cache_dir=tmp_path, base_url=url)


def test_every_backend_follows_the_protocol(tmp_path: Path) -> None:
    for backend in ("bundled", "bundled-fp32"):
        assert isinstance(create_embedder(backend, model=None, cache_dir=tmp_path), Embedder)
