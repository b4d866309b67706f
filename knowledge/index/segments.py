"""Packed postings: their format, writing a segment, and merging small segments into larger ones.

A posting is eight bytes: the chunk's number in the index, how often it has the term, and its number of terms. All
postings of a term in one segment are one row, so that a query reads a handful of rows for each of its terms instead
of one for each chunk. Merging leaves out what was deleted or written again meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

POSTING = np.dtype([("ordinal", ">i4"), ("tf", ">i2"), ("length", ">i2")])
MAX_TF = MAX_LENGTH = 32_767
# So many segments of like size become one: each posting is then written again about log8 of the chunks times.
FAN_IN = 8
# A writer merges what it filled up, up to this size (a fraction of a second); the rest waits for `maintain_segments`.
INLINE_CHUNKS = 4_096
# A segment with a larger share of deleted chunks is written again.
MAX_DEAD_SHARE = 0.2
_ROWS_AT_ONCE = 20_000
# Source: none, any number that no other advisory lock of the hub uses.
_MERGE_LOCK = -7_204

_MAKE_SEGMENT = "INSERT INTO knowledge_lexicalsegment (policy_id, ordinals) VALUES (%s, %s) RETURNING id"
_COPY = "COPY knowledge_lexicalposting (term_id, segment_id, chunks, packed) FROM STDIN (FORMAT BINARY)"
# Source: PostgreSQL's COPY, "Binary Format": signature, flags and extension; rows of sizes and values; the end.
_COPY_START = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_HEAD = np.dtype(
    [
        ("fields", ">i2"),
        *(("term_size", ">i4"), ("term_id", ">i8")),
        *(("segment_size", ">i4"), ("segment_id", ">i8")),
        *(("chunks_size", ">i4"), ("chunks", ">i4")),
        ("packed_size", ">i4"),
    ]
)
_COPY_END = b"\xff\xff"
_TRY_LOCK = "SELECT pg_try_advisory_xact_lock(%s)"
# With the segments' rows locked, so that nobody else removes one of them at the same time.
_SEGMENTS = """
WITH segment AS MATERIALIZED (
  SELECT id, policy_id, ordinals FROM knowledge_lexicalsegment
  WHERE cardinality(ordinals) <= %s FOR UPDATE SKIP LOCKED
)
SELECT s.id, s.policy_id, cardinality(s.ordinals),
  (SELECT count(*) FROM unnest(s.ordinals) AS o (ordinal) JOIN knowledge_lexicalentry e ON e.ordinal = o.ordinal)
FROM segment s ORDER BY s.id
"""
_LIVE = """
SELECT e.ordinal FROM knowledge_lexicalsegment s CROSS JOIN LATERAL unnest(s.ordinals) AS o (ordinal)
JOIN knowledge_lexicalentry e ON e.ordinal = o.ordinal WHERE s.id = ANY(%s) ORDER BY e.ordinal
"""
_ROWS = "SELECT term_id, packed FROM knowledge_lexicalposting WHERE segment_id = ANY(%s) ORDER BY term_id"
_DROP_POSTINGS = "DELETE FROM knowledge_lexicalposting WHERE segment_id = ANY(%s)"
_DROP_SEGMENTS = "DELETE FROM knowledge_lexicalsegment WHERE id = ANY(%s)"
# Whole batches of a deleted document go at once; what merging mixed with others goes with the next merge.
_DEAD_SEGMENTS = """
SELECT s.id FROM knowledge_lexicalsegment s
WHERE cardinality(s.ordinals) <= %s AND s.ordinals && %s::integer[]
  AND NOT EXISTS (SELECT FROM knowledge_lexicalentry e WHERE e.ordinal = ANY(s.ordinals))
FOR UPDATE SKIP LOCKED
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermPostings:
    """Postings in columns of one length, in any order."""

    term_ids: NDArray[np.int64]
    postings: NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    id: int
    policy_id: int | None
    chunks: int
    live: int

    @property
    def tier(self) -> int:
        return int(np.log(max(self.live, 1)) / np.log(FAN_IN) + 1e-9)


def unpack(packed: bytes) -> NDArray[np.void]:
    return np.frombuffer(packed, POSTING)


def write_segment(policy_id: int | None, ordinals: list[int], columns: TermPostings) -> None:
    """Store the postings of new chunks as one segment. Inside the transaction that makes their entries."""
    _write_rows(_make_segment(policy_id, ordinals), columns)


def merge_small_segments() -> None:
    """Merge what a writer's batches have filled up, unless somebody merges already. Inside a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_TRY_LOCK, [_MERGE_LOCK])
        if not cursor.fetchone()[0]:
            return
    while (group := _mergeable(_segments(INLINE_CHUNKS))) and sum(one.live for one in group) <= INLINE_CHUNKS:
        _merge(group)


def drop_dead_segments(ordinals: list[int]) -> None:
    """Remove the small segments of which these chunks were the last ones. Inside a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_DEAD_SEGMENTS, [INLINE_CHUNKS, ordinals])
        _drop([row[0] for row in cursor.fetchall()])


def maintain_segments(*, purge: bool = False) -> int:
    """Do one merge that is due, or write a segment again that has many deleted chunks; gives how many went in.

    With ``purge`` one deleted chunk is enough. Call it until it gives 0. One transaction; a second caller gets 0.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_TRY_LOCK, [_MERGE_LOCK])
        if not cursor.fetchone()[0]:
            return 0
        segments = _segments(2**31 - 1)
        dead_share = 0.0 if purge else MAX_DEAD_SHARE
        wasteful = [one for one in segments if 1 - one.live / max(one.chunks, 1) > dead_share]
        group = _mergeable(segments) or wasteful[:1]
        _merge(group)
        return len(group)


def _segments(largest: int) -> list[_Segment]:
    with connection.cursor() as cursor:
        cursor.execute(_SEGMENTS, [largest])
        return [_Segment(id=key, policy_id=policy, chunks=n, live=live) for key, policy, n, live in cursor.fetchall()]


def _mergeable(segments: list[_Segment]) -> list[_Segment]:
    """Find ``FAN_IN`` segments of one policy and like size, the smallest size first."""
    groups: dict[tuple[int, int | None], list[_Segment]] = {}
    for segment in sorted(segments, key=lambda one: (one.tier, one.id)):
        group = groups.setdefault((segment.tier, segment.policy_id), [])
        group.append(segment)
        if len(group) == FAN_IN:
            return group
    return []


def _merge(group: list[_Segment]) -> None:
    if not group:
        return
    ids = [segment.id for segment in group]
    with connection.cursor() as cursor:
        cursor.execute(_LIVE, [ids])
        live = np.array([row[0] for row in cursor.fetchall()], np.int64)
    if live.size:
        target = _make_segment(group[0].policy_id, live.tolist())
        for columns in _read_rows(ids):
            kept = np.isin(columns.postings["ordinal"], live)
            _write_rows(target, TermPostings(term_ids=columns.term_ids[kept], postings=columns.postings[kept]))
    _drop(ids)


def _read_rows(ids: list[int]) -> Iterator[TermPostings]:
    """Read segments' postings term by term, a bounded number of rows at once; a term is never cut in two."""
    with connection.connection.cursor(name="lexical_merge", binary=True) as cursor:
        cursor.execute(_ROWS, [ids])
        rest: list[tuple[int, bytes]] = []
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            rows = rest + rows
            last = rows[-1][0]
            rest = [row for row in rows[-len(ids) :] if row[0] == last]
            yield _columns(rows[: len(rows) - len(rest)])
        yield _columns(rest)


def _columns(rows: list[tuple[int, bytes]]) -> TermPostings:
    counts = [len(packed) // POSTING.itemsize for _term_id, packed in rows]
    term_ids = np.repeat(np.array([term_id for term_id, _packed in rows], np.int64), counts)
    return TermPostings(term_ids=term_ids, postings=unpack(b"".join(packed for _term_id, packed in rows)))


def _make_segment(policy_id: int | None, ordinals: list[int]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_MAKE_SEGMENT, [policy_id, ordinals])
        return int(cursor.fetchone()[0])


def _write_rows(segment_id: int, columns: TermPostings) -> None:
    if not columns.term_ids.size:
        return
    order = np.lexsort((columns.postings["ordinal"], columns.term_ids))
    term_ids, postings = columns.term_ids[order], columns.postings[order]
    starts = np.flatnonzero(np.diff(term_ids, prepend=-1))
    ends = np.append(starts[1:], len(term_ids))
    heads = np.empty(len(starts), _COPY_HEAD)
    heads["fields"], heads["term_size"], heads["segment_size"], heads["chunks_size"] = 4, 8, 8, 4
    heads["term_id"], heads["segment_id"], heads["chunks"] = term_ids[starts], segment_id, ends - starts
    heads["packed_size"] = (ends - starts) * POSTING.itemsize
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.write(b"".join([_COPY_START, *_interleaved(heads, postings, starts, ends), _COPY_END]))


def _interleaved(
    heads: NDArray[np.void], postings: NDArray[np.void], starts: NDArray[np.intp], ends: NDArray[np.intp]
) -> Iterator[bytes]:
    """Return each row's head and then its postings. Rows made one by one, by the driver, take five times as long."""
    head, packed, size = heads.tobytes(), postings.tobytes(), POSTING.itemsize
    for row, (start, end) in enumerate(zip((starts * size).tolist(), (ends * size).tolist(), strict=True)):
        yield head[row * _COPY_HEAD.itemsize : (row + 1) * _COPY_HEAD.itemsize]
        yield packed[start:end]


def _drop(ids: list[int]) -> None:
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(_DROP_POSTINGS, [ids])
            cursor.execute(_DROP_SEGMENTS, [ids])
