"""The nearest ones of a million vectors by comparing all, outside of PostgreSQL, as the truth that recall is of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg import Cursor

from knowledge.models import EmbeddingSet

_COPY = (
    "COPY (SELECT chunk_id, vector FROM knowledge_chunkvector WHERE embedding_set_id = {key}) TO STDOUT (FORMAT BINARY)"
)
# Source: PostgreSQL manual, "COPY", "Binary Format": what stands before the rows, and after them.
_HEADER_BYTES, _TRAILER_BYTES = 19, 2
_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVectors:
    """A set's vectors as they are stored: keys of chunks (n,), values in half precision (n, dimension)."""

    keys: NDArray[np.int64]
    values: NDArray[np.float16]

    def nearest(self, queries: NDArray[np.float32], among: NDArray[np.int64], top: int) -> list[list[int]]:
        """Give for each query the keys of the ``top`` nearest by cosine among some chunks, the nearest first."""
        places = np.flatnonzero(np.isin(self.keys, among))
        cosines = np.empty((len(queries), places.size), np.float32)
        for start in range(0, places.size, _AT_ONCE):
            some = self.values[places[start : start + _AT_ONCE]].astype(np.float32)
            cosines[:, start : start + _AT_ONCE] = queries @ (some / np.linalg.norm(some, axis=1, keepdims=True)).T
        best = np.argpartition(-cosines, top, axis=1)[:, :top]
        ordered = (row[np.argsort(-own[row])] for row, own in zip(best, cosines, strict=True))
        return [self.keys[places[row]].tolist() for row in ordered]


def stored_vectors(embedding_set: EmbeddingSet) -> StoredVectors:
    """Read all vectors of a set; a million of 384 dimensions take 0.8 GB, and twice as much while they are read."""
    row = np.dtype(
        [
            *(("fields", ">i2"), ("key_size", ">i4"), ("key", ">i8"), ("size", ">i4"), ("dimension", ">i2")),
            *(("unused", ">i2"), ("values", ">f2", embedding_set.dimension)),
        ]
    )
    connection.ensure_connection()
    with Cursor(connection.connection) as cursor, cursor.copy(_COPY.format(key=int(embedding_set.pk))) as copy:
        rows = np.frombuffer(b"".join(map(bytes, copy))[_HEADER_BYTES:-_TRAILER_BYTES], row)
    return StoredVectors(keys=rows["key"].astype(np.int64), values=rows["values"].astype(np.float16))
