"""Choose an embedder by the name in the settings."""

from pathlib import Path

from knowledge.embedders.base import Embedder, UnknownEmbedder, UnknownModel, estimate_tokens
from knowledge.embedders.bedrock import DEFAULT_MODEL as BEDROCK_MODEL
from knowledge.embedders.bedrock import BedrockEmbedder
from knowledge.embedders.bundled import backend as bundled
from knowledge.embedders.openai_compatible import DEFAULT_MAX_TOKENS, OpenAICompatibleEmbedder
from knowledge.embedders.sentence_transformers import DEFAULT_MODEL, SentenceTransformersEmbedder

BUNDLED_PRECISIONS: dict[str, bundled.Precision] = {"bundled": "int8", "bundled-fp32": "fp32"}
KNOWN_BACKENDS = (
    *BUNDLED_PRECISIONS,
    SentenceTransformersEmbedder.name,
    OpenAICompatibleEmbedder.name,
    BedrockEmbedder.name,
)


def create_embedder(
    backend: str,
    *,
    model: str | None,
    cache_dir: Path,
    base_url: str | None = None,
    api_key: str | None = None,
    aws_region: str = "ap-northeast-1",
    aws_profile: str | None = None,
) -> Embedder:
    """Make the embedder of that name; nothing is loaded, built or asked until its first use.

    `model` None means the backend's default; `cache_dir` is where the bundled backends keep their graph.

    :raises UnknownEmbedder: if there is no such backend (the message lists those there are), or it lacks an
        option that it needs.
    :raises UnknownModel: if a bundled backend is asked for another model than its own, or bedrock for one it lacks.
    """
    if backend in BUNDLED_PRECISIONS:
        _check_bundled_model(model)
        return bundled.BundledEmbedder(cache_dir=cache_dir, precision=BUNDLED_PRECISIONS[backend])
    if backend == SentenceTransformersEmbedder.name:
        return SentenceTransformersEmbedder(model=model or DEFAULT_MODEL)
    if backend == OpenAICompatibleEmbedder.name:
        return _create_openai(model, base_url=base_url, api_key=api_key)
    if backend == BedrockEmbedder.name:
        return BedrockEmbedder(
            model=model or BEDROCK_MODEL, region=aws_region, profile=aws_profile, endpoint_url=base_url
        )
    known = ", ".join(KNOWN_BACKENDS)
    raise UnknownEmbedder(
        f"There is no embedding backend {backend!r}. EMBEDDING_BACKEND must be one of: {known}.",
        f"埋め込みバックエンド {backend!r} はありません。EMBEDDING_BACKEND には次のいずれかを"
        f"指定してください: {known}。",
        backend=backend,
    )


def _check_bundled_model(model: str | None) -> None:
    if model not in {None, bundled.MODEL}:
        raise UnknownModel(
            f"The bundled backends have no model {model!r}, only {bundled.MODEL}. Leave EMBEDDING_MODEL empty or "
            "set EMBEDDING_BACKEND=sentence-transformers.",
            f"同梱バックエンドにモデル {model!r} はありません（{bundled.MODEL} のみ）。EMBEDDING_MODEL を空にするか、"
            "EMBEDDING_BACKEND=sentence-transformers を指定してください。",
            model=str(model),
        )


def _create_openai(model: str | None, *, base_url: str | None, api_key: str | None) -> OpenAICompatibleEmbedder:
    if not model or not base_url:
        raise UnknownEmbedder(
            "The openai embedding backend needs EMBEDDING_MODEL and EMBEDDING_BASE_URL.",
            "openai 埋め込みバックエンドには EMBEDDING_MODEL と EMBEDDING_BASE_URL が必要です。",
        )
    # All sizes of multilingual-e5 share one vocabulary, so the bundled tokenizer counts exactly for them.
    is_multilingual_e5 = "multilingual-e5" in model.lower()
    return OpenAICompatibleEmbedder(
        base_url=base_url,
        model=model,
        api_key=api_key,
        max_tokens=bundled.MAX_TOKENS if is_multilingual_e5 else DEFAULT_MAX_TOKENS,
        count=bundled.BundledTokenCounter() if is_multilingual_e5 else estimate_tokens,
    )
