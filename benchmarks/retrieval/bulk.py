"""Synthetic passages by the million: drawn in columns, and written as the segments that merging ends with.

They are mixed as in :mod:`benchmarks.retrieval.synthetic`. How long an ordinary build takes, one batch of passages
after the other, is measured at smaller sizes; here only the index that it leaves behind counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray
from psycopg import Cursor

from benchmarks.retrieval.question_sets import QuestionSet
from benchmarks.retrieval.synthetic import KEPT, RENAMED, SOURCE_PASSAGES
from knowledge.index.analysis import ANALYSIS_EDITION, PassageTerms, analyse_passage
from knowledge.index.postings import recount_statistics
from knowledge.index.segments import FAN_IN, MAX_LENGTH, MAX_TF, POSTING, TermPostings, write_segment
from knowledge.models import EmbeddingSet, LexicalField

# About as many segments as merging leaves of a million passages: 7 of 128,000, 6 of 16,000 and some small ones.
SEGMENT_CHUNKS = 2 * FAN_IN**5
NAMES = 100_000
_COPY_TERMS = "COPY knowledge_lexicalterm (id, field, text) FROM STDIN (FORMAT BINARY)"
_COPY_ENTRIES = """
COPY knowledge_lexicalentry (ordinal, chunk_id, policy_id, words_length, bigrams_length, fingerprint, analysis)
FROM STDIN (FORMAT BINARY)
"""

_REFERENCES = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND conrelid IN ('knowledge_lexicalposting'::regclass, 'knowledge_lexicalentry'::regclass)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Postings:
    """Of one field: term ids, the passage's place in the batch, and tf, in columns; the length of each passage."""

    term_ids: NDArray[np.int64]
    places: NDArray[np.int64]
    tfs: NDArray[np.int64]
    lengths: NDArray[np.int64]


class _Field:
    """Real passages' terms of one field in columns, and which synthetic terms there are already."""

    def __init__(self, field: int, real: Sequence[PassageTerms], rng: np.random.Generator) -> None:
        counts = [one.words if field == LexicalField.WORD.value else one.bigrams for one in real]
        self.field, self._rng = field, rng
        self._texts = sorted({term for own in counts for term in own})
        number = {term: place for place, term in enumerate(self._texts)}
        self._pool = np.array([number[term] for own in counts for term in own], np.int64)
        self._tfs = np.array([tf for own in counts for tf in own.values()], np.int64)
        self._starts = np.concatenate([[0], np.cumsum([len(own) for own in counts])])
        self._made = np.zeros(0, np.int64)

    def draw(self, chosen: NDArray[np.int64]) -> _Postings:
        """Mix the terms of the chosen real passages, one synthetic passage each."""
        sizes = self._starts[chosen + 1] - self._starts[chosen]
        places = np.repeat(np.arange(len(chosen)), sizes)
        offsets = np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        source = np.repeat(self._starts[chosen], sizes) + offsets
        kept = self._rng.random(len(places)) < KEPT
        terms = np.where(kept, self._pool[source], self._rng.choice(self._pool, len(places)))
        is_rare = ~kept & (self._rng.random(len(places)) < RENAMED)
        names = np.where(is_rare, 1 + self._rng.integers(NAMES, size=len(places)), 0)
        return _summed(self._ids(terms, names), places, np.where(kept, self._tfs[source], 1), len(chosen))

    def _ids(self, terms: NDArray[np.int64], names: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number a term by its text, its name and its field, which needs no table of millions of them."""
        return (terms * (NAMES + 1) + names) * 2 + self.field

    def write_new_terms(self, term_ids: NDArray[np.int64], cursor: Cursor) -> None:
        """Store the terms that no batch before had."""
        new = np.setdiff1d(term_ids, self._made, assume_unique=True)
        self._made = np.union1d(self._made, new)
        with cursor.copy(_COPY_TERMS) as copy:
            copy.set_types(["int8", "int2", "varchar"])
            terms, names = np.divmod((new - self.field) // 2, NAMES + 1)
            for term_id, term, name in zip(new.tolist(), terms.tolist(), names.tolist(), strict=True):
                text = self._texts[term]
                copy.write_row((term_id, self.field, f"{text}~{name}" if name else text))


def _summed(term_ids: NDArray[np.int64], places: NDArray[np.int64], tfs: NDArray[np.int64], passages: int) -> _Postings:
    """Add up what was drawn twice for one passage."""
    order = np.argsort(term_ids * passages + places, kind="stable")
    term_ids, places, tfs = term_ids[order], places[order], tfs[order]
    is_first = (np.diff(term_ids, prepend=-1) != 0) | (np.diff(places, prepend=-1) != 0)
    firsts = np.flatnonzero(is_first)
    lengths = np.bincount(places, weights=tfs, minlength=passages).astype(np.int64)
    return _Postings(
        term_ids=term_ids[firsts], places=places[firsts], tfs=np.add.reduceat(tfs, firsts), lengths=lengths
    )


def write_segments(
    keys: Sequence[int], sets: Sequence[QuestionSet], embedding_set: EmbeddingSet, rng: np.random.Generator
) -> Iterator[int]:
    """Index chunks under synthetic terms, a segment at a time; yields how many distinct terms its chunks have."""
    passages = [paragraph for one in sets for paragraph in one.corpus]
    chosen = rng.permutation(len(passages))[:SOURCE_PASSAGES]
    real = [analyse_passage(passages[place].title, passages[place].text) for place in chosen]
    fields = [_Field(name, real, rng) for name in LexicalField.values]
    with without_references():
        for start in range(0, len(keys), SEGMENT_CHUNKS):
            batch = keys[start : start + SEGMENT_CHUNKS]
            sources = rng.integers(len(real), size=len(batch))
            drawn = [(field, field.draw(sources)) for field in fields]
            with transaction.atomic(), Cursor(_raw_connection()) as cursor:
                yield _write(batch, start + 1, drawn, embedding_set, cursor)
    with connection.cursor() as cursor:
        for table, key in (("knowledge_lexicalterm", "id"), ("knowledge_lexicalentry", "ordinal")):
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{key}'), max({key})) FROM {table}")  # noqa: S608
    recount_statistics()


@contextmanager
def without_references() -> Iterator[None]:
    """Write postings and entries unchecked meanwhile: checking each of many millions takes most of the time.

    Every row that is referred to must be written as well. Afterwards new rows are checked again.
    """
    with connection.cursor() as cursor:
        cursor.execute(_REFERENCES)
        references = cursor.fetchall()
        for table, name, _definition in references:
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    yield
    with connection.cursor() as cursor:
        for table, name, definition in references:
            cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition} NOT VALID')


def _raw_connection():
    connection.ensure_connection()
    return connection.connection


def _write(
    batch: Sequence[int],
    first: int,
    drawn: Sequence[tuple[_Field, _Postings]],
    embedding_set: EmbeddingSet,
    cursor: Cursor,
) -> int:
    for field, own in drawn:
        field.write_new_terms(np.unique(own.term_ids), cursor)
    words, bigrams = (own.lengths.tolist() for _field, own in drawn)
    with cursor.copy(_COPY_ENTRIES) as copy:
        copy.set_types(["int4", "int8", "int8", "int4", "int4", "int8", "int2"])
        for place, key in enumerate(batch):
            row = (first + place, key, embedding_set.policy_id, words[place], bigrams[place], key, ANALYSIS_EDITION)
            copy.write_row(row)
    ordinals = list(range(first, first + len(batch)))
    write_segment(embedding_set.policy_id, ordinals, _packed([own for _field, own in drawn], first))
    return sum(len(own.term_ids) for _field, own in drawn)


def _packed(fields: Sequence[_Postings], first: int) -> TermPostings:
    postings = np.empty(sum(len(own.term_ids) for own in fields), POSTING)
    postings["ordinal"] = first + np.concatenate([own.places for own in fields])
    postings["tf"] = np.minimum(np.concatenate([own.tfs for own in fields]), MAX_TF)
    postings["length"] = np.minimum(np.concatenate([own.lengths[own.places] for own in fields]), MAX_LENGTH)
    return TermPostings(term_ids=np.concatenate([own.term_ids for own in fields]), postings=postings)
