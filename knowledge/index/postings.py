"""The inverted index that BM25 reads: writing and deleting chunks, statistics in step with them, and its upkeep."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from django.db import connection, transaction

from knowledge.index.analysis import ANALYSIS_EDITION, PassageTerms, fingerprint
from knowledge.index.changes import note_deleted, note_written
from knowledge.index.segments import (
    MAX_LENGTH,
    MAX_TF,
    POSTING,
    TermPostings,
    drop_dead_segments,
    maintain_segments,
    merge_small_segments,
    write_segment,
)
from knowledge.index.terms import TermIds, make_terms, terms_of
from knowledge.models import Chunk, LexicalEntry, LexicalField
from knowledge.text.structure import is_contents_passage

Totals = Counter[tuple[int, int | None, str]]  # (field, policy, "chunks" or "length")

_LOCK_CHUNKS = "SELECT id FROM knowledge_chunk WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
_DELETE = """
DELETE FROM knowledge_lexicalentry WHERE chunk_id = ANY(%s) RETURNING ordinal, policy_id, words_length, bigrams_length
"""
_INSERT = """
INSERT INTO knowledge_lexicalentry
  (chunk_id, policy_id, words_length, bigrams_length, fingerprint, is_contents, analysis)
SELECT c.id, CASE WHEN v.has_own_policy THEN NULL ELSE c.policy_id END,
  given.words, given.bigrams, given.mark, given.is_contents, %s
FROM unnest(%s::bigint[], %s::integer[], %s::integer[], %s::bigint[], %s::boolean[])
  AS given (id, words, bigrams, mark, is_contents)
JOIN knowledge_chunk c ON c.id = given.id JOIN knowledge_documentversion v ON v.id = c.version_id
ORDER BY c.id RETURNING chunk_id, ordinal, policy_id
"""
_MAKE_STATISTICS = """
INSERT INTO knowledge_lexicalstatistics (field, policy_id, chunks, total_length)
SELECT field, policy_id, 0, 0 FROM unnest(%s::smallint[], %s::bigint[]) AS given (field, policy_id)
ON CONFLICT (field, policy_id) DO NOTHING
"""
_ADD_STATISTICS = """
UPDATE knowledge_lexicalstatistics SET chunks = chunks + %s, total_length = total_length + %s
WHERE field = %s AND policy_id IS NOT DISTINCT FROM %s
"""
_COUNTED = """
SELECT f.field, e.policy_id,
  count(*) FILTER (WHERE f.length > 0) AS chunks, coalesce(sum(f.length), 0)::bigint AS total_length
FROM knowledge_lexicalentry e
CROSS JOIN LATERAL (VALUES (1, e.words_length), (2, e.bigrams_length)) AS f (field, length)  -- LexicalField
GROUP BY f.field, e.policy_id
"""
_RECOUNT = f"""
WITH counted AS ({_COUNTED}), emptied AS (
  UPDATE knowledge_lexicalstatistics s SET chunks = 0, total_length = 0
  WHERE (s.chunks, s.total_length) <> (0, 0) AND NOT EXISTS (
    SELECT FROM counted c WHERE c.field = s.field AND c.policy_id IS NOT DISTINCT FROM s.policy_id
  ) RETURNING 1
), repaired AS (
  INSERT INTO knowledge_lexicalstatistics AS s (field, policy_id, chunks, total_length)
  SELECT field, policy_id, chunks, total_length FROM counted
  ON CONFLICT (field, policy_id) DO UPDATE SET chunks = EXCLUDED.chunks, total_length = EXCLUDED.total_length
  WHERE (s.chunks, s.total_length) <> (EXCLUDED.chunks, EXCLUDED.total_length) RETURNING 1
)
SELECT (SELECT count(*) FROM emptied) + (SELECT count(*) FROM repaired)
"""  # noqa: S608 (both parts are constants)
_PRUNE = """
DELETE FROM knowledge_lexicalterm WHERE id IN (
  SELECT t.id FROM knowledge_lexicalterm t
  WHERE NOT EXISTS (SELECT FROM knowledge_lexicalposting p WHERE p.term_id = t.id)
  FOR UPDATE SKIP LOCKED
)
"""
# Entries without postings would never be found by words.
_LOST = """
SELECT e.chunk_id FROM knowledge_lexicalentry e LEFT JOIN (
  SELECT unnest(ordinals) AS ordinal FROM knowledge_lexicalsegment
) AS s USING (ordinal) WHERE s.ordinal IS NULL ORDER BY e.chunk_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedChunk:
    """What the index keeps of a chunk: its terms, a mark that equal texts share, and whether it lists headings."""

    chunk_id: int
    terms: PassageTerms
    fingerprint: int
    is_contents: bool = False


@dataclass(slots=True, kw_only=True)
class _Columns:
    ordinals: list[int] = field(default_factory=list)
    term_ids: list[int] = field(default_factory=list)
    tfs: list[int] = field(default_factory=list)
    # For each run of postings of one chunk and field: how many, the chunk's number, its length.
    runs: list[tuple[int, int, int]] = field(default_factory=list)

    def packed(self) -> TermPostings:
        counts, ordinals, lengths = (np.array(column, np.int64) for column in zip(*self.runs, strict=True))
        postings = np.empty(len(self.tfs), POSTING)
        postings["ordinal"] = np.repeat(ordinals, counts)
        postings["length"] = np.repeat(np.minimum(lengths, MAX_LENGTH), counts)
        postings["tf"] = np.minimum(self.tfs, MAX_TF)
        return TermPostings(term_ids=np.array(self.term_ids, np.int64), postings=postings)


def write_postings(chunks: Sequence[Chunk], *, title: str, path: str = "") -> None:
    """Index chunks of one document under their words and bigrams; writing twice leaves the same index.

    The document's title and each chunk's heading path count as text of the chunk, and so do the dates in its path
    and the words of its file's name. Several workers may write at once. Inside a caller's transaction call it once:
    terms of a second call could be waited for in a circle.
    """
    store_analysed(
        [
            AnalysedChunk(
                chunk_id=chunk.pk,
                terms=terms_of(chunk, title=title, path=path),
                fingerprint=fingerprint(chunk.content),
                is_contents=is_contents_passage(chunk.section_path, chunk.content),
            )
            for chunk in chunks
        ]
    )


def store_analysed(analysed: Sequence[AnalysedChunk]) -> None:
    """Index chunks whose terms are known already; otherwise as `write_postings`."""
    ids = [one.chunk_id for one in analysed]
    with transaction.atomic(savepoint=False):
        term_ids = make_terms([one.terms for one in analysed])
        totals = _lock_and_delete(ids)
        for policy_id, columns in _make_entries(analysed, term_ids, totals).items():
            write_segment(policy_id, columns.ordinals, columns.packed())
            note_written(columns.ordinals)
        merge_small_segments()
        _add_statistics(totals)


def delete_postings(chunk_ids: Sequence[int]) -> None:
    """Take chunks out of the lexical index; those that are not in it are no error.

    No search that starts later finds them. What is left of their postings goes when segments are merged.
    """
    with transaction.atomic():
        _add_statistics(_lock_and_delete(list(chunk_ids)))


def recount_statistics() -> bool:
    """Count the index again and repair the statistics; return whether they were wrong. Reads every entry."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE knowledge_lexicalstatistics IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute(_RECOUNT)
        return bool(cursor.fetchone()[0])


def lost_entries() -> list[int]:
    """Find the chunks that count as indexed and have no postings; reads the numbers of all. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_LOST)
        return [row[0] for row in cursor.fetchall()]


def outdated_entries(limit: int) -> list[int]:
    """Find chunks whose terms were made by an older edition of the analysis, oldest number first. One query."""
    older = LexicalEntry.objects.filter(analysis__lt=ANALYSIS_EDITION)
    return list(older.order_by("ordinal").values_list("chunk_id", flat=True)[:limit])


def prune_terms() -> int:
    """Remove the terms that no chunk has any more, for a deleted document's words are gone too; gives their number.

    :raises IntegrityError: a worker began to use one of them meanwhile; try again later.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_PRUNE)
        return int(cursor.rowcount)


def _lock_and_delete(chunk_ids: list[int]) -> Totals:
    """Delete the chunks' entries under their locks; gives what the statistics lose by it, as negative numbers."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_CHUNKS, [chunk_ids])
        cursor.execute(_DELETE, [chunk_ids])
        gone = cursor.fetchall()
    totals: Totals = Counter()
    for _ordinal, policy_id, words, bigrams in gone:
        _count(totals, policy_id, (words, bigrams), sign=-1)
    if gone:
        ordinals = [row[0] for row in gone]
        drop_dead_segments(ordinals)
        note_deleted(ordinals)
    return totals


def _make_entries(analysed: Sequence[AnalysedChunk], term_ids: TermIds, totals: Totals) -> dict[int | None, _Columns]:
    """Number the chunks and collect their postings by policy; adds to ``totals`` what the statistics gain."""
    by_id = {one.chunk_id: one for one in analysed}
    lengths = {key: (one.terms.words.total(), one.terms.bigrams.total()) for key, one in by_id.items()}
    words, bigrams = [pair[0] for pair in lengths.values()], [pair[1] for pair in lengths.values()]
    with connection.cursor() as cursor:
        marks, lists = [one.fingerprint for one in by_id.values()], [one.is_contents for one in by_id.values()]
        cursor.execute(_INSERT, [ANALYSIS_EDITION, list(by_id), words, bigrams, marks, lists])
        made = cursor.fetchall()
    groups: dict[int | None, _Columns] = {}
    for chunk_id, ordinal, policy_id in made:
        _count(totals, policy_id, lengths[chunk_id], sign=1)
        _collect(groups.setdefault(policy_id, _Columns()), ordinal, by_id[chunk_id].terms, term_ids)
    return groups


def _collect(columns: _Columns, ordinal: int, terms: PassageTerms, term_ids: TermIds) -> None:
    columns.ordinals.append(ordinal)
    for field_, counts in ((LexicalField.WORD.value, terms.words), (LexicalField.BIGRAM.value, terms.bigrams)):
        columns.term_ids += map(term_ids[field_].__getitem__, counts)
        columns.tfs += counts.values()
        columns.runs.append((len(counts), ordinal, counts.total()))


def _count(totals: Totals, policy_id: int | None, lengths: tuple[int, int], *, sign: int) -> None:
    for field_, length in zip((LexicalField.WORD.value, LexicalField.BIGRAM.value), lengths, strict=True):
        totals[field_, policy_id, "chunks"] += sign * bool(length)
        totals[field_, policy_id, "length"] += sign * length


def _add_statistics(totals: Totals) -> None:
    # In one order, for each row stays locked until the commit.
    keys = sorted({(field_, policy_id) for field_, policy_id, _what in totals}, key=lambda key: (key[0], key[1] or 0))
    changes = [(totals[(*key, "chunks")], totals[(*key, "length")], *key) for key in keys]
    if any(chunks or length for chunks, length, _field, _policy in changes):
        with connection.cursor() as cursor:
            cursor.execute(_MAKE_STATISTICS, [[key[0] for key in keys], [key[1] for key in keys]])
            cursor.executemany(_ADD_STATISTICS, changes)


SLICE_S = 20.0
BATCH = 64


def keep_lexical_index(*, seconds: float = SLICE_S) -> bool:
    """Merge segments and index again what an older edition of the analysis made, for about ``seconds``.

    Short transactions, each complete in itself. True when something is left to do.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not maintain_segments():
            outdated = outdated_entries(BATCH)
            if not outdated:
                return False
            reindex_chunks(outdated)
    return True


def clear_deleted_postings() -> None:
    """Write all segments again that hold postings of deleted chunks."""
    while maintain_segments(purge=True):
        pass


def reindex_chunks(chunk_ids: Sequence[int]) -> None:
    rows = Chunk.objects.filter(pk__in=chunk_ids).select_related("version__document").order_by("version_id", "index")
    for _version_id, group in groupby(rows, key=lambda row: row.version_id):
        chunks = list(group)
        with transaction.atomic():
            document = chunks[0].version.document
            write_postings(chunks, title=document.title, path=document.path)
