"""Embedder for any sentence-transformers model; the production default is intfloat/multilingual-e5-large."""

import re
import threading
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hub.core.hashes import sha256_of_file
from hub.core.processes import PerProcess
from knowledge.embedders.base import (
    EmbedderUnavailable,
    EmbeddingInputTooLong,
    UnknownModel,
    Vectors,
    default_prefixes,
    digest_of,
    prepare_text,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEFAULT_MODEL = "intfloat/multilingual-e5-large"
RECIPE = "sentence-transformers nfkc 1"
NOTHING = "(?!)"  # a pattern that never matches


class SentenceTransformersEmbedder:
    """Embed with PyTorch; see `Embedder` for what the methods promise.

    `model` is a folder, whose fingerprint is made of the content of its files, or a name on the Hugging Face hub,
    whose fingerprint is made of that name. Prefixes are those of the E5 family when the model's name says e5, and
    none otherwise.
    """

    name = "sentence-transformers"

    def __init__(self, *, model: str = DEFAULT_MODEL) -> None:
        self.model = model
        self.query_prefix, self.passage_prefix = default_prefixes(Path(model).name)
        self._loaded = PerProcess(partial(_LoadedModel, model))

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the model's name (or a folder's files) and prefixes; loads nothing."""
        return digest_of(RECIPE, *self._identity(), self.query_prefix, self.passage_prefix)

    @property
    def dimension(self) -> int:
        return self._loaded.get().dimension

    @property
    def max_tokens(self) -> int:
        return self._loaded.get().max_tokens

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        prepared = [self._prepare(text) for text in texts]
        for index, text in enumerate(prepared):
            if (tokens := self._loaded.get().count_tokens(text)) > self.max_tokens:
                raise EmbeddingInputTooLong.at(index, tokens=tokens, max_tokens=self.max_tokens)
        return self._loaded.get().encode(prepared)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._loaded.get().encode([self._prepare(text, as_query=True)])[0]
        return vector

    def query_is_truncated(self, text: str) -> bool:
        return self.count_tokens(text, as_query=True) > self.max_tokens

    def count_tokens(self, text: str, *, as_query: bool = False) -> int:
        return self._loaded.get().count_tokens(self._prepare(text, as_query=as_query))

    def _identity(self) -> list[str]:
        folder = Path(self.model)
        if not folder.is_dir():
            return [self.model, "unpinned"]
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
        return [part for path in files for part in (path.relative_to(folder).as_posix(), sha256_of_file(path))]

    def _prepare(self, text: str, *, as_query: bool = False) -> str:
        return prepare_text(text, prefix=self.query_prefix if as_query else self.passage_prefix)


class _LoadedModel:
    """A model in memory, used by one thread at a time: its tokenizer fails when two threads set it up."""

    def __init__(self, model: str) -> None:
        self._model = _open_model(model)
        self._lock = threading.Lock()
        self.dimension = _given(self._model.get_embedding_dimension(), model=model)
        self.max_tokens = _given(self._model.max_seq_length, model=model)
        names = sorted(self._model.tokenizer.all_special_tokens, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, names)) or NOTHING)

    def _plain(self, text: str) -> str:
        """Put a space into special tokens typed in a text: their names are vocabulary, never ordinary pieces."""
        return self._special.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)

    def count_tokens(self, prepared: str) -> int:
        with self._lock:
            # verbose=False: a text beyond the limit is what we want to know about, not worth a warning
            return len(self._model.tokenizer(self._plain(prepared), truncation=False, verbose=False)["input_ids"])

    def encode(self, prepared: list[str]) -> Vectors:
        if not prepared:
            return np.empty((0, self.dimension), np.float32)
        with self._lock:
            vectors = self._model.encode(
                [self._plain(text) for text in prepared],
                prompt="",  # the prefix is there already; this keeps a model's default prompt away
                batch_size=1,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return np.asarray(vectors, np.float32)


def _open_model(model: str) -> "SentenceTransformer":
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbedderUnavailable(
            "The sentence-transformers backend is not installed. Run: pip install -r requirements/ml.txt",
            "sentence-transformers がありません。pip install -r requirements/ml.txt を実行してください。",
        ) from error
    try:
        return SentenceTransformer(model)
    except (OSError, ValueError) as error:
        raise UnknownModel(
            f"sentence-transformers cannot load the model {model!r}: {error}. Set EMBEDDING_MODEL to a folder "
            "with the model, or to a name that this machine can download.",
            f"モデル {model!r} を読み込めません: {error}。EMBEDDING_MODEL にモデルのフォルダか、"
            "ダウンロードできる名前を設定してください。",
            model=model,
        ) from error


def _given(number: int | None, *, model: str) -> int:
    """A size that the model's own files name. :raises UnknownModel: they don't."""
    if number is None:
        raise UnknownModel(
            f"the model {model!r} does not say how long its vectors are, or how much it reads. Set EMBEDDING_MODEL to "
            "an embedding model.",
            f"モデル {model!r} にベクトルの次元か入力の上限がありません。EMBEDDING_MODEL に埋め込みモデルを"
            "設定してください。",
            model=model,
        )
    return int(number)
