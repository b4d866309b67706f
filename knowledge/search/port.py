"""The port of search: what a search asks of an index, whichever one holds vectors and terms.

An index proposes; PostgreSQL permits. Both methods get the caller's permissions and return or read passages that
PostgreSQL permits in the search's own snapshot, with the facts of the same rows, so that no index can show what is
hidden or deleted. Why the port is here and not between numbers and scores: docs/adr/0030-search-index-port.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.search.bm25 import Scores
from knowledge.search.candidates import CandidateReader, Candidates
from knowledge.search.scope import PermittedChunks
from knowledge.search.weighing import FieldTerm
from knowledge.types.notices import Notice


class IndexUnavailable(Exception):
    """The index is away, too late, or answers what can't be read; the text says which. Nothing of it was used."""


class TermSums(Protocol):
    """What an index says of a question's terms, of which some `Candidates` are to be found."""

    @property
    def terms(self) -> Sequence[FieldTerm]: ...

    @property
    def limit(self) -> int: ...

    def best(self, reader: CandidateReader) -> tuple[Scores, Candidates]:
        """Score the best chunks, and read those of them that are permitted and that the reader does not know yet.

        At least the best ``limit`` permitted ones, as far as there are so many that have a term. Scores are exact, and
        include those of the known chunks that have a term. Errors as of `SearchIndex`.
        """

    def matched(self, terms: Sequence[FieldTerm], ordinals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of some of the terms the chunks of some numbers have: (terms, numbers). Errors likewise."""


class SearchIndex(Protocol):
    """The vectors and terms of one embedding set, for one search.

    :raises IndexUnavailable: see there. :raises django.db.Error: PostgreSQL can't be asked.
    """

    @property
    def remarks(self) -> Sequence[Notice]:
        """What may be missing in that which was found, so far."""

    def nearest(self, vector: str, permitted: PermittedChunks, *, limit: int) -> Candidates:
        """Find the permitted chunks nearest to a query vector of the set, the nearest first; equals by chunk id.

        The vector is given as `vector_literal` writes it. Call it inside a transaction.
        """

    def sum_terms(
        self, terms: Sequence[FieldTerm], permitted: PermittedChunks, *, limit: int, is_beside: bool = False
    ) -> TermSums:
        """Begin to look for the best ``limit`` permitted chunks; with ``is_beside`` perhaps while the caller goes on.

        The `TermSums` may be asked for the same permissions alone.
        """
