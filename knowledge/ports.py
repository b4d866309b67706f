"""What the knowledge app expects of its exchangeable parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.facts import Facts
from knowledge.types.engines import EngineHealth, IndexedPassage, Layout, Scored, Tags, WeighedTerms, Within


class BlobStore(Protocol):
    """Keeps bytes under their sha256 (64 lower-case hex digits). Storing the same bytes twice is harmless.

    ``overwrites``: removed bytes are overwritten, so that the disk does not keep them.
    """

    @property
    def overwrites(self) -> bool: ...

    def put(self, sha256: str, source: Path) -> None:
        """Store the file's bytes. Raises StorageUnavailable when the store can't be reached or is full."""

    def write(self, name: str, data: IO[bytes]) -> None:
        """Store what is read from ``data`` under a name that nothing was stored under; errors as `put`."""

    def open(self, sha256: str) -> IO[bytes]:
        """Open stored bytes for reading. Raises BlobMissing when there are none under this name."""

    def local_path(self, sha256: str) -> AbstractContextManager[Path]:
        """Give a readable local path for as long as the context lasts (a temporary copy for remote stores)."""

    def delete(self, sha256: str) -> None:
        """Remove stored bytes; removing what is not there is no error.

        Raises BlobInUse while somebody reads them, where they would be overwritten.
        """

    def iter_names(self) -> Iterator[str]:
        """Yield the sha256 of everything stored, in no particular order."""

    def read_owner(self) -> str:
        """Give the name that `write_owner` wrote last; empty when nobody has. Raises StorageUnavailable."""

    def write_owner(self, name: str) -> None:
        """Write into the store whose it is. Raises StorageUnavailable."""

    def check(self) -> None:
        """Raise StorageUnavailable when the store can't be written to."""


class SearchEngine(Protocol):
    """Holds numbers, vectors and weighed terms of passages in collections, and finds the best ones.

    Everything may be said twice: the second time changes nothing. A write has come to as many copies as the collection
    has when it returns. Each method raises EngineError: the engine is away, too late, or answers what can't be read.
    """

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""

    def make(self, collection: str, layout: Layout) -> None:
        """Make an empty collection, unless there is one of this name."""

    def drop(self, collection: str) -> None:
        """Remove a collection with all that is in it; one that is not there is no error."""

    def write(self, collection: str, passages: Sequence[IndexedPassage]) -> None:
        """Put passages in, in the place of those that have their numbers."""

    def retag(self, collection: str, document_id: int, tags: Tags) -> None:
        """Give all passages of a document, as far as they are there, other tags."""

    def delete(self, collection: str, numbers: Sequence[int]) -> None:
        """Take passages out; those that are not there are no error."""

    def search_dense(
        self, collection: str, vector: NDArray[np.float64], within: Within, *, limit: int, exact: bool = False
    ) -> Scored:
        """Find the passages nearest to a vector, with cosines; with ``exact`` by comparing all."""

    def search_sparse(
        self, collection: str, asked: Sequence[WeighedTerms], within: Within, *, limit: int
    ) -> list[Scored]:
        """Find the passages with the largest sums, above zero, for each of several lists of terms. One request."""

    def count(self, collection: str, within: Within) -> int:
        """Count passages exactly."""

    def numbers(self, collection: str, *, after: int, limit: int) -> NDArray[np.int64]:
        """Return the next numbers that are there above ``after``, ascending."""

    def health(self, collection: str) -> EngineHealth:
        """Ask the engine how a collection is."""


class Reranker(Protocol):
    """Reads a question and a passage together and says how well the one answers the other."""

    name: str

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """Rate each passage, higher is better, on a scale of its own. Raises Unavailable."""


class GraphMasterSource(Protocol):
    """A master whose entries are in the knowledge graph: check items, guideline articles, ontologies.

    Nodes are known by type and ``NodeRef.key`` (:func:`knowledge.graph.reading.name_key` of the entry's code).
    """

    @property
    def name(self) -> str:
        """Its name in the graph, the same for ever."""

    def facts(self) -> Facts:
        """All that the master says now, in any order; queries of a number that does not grow with its size."""
