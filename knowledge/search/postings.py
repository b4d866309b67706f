"""Reading packed postings, with those that questions ask for most kept decoded in this process.

A segment is written once, by one transaction, and never changed after it. So what it says of a term holds wherever
it is found: PostgreSQL tells each search, in that search's own snapshot, which segments have its terms, and only
postings that this process does not hold already are read. What nobody names any more falls out of the store.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from django.conf import settings
from numpy.typing import NDArray
from psycopg import Cursor

from hub.core.routing import read_connection
from knowledge.index.segments import unpack

_READ = """
SELECT p.term_id, p.segment_id, p.xmin::text::bigint, p.packed
FROM unnest(%s::bigint[], %s::bigint[]) AS given (term_id, segment_id)
JOIN knowledge_lexicalposting p ON p.term_id = given.term_id AND p.segment_id = given.segment_id
"""


class PieceKey(NamedTuple):
    """Which postings: those of a term in a segment. ``written_by`` is the transaction that wrote them.

    It tells a segment from one of the same number in a database that was restored under a running process.
    """

    term_id: int
    segment_id: int
    written_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The postings of a term in a segment, in columns, by ascending number of the chunk."""

    ordinals: NDArray[np.int32]
    tfs: NDArray[np.int16]
    lengths: NDArray[np.int16]
    peak_tf: int
    least_length: int

    @classmethod
    def of(cls, ordinals: NDArray[np.int32], tfs: NDArray[np.int16], lengths: NDArray[np.int16]) -> Self:
        """Make a piece of columns, of one posting or more."""
        return cls(ordinals=ordinals, tfs=tfs, lengths=lengths, peak_tf=int(tfs.max()), least_length=int(lengths.min()))

    @property
    def nbytes(self) -> int:
        return self.ordinals.nbytes + self.tfs.nbytes + self.lengths.nbytes


class PieceStore:
    """Decoded postings, those last used at the end, with a bound on their bytes. Safe for threads."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._pieces: OrderedDict[PieceKey, Piece] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._bytes

    def take(self, keys: Iterable[PieceKey]) -> dict[PieceKey, Piece]:
        found: dict[PieceKey, Piece] = {}
        with self._lock:
            for key in keys:
                if (piece := self._pieces.get(key)) is not None:
                    self._pieces.move_to_end(key)
                    found[key] = piece
        return found

    def keep(self, pieces: Mapping[PieceKey, Piece]) -> None:
        with self._lock:
            for key, piece in pieces.items():
                if key not in self._pieces:
                    self._pieces[key] = piece
                    self._bytes += piece.nbytes
            while self._bytes > self._limit:
                _key, oldest = self._pieces.popitem(last=False)
                self._bytes -= oldest.nbytes

    def clear(self) -> None:
        with self._lock:
            self._pieces.clear()
            self._bytes = 0


# Decoded postings take eight bytes each; for all threads of the process together.
store = PieceStore(settings.CONFIG.hub_postings_cache_bytes)


def array_literal(numbers: Iterable[int]) -> str:
    """Write numbers as PostgreSQL reads an array: a client takes twenty times as long for a list of hundreds.

    >>> array_literal([1, -2])
    '{1,-2}'
    """
    return "{" + ",".join(map(str, numbers)) + "}"


def occurring(few: NDArray[np.int32], many: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which of some numbers occur in others, which ascend and are one at least."""
    places = np.minimum(np.searchsorted(many, few), many.size - 1)
    are_there: NDArray[np.bool_] = many[places] == few
    return are_there


def read_pieces(keys: Sequence[PieceKey]) -> dict[PieceKey, Piece]:
    """Return the postings of every key that a query of the same snapshot named. At most one query.

    Outside of one snapshot, what was merged since then is missing.
    """
    pieces = store.take(keys)
    missing = [key for key in keys if key not in pieces]
    if missing:
        read = _read(missing)
        store.keep(read)
        pieces |= read
    return pieces


def _read(keys: Sequence[PieceKey]) -> dict[PieceKey, Piece]:
    # Binary, since bytes are otherwise sent as text of twice the size; Django's own cursors can't.
    connection = read_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        columns = [array_literal(key.term_id for key in keys), array_literal(key.segment_id for key in keys)]
        cursor.execute(_READ, columns, binary=True)
        return {PieceKey(*key): _decoded(packed) for *key, packed in cursor}


def _decoded(packed: bytes) -> Piece:
    rows = unpack(packed)
    return Piece.of(rows["ordinal"].astype(np.int32), rows["tf"].astype(np.int16), rows["length"].astype(np.int16))
