"""Passages for all stores alike, in columns: those of the question sets as they are, then others mixed of their terms.

They are mixed as in :mod:`benchmarks.retrieval.synthetic`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.question_sets import QuestionSet
from benchmarks.retrieval.synthetic import KEPT, RENAMED
from knowledge.index.analysis import PassageTerms, analyse_passage
from knowledge.models import LexicalField

BATCH = 65_536
NAMES = 100_000
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldColumns:
    """Of one field, by term and then passage: term ids, the passage's place in the batch, tf; and each one's length."""

    field: int
    term_ids: Integers
    places: Integers
    tfs: Integers
    lengths: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Passages that follow each other, the first of them with the number ``first``, and the terms that are new."""

    first: int
    size: int
    fields: tuple[FieldColumns, ...]
    new_terms: list[tuple[int, int, str]]  # id, field, text


class Corpus:
    """Draws batches; ``texts`` and ``counts`` have the text of each term by its id, and how many passages have it."""

    def __init__(self, sets: Sequence[QuestionSet]) -> None:
        self.texts: list[str] = [""]  # ids begin with 1
        self.owner_of: dict[int, tuple[int, int, int]] = {}  # by a passage's number: version, collection, key
        self.counts = np.zeros(1, np.int64)
        self.field_of: list[int] = [0]
        paragraphs = [paragraph for one in sets for paragraph in one.corpus]
        self.number_of = {paragraph.id: number for number, paragraph in enumerate(paragraphs, 1)}
        real = [analyse_passage(one.title, one.text) for one in paragraphs]
        rng = np.random.default_rng(7)
        self._real, self._rng = len(real), rng
        self._fields = [_Field(field, real, rng) for field in LexicalField.values]

    def batches(self, passages: int) -> Iterator[Batch]:
        yield self._batch(1, np.arange(self._real), kept=1.0)
        for start in range(self._real, passages, BATCH):
            sources = self._rng.integers(self._real, size=min(BATCH, passages - start))
            yield self._batch(start + 1, sources, kept=KEPT)

    def _batch(self, first: int, sources: Integers, *, kept: float) -> Batch:
        new: list[tuple[int, int, str]] = []
        fields = tuple(field.columns(sources, kept, self.texts, new) for field in self._fields)
        self.field_of += [field for _id, field, _text in new]
        self.counts = np.pad(self.counts, (0, len(self.texts) - self.counts.size))
        for one in fields:
            self.counts += np.bincount(one.term_ids, minlength=self.counts.size)
        return Batch(first=first, size=len(sources), fields=fields, new_terms=new)


class _Field:
    """Real passages' terms of one field in columns, and the ids of the terms that were drawn."""

    def __init__(self, field: int, real: Sequence[PassageTerms], rng: np.random.Generator) -> None:
        counts = [one.words if field == LexicalField.WORD.value else one.bigrams for one in real]
        self.field, self._rng = field, rng
        self._names = sorted({term for own in counts for term in own})
        place_of = {term: place for place, term in enumerate(self._names)}
        self._pool = np.array([place_of[term] for own in counts for term in own], np.int64)
        self._tfs = np.array([tf for own in counts for tf in own.values()], np.int64)
        self._starts = np.concatenate([[0], np.cumsum([len(own) for own in counts])])
        self._raw, self._ids = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def columns(
        self, sources: Integers, kept: float, texts: list[str], new: list[tuple[int, int, str]]
    ) -> FieldColumns:
        """Draw passages, one for each source; terms that are new get the next ids, and are added to both lists."""
        raw, places, tfs = self._draw(sources, kept)
        keys = raw * len(sources) + places  # one number for both, which sorts several times faster than two columns
        order = np.argsort(keys)
        keys = keys[order]
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))  # what was drawn twice for one passage is added up
        raw, of_passage = np.divmod(keys[firsts], len(sources))
        starts = np.flatnonzero(np.diff(raw, prepend=-1))
        ids = self._number(raw[starts], texts, new)
        return FieldColumns(
            field=self.field,
            term_ids=np.repeat(ids, np.diff(starts, append=raw.size)),
            places=of_passage,
            tfs=np.add.reduceat(tfs[order], firsts),
            lengths=np.bincount(places, weights=tfs, minlength=len(sources)).astype(np.int64),
        )

    def _draw(self, sources: Integers, kept: float) -> tuple[Integers, Integers, Integers]:
        """Mix the terms of the chosen real passages, one passage each: what they are, in which passage, and tf."""
        sizes = self._starts[sources + 1] - self._starts[sources]
        places = np.repeat(np.arange(len(sources)), sizes)
        at = np.repeat(self._starts[sources], sizes) + np.arange(places.size)
        at -= np.repeat(np.cumsum(sizes) - sizes, sizes)
        is_kept = self._rng.random(places.size) < kept
        terms = np.where(is_kept, self._pool[at], self._rng.choice(self._pool, places.size))
        is_rare = ~is_kept & (self._rng.random(places.size) < RENAMED)
        names = np.where(is_rare, 1 + self._rng.integers(NAMES, size=places.size), 0)
        return terms * (NAMES + 1) + names, places, np.where(is_kept, self._tfs[at], 1)

    def _number(self, raw: Integers, texts: list[str], new: list[tuple[int, int, str]]) -> Integers:
        """Return the id of each term, of which each is given once, in order; those without one get the next ones."""
        fresh = np.setdiff1d(raw, self._raw, assume_unique=True)
        ids = np.arange(len(texts), len(texts) + fresh.size)
        terms, names = np.divmod(fresh, NAMES + 1)
        made = [
            f"{self._names[term]}~{name}" if name else self._names[term]
            for term, name in zip(terms.tolist(), names.tolist(), strict=True)
        ]
        texts += made
        new += zip(ids.tolist(), repeat(self.field), made)
        self._raw, self._ids = np.append(self._raw, fresh), np.append(self._ids, ids)
        order = np.argsort(self._raw)
        self._raw, self._ids = self._raw[order], self._ids[order]
        known: Integers = self._ids[np.searchsorted(self._raw, raw)]
        return known
