"""An index in a search engine: it proposes numbers, and PostgreSQL says which of them may be shown, and what they are.

The engine is asked among few permitted passages by their numbers, else in the collections and up to the classification
that the caller may see. That is for speed and recall alone: `read_candidates` decides, in the search's own snapshot, so
an engine that is behind never shows what is hidden or deleted. Cosines are those of PostgreSQL's vectors; sums of terms
are the engine's, of weights that PostgreSQL's terms were given, to the sixth decimal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from knowledge.engines import EngineError
from knowledge.generations.generations import lag_of
from knowledge.index.engine import get_engine
from knowledge.models import EmbeddingSet, IndexGeneration, LexicalField
from knowledge.ports import SearchEngine
from knowledge.search import background, notices
from knowledge.search.bm25 import Scores
from knowledge.search.candidates import NO_CANDIDATES, CandidateReader, Candidates, read_candidates
from knowledge.search.port import IndexUnavailable
from knowledge.search.scope import PermittedChunks
from knowledge.search.weighing import FieldTerm
from knowledge.types.engines import Scored, WeighedTerms, Within
from knowledge.types.notices import Notice

# Of a leg's candidates so many times more are fetched, since PostgreSQL may permit fewer, and so many times more again.
SPARE = 1.3
NEXT_ROUND = 4
MOST_ROUNDS = 3
# An engine that is this many seconds behind is told in the answer.
LATE_S = 60.0


def index_in_engine(embedding_set: EmbeddingSet, generation_id: int) -> EngineIndex:
    """Return the index that is in the search engine, for one search. One query, and one the first time."""
    index = EngineIndex(engine=get_engine(), collection=_collection(generation_id), embedding_set=embedding_set)
    if lag_of(generation_id).seconds > LATE_S:
        index.note(notices.INDEX_BEHIND)
    return index


@lru_cache(maxsize=64)
def _collection(generation_id: int) -> str:
    """Look up what never changes of a generation."""
    return IndexGeneration.objects.values_list("collection", flat=True).get(pk=generation_id)


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except EngineError as error:
        raise IndexUnavailable(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineIndex:
    """`SearchIndex` over a collection of a search engine."""

    engine: SearchEngine
    collection: str
    embedding_set: EmbeddingSet
    remarks: list[Notice] = field(default_factory=list)

    def note(self, remark: Notice) -> None:
        if remark not in self.remarks:
            self.remarks.append(remark)

    def nearest(self, vector: str, permitted: PermittedChunks, *, limit: int) -> Candidates:
        """See `SearchIndex`. Up to seven queries, and three requests at most. Exact when few chunks are permitted."""
        if permitted.is_empty:
            return NO_CANDIDATES
        asked, within = np.array(json.loads(vector)), within_of(permitted)
        for fetched in _rounds(limit):
            with _answering():
                scored = self.engine.search_dense(
                    self.collection, asked, within, limit=fetched, exact=permitted.is_small
                )
            found = read_candidates(scored.numbers, permitted, self.embedding_set, near=vector)
            found = found.at(np.flatnonzero(~np.isnan(found.cosines)))
            if len(found) >= limit or scored.numbers.size < fetched:
                break
        else:
            self.note(notices.INDEX_CUT)
        return found.at(np.lexsort((found.chunk_ids, -found.cosines))[:limit])

    def sum_terms(
        self, terms: Sequence[FieldTerm], permitted: PermittedChunks, *, limit: int, is_beside: bool = False
    ) -> EngineSums:
        """See `SearchIndex`. Up to two queries; the first request is under way when this returns, if ``is_beside``."""
        within = within_of(permitted) if terms and not permitted.is_empty else Within()
        groups = groups_of(terms)
        fetch = partial(_fetch, self.engine, self.collection, [one.asked for one in groups], within)
        first = partial(fetch, _rounds(limit)[0])
        wait = background.begin(first) if is_beside and terms and not permitted.is_empty else first
        return EngineSums(terms=terms, limit=limit, index=self, groups=groups, first=wait, more=fetch)


def within_of(permitted: PermittedChunks) -> Within:
    """Say where the engine has to look. One query at most."""
    if permitted.is_small:
        return Within(numbers=np.sort(permitted.numbers))
    reach = permitted.reach
    if reach is None or reach.collection_ids is None:
        return Within()
    return Within(collection_ids=reach.collection_ids, ceiling=int(reach.ceiling))


def _rounds(limit: int) -> list[int]:
    return [int(limit * SPARE) * NEXT_ROUND**number for number in range(MOST_ROUNDS)]


def _fetch(
    engine: SearchEngine, collection: str, asked: Sequence[WeighedTerms], within: Within, limit: int
) -> list[Scored]:
    with _answering():
        return engine.search_sparse(collection, asked, within, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermGroup:
    """Terms whose sums an engine is asked for: a question's own of both fields, or those of one other name in one.

    ``instead_of`` are the own terms of the same field that the other name stands for.
    """

    terms: tuple[FieldTerm, ...]
    instead_of: tuple[FieldTerm, ...] = ()

    @property
    def asked(self) -> WeighedTerms:
        return _weighed(self.terms)


def _weighed(terms: Sequence[FieldTerm]) -> WeighedTerms:
    return WeighedTerms(
        term_ids=np.array([term.term_id for term in terms], np.int64),
        weights=np.array([term.share for term in terms], np.float64),
    )


def groups_of(terms: Sequence[FieldTerm]) -> list[TermGroup]:
    """Part a question's terms into what is summed: its own first, if there are any, then each other name by field."""
    own = [term for term in terms if term.synonym is None]
    others: dict[tuple[int, tuple[str, ...], str], list[FieldTerm]] = {}
    for term in terms:
        if term.synonym:
            others.setdefault((term.field, term.synonym.instead_of, term.synonym.name), []).append(term)
    groups = [TermGroup(terms=tuple(own))] if own else []
    for (of_field, instead_of, _name), named in others.items():
        replaced = tuple(term for term in own if term.field == of_field and term.text in instead_of)
        groups.append(TermGroup(terms=tuple(named), instead_of=replaced))
    return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSums:
    """`TermSums` of an engine: the best of each group's sums are candidates, whose parts are then asked for exactly."""

    terms: Sequence[FieldTerm]
    limit: int
    index: EngineIndex
    groups: Sequence[TermGroup]
    first: Callable[[], list[Scored]]
    more: Callable[[int], list[Scored]]

    def best(self, reader: CandidateReader) -> tuple[Scores, Candidates]:
        """See `TermSums`. A query and two requests; more where too few were permitted, or a better one may be left.

        The best ones are certain as soon as what any passage that was not fetched can reach, the sum of the groups'
        last scores, is no more than the last of them has. After three rounds a notice says that some may be missing.
        """
        for round_, fetched in enumerate(_rounds(self.limit)):
            lists = self.more(fetched) if round_ else self.first()
            numbers = np.unique(np.concatenate([np.zeros(0, np.int64), *(one.numbers for one in lists)]))
            found = reader.read(reader.new(numbers))
            known = reader.known.ordinals
            scores = self._exact(np.unique(np.concatenate([known[known > 0], found.ordinals])))
            reach = sum(float(one.scores[-1]) for one in lists if one.numbers.size == fetched)
            if not reach or self._are_certain(scores, reach):
                return scores, found
        self.index.note(notices.INDEX_CUT)
        return scores, found

    def matched(self, terms: Sequence[FieldTerm], ordinals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """See `TermSums`. One request, none for no terms."""
        found = self._sums([[term] for term in terms], ordinals)
        return np.array([one > 0 for one in found], bool).reshape(len(terms), ordinals.size)

    def _are_certain(self, scores: Scores, reach: float) -> bool:
        total = scores.first(self.limit).total
        return bool(total.size == self.limit and total[-1] >= reach)

    def _exact(self, numbers: NDArray[np.int64]) -> Scores:
        """Ask for what each field says of some passages; of a thing's names the one counts that brings the most."""
        own = [term for term in self.terms if term.synonym is None]
        fields = [[term for term in own if term.field == name] for name in (LexicalField.WORD, LexicalField.BIGRAM)]
        named = [group for group in self.groups if group.terms and group.terms[0].synonym]
        lists = [*fields, *(group.terms for group in named), *(group.instead_of for group in named)]
        words, bigrams, *rest = self._sums(lists, numbers)
        sums = {LexicalField.WORD.value: words, LexicalField.BIGRAM.value: bigrams}
        gains: dict[tuple[int, tuple[str, ...]], NDArray[np.float64]] = {}
        for group, brought, instead in zip(named, rest[: len(named)], rest[len(named) :], strict=True):
            thing = (group.terms[0].field, group.terms[0].synonym.instead_of if group.terms[0].synonym else ())
            gains[thing] = np.maximum(gains.get(thing, 0.0), brought - instead)
        for (of_field, _instead_of), gained in gains.items():
            sums[of_field] = sums[of_field] + np.maximum(gained, 0.0)
        scores = Scores(ordinals=numbers, words=sums[LexicalField.WORD.value], bigrams=sums[LexicalField.BIGRAM.value])
        return scores.at(np.flatnonzero(scores.total > 0))

    def _sums(self, lists: Sequence[Sequence[FieldTerm]], numbers: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """Ask for the sums of several lists of terms over some passages, in their order. One request at most."""
        asked = [_weighed(terms) for terms in lists if terms]
        there = numbers[numbers > 0]
        if not asked or not there.size:
            return [np.zeros(numbers.size) for _terms in lists]
        found = iter(_fetch(self.index.engine, self.index.collection, asked, Within(numbers=there), there.size))
        return [next(found).of(numbers) if terms else np.zeros(numbers.size) for terms in lists]
