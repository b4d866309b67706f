"""The inverted index that BM25 reads: terms, postings, and the statistics kept in step with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from django.db import connection, transaction

from knowledge.backends.analysis import PassageTerms, analyse_passage
from knowledge.models import Chunk, LexicalField

_MAX_TF = 32_767

_LOCK_CHUNKS = "SELECT id FROM knowledge_chunk WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
# Sorted, so that workers which meet in new terms wait for each other in one order and never in a circle.
_INSERT_TERMS = """
INSERT INTO knowledge_lexicalterm (field, text)
SELECT given.field, given.text FROM unnest(%s::smallint[], %s::text[]) AS given (field, text)
WHERE NOT EXISTS (SELECT FROM knowledge_lexicalterm t WHERE t.field = given.field AND t.text = given.text)
ORDER BY given.field, given.text COLLATE "C"
ON CONFLICT (field, text) DO NOTHING
"""
_TERM_IDS = """
SELECT t.field, t.text, t.id FROM knowledge_lexicalterm t
JOIN unnest(%s::smallint[], %s::text[]) AS given (field, text) ON t.field = given.field AND t.text = given.text
"""
_DELETE = """
WITH gone AS (DELETE FROM knowledge_lexicalposting WHERE chunk_id = ANY(%s) RETURNING term_id, chunk_id, length),
counted AS (SELECT DISTINCT t.field, g.chunk_id, g.length FROM gone g JOIN knowledge_lexicalterm t ON t.id = g.term_id)
SELECT field, count(*), sum(length)::bigint FROM counted GROUP BY field
"""
_MAKE_STATISTICS = """
INSERT INTO knowledge_lexicalstatistics (field, chunks, total_length)
SELECT field, 0, 0 FROM unnest(%s::smallint[]) AS given (field) ON CONFLICT (field) DO NOTHING
"""
_ADD_STATISTICS = """
UPDATE knowledge_lexicalstatistics SET chunks = chunks + %s, total_length = total_length + %s WHERE field = %s
"""
_RECOUNT = """
INSERT INTO knowledge_lexicalstatistics AS s (field, chunks, total_length)
SELECT f.field, count(c.chunk_id), coalesce(sum(c.length), 0)
FROM unnest(%s::smallint[]) AS f (field) LEFT JOIN (
  SELECT DISTINCT t.field, p.chunk_id, p.length
  FROM knowledge_lexicalposting p JOIN knowledge_lexicalterm t ON t.id = p.term_id
) AS c ON c.field = f.field
GROUP BY f.field
ON CONFLICT (field) DO UPDATE SET chunks = EXCLUDED.chunks, total_length = EXCLUDED.total_length
WHERE (s.chunks, s.total_length) <> (EXCLUDED.chunks, EXCLUDED.total_length)
"""
_PRUNE = """
DELETE FROM knowledge_lexicalterm WHERE id IN (
  SELECT t.id FROM knowledge_lexicalterm t
  WHERE NOT EXISTS (SELECT FROM knowledge_lexicalposting p WHERE p.term_id = t.id)
  FOR UPDATE SKIP LOCKED
)
"""
Counts = Counter[tuple[int, str]]


def write_postings(chunks: Sequence[Chunk], *, title: str) -> None:
    """Index chunks of one document under their words and bigrams; writing twice leaves the same rows.

    The document's title and each chunk's heading path count as text of the chunk. Several workers may write at
    once. Inside a caller's transaction call it once: terms of a second call could be waited for in a circle.
    """
    analysed = {chunk.pk: analyse_passage(_heading(chunk, title), chunk.content) for chunk in chunks}
    with transaction.atomic():
        term_ids = _make_terms(analysed)
        before = _lock_and_delete(list(analysed))
        _copy_postings(analysed, term_ids)
        _add_statistics(_totals(analysed), before)


def delete_postings(chunk_ids: Sequence[int]) -> None:
    """Take chunks out of the lexical index; those that are not in it are no error."""
    with transaction.atomic():
        before = _lock_and_delete(list(chunk_ids))
        _add_statistics(Counter(), before)


def recount_statistics() -> bool:
    """Count the index again and repair the statistics; tells whether they were wrong. Reads every posting."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE knowledge_lexicalstatistics IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute(_RECOUNT, [LexicalField.values])
        return bool(cursor.rowcount)


def prune_terms() -> int:
    """Remove the terms that no chunk has any more, for a deleted document's words are gone too; gives their number.

    :raises IntegrityError: a worker began to use one of them meanwhile; try again later.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_PRUNE)
        return int(cursor.rowcount)


def _heading(chunk: Chunk, title: str) -> str:
    # The context prefix holds the heading path, and a long table's header.
    return "\n".join([title, chunk.context_prefix or "\n".join(chunk.section_path)])


def _fields(terms: PassageTerms) -> Iterator[tuple[int, Counter[str]]]:
    yield LexicalField.WORD.value, terms.words
    yield LexicalField.BIGRAM.value, terms.bigrams


def _make_terms(analysed: dict[int, PassageTerms]) -> dict[tuple[int, str], int]:
    wanted = {(field, term) for terms in analysed.values() for field, counts in _fields(terms) for term in counts}
    fields, texts = [field for field, _term in wanted], [term for _field, term in wanted]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT_TERMS, [fields, texts])
        cursor.execute(_TERM_IDS, [fields, texts])
        return {(field, text): term_id for field, text, term_id in cursor.fetchall()}


def _lock_and_delete(chunk_ids: list[int]) -> Counts:
    """Delete the chunks' postings under their locks; gives how many chunks and how much length each field lost."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_CHUNKS, [chunk_ids])
        cursor.execute(_DELETE, [chunk_ids])
        lost: Counts = Counter()
        for field, chunks, length in cursor.fetchall():
            lost[field, "chunks"], lost[field, "length"] = chunks, length
        return lost


def _copy_postings(analysed: dict[int, PassageTerms], term_ids: dict[tuple[int, str], int]) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY knowledge_lexicalposting (term_id, chunk_id, tf, length) FROM STDIN") as copy,
    ):
        for chunk_id, terms in analysed.items():
            for field, counts in _fields(terms):
                length = counts.total()
                for term, tf in counts.items():
                    copy.write_row((term_ids[field, term], chunk_id, min(tf, _MAX_TF), length))


def _totals(analysed: dict[int, PassageTerms]) -> Counts:
    totals: Counts = Counter()
    for terms in analysed.values():
        for field, counts in _fields(terms):
            totals[field, "chunks"] += bool(counts)
            totals[field, "length"] += counts.total()
    return totals


def _add_statistics(after: Counts, before: Counts) -> None:
    changes = [
        [after[field, what] - before[field, what] for what in ("chunks", "length")] + [field]
        for field in sorted(LexicalField.values)  # in one order, for each row stays locked until the commit
    ]
    if any(chunks or length for chunks, length, _field in changes):
        with connection.cursor() as cursor:
            cursor.execute(_MAKE_STATISTICS, [LexicalField.values])
            cursor.executemany(_ADD_STATISTICS, changes)
