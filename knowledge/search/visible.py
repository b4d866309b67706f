"""Which passages of the lexical index a caller may see, so that words are counted in those alone.

A score that counted a word in hidden documents would say how often it is there. PostgreSQL gives each search the
versions that its caller may see, in the search's own snapshot. Which passage is of which version never changes, so this
process keeps it by segment, and counts what each segment says of a term once for each set of versions. Both are found
by what they are made of: callers share a count only where they may see the same versions.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from django.core.exceptions import EmptyResultSet
from numpy.typing import NDArray

from knowledge.models import LexicalField
from knowledge.search.database import INTEGER, read_columns
from knowledge.search.postings import Piece, PieceKey, array_literal, read_pieces
from knowledge.search.reach import Reach

# Of so many sets of versions what was counted is kept, and of each segment's terms so many counts.
KEPT_SETS = 32
KEPT_COUNTS = 20_000
# Passages of segments that nobody names any more are kept beside those that are asked for, up to as many and these.
KEPT_PASSAGES = 100_000
_NOBODYS = 0  # stands for the version of a passage that is not in the index any more

_ENTRIES = """
SELECT s.id AS segments, o.ordinal AS ordinals, coalesce(c.version_id, 0) AS versions,
  coalesce(e.words_length, 0) AS words, coalesce(e.bigrams_length, 0) AS bigrams
FROM knowledge_lexicalsegment s CROSS JOIN LATERAL unnest(s.ordinals) AS o (ordinal)
LEFT JOIN knowledge_lexicalentry e ON e.ordinal = o.ordinal LEFT JOIN knowledge_chunk c ON c.id = e.chunk_id
WHERE s.id = ANY(%s::bigint[]) ORDER BY s.id, o.ordinal
"""
_OF_VERSIONS = """
SELECT e.ordinal AS ordinals FROM knowledge_chunk c JOIN knowledge_lexicalentry e ON e.chunk_id = c.id
WHERE c.version_id = ANY(%s::bigint[])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleVersions:
    """A SELECT of the keys of the versions that a caller may search; a key may be NULL."""

    sql: str
    params: tuple[Any, ...]


class SegmentKey(NamedTuple):
    """A segment, and the transaction that wrote it, as in `PieceKey`."""

    segment_id: int
    written_by: int


@lru_cache(maxsize=256)
def visible_versions(reach: Reach) -> VisibleVersions | None:
    """Compile which versions a caller may search; None for one from whom nothing is hidden. No query."""
    if reach.is_everything:
        return None
    try:
        sql, params = reach.documents().order_by().values("current_version_id").query.sql_with_params()
    except EmptyResultSet:
        return VisibleVersions(sql="SELECT NULL::bigint WHERE false", params=())
    return VisibleVersions(sql=sql, params=tuple(params))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """A segment's passages in columns by ascending number; ``places`` point into its versions, at 0 `_NOBODYS`."""

    ordinals: NDArray[np.int32]
    places: NDArray[np.int32]
    versions: NDArray[np.int64]
    lengths: Mapping[int, NDArray[np.int32]]

    def without(self, versions: NDArray[np.int64], live: NDArray[np.int64]) -> _Segment:
        """Leave out the passages of some versions that are not among those that are in the index still."""
        is_gone = np.isin(self.versions, versions)[self.places] & ~np.isin(self.ordinals, live)
        return replace(self, places=np.where(is_gone, np.int32(0), self.places)) if is_gone.any() else self

    def seen(self, versions: NDArray[np.int64]) -> _SeenSegment:
        of_versions = np.isin(self.versions, versions)
        of_versions[0] = False
        is_seen = of_versions[self.places]
        low = int(self.ordinals[0])
        marks = np.zeros(int(self.ordinals[-1]) - low + 1, bool)
        marks[self.ordinals[is_seen] - low] = True
        own = {name: lengths[is_seen] for name, lengths in self.lengths.items()}
        return _SeenSegment(
            segment=self,
            low=low,
            marks=marks,
            chunks={name: int(np.count_nonzero(lengths)) for name, lengths in own.items()},
            total_length={name: int(lengths.sum()) for name, lengths in own.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SeenSegment:
    """What a segment says of some versions: the marked numbers from ``low`` on, and of each term what was counted."""

    segment: _Segment
    low: int
    marks: NDArray[np.bool_]
    chunks: Mapping[int, int]
    total_length: Mapping[int, int]
    counts: dict[int, int] = field(default_factory=dict)

    def of(self, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        marked: NDArray[np.bool_] = self.marks[numbers - self.low]
        return marked

    def keep(self, term_id: int, count: int) -> None:
        if len(self.counts) >= KEPT_COUNTS:
            self.counts.clear()
        self.counts[term_id] = count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """The passages of a set that a caller may see, by segment."""

    segments: Mapping[int, _SeenSegment]

    def chunks(self, name: int) -> int:
        return sum(one.chunks[name] for one in self.segments.values())

    def total_length(self, name: int) -> int:
        return sum(one.total_length[name] for one in self.segments.values())

    def named(self, keys: Iterable[PieceKey]) -> tuple[PieceKey, ...]:
        """Leave out segments that were merged since they were named, as happens outside of one snapshot."""
        return tuple(key for key in keys if key.segment_id in self.segments)

    def counts(self, keys: Sequence[PieceKey]) -> list[int]:
        """Tell of each of some postings how many are of these passages. At most one query."""
        unknown = [key for key in keys if key.term_id not in self.segments[key.segment_id].counts]
        pieces = read_pieces(unknown) if unknown else {}
        for key in unknown:
            one, piece = self.segments[key.segment_id], pieces.get(key)
            one.keep(key.term_id, int(np.count_nonzero(one.of(piece.ordinals))) if piece else 0)
        counted = [self.segments[key.segment_id].counts.get(key.term_id) for key in keys]
        return [self._again(key) if count is None else count for key, count in zip(keys, counted, strict=True)]

    def _again(self, key: PieceKey) -> int:
        piece = read_pieces([key]).get(key)
        return int(np.count_nonzero(self.segments[key.segment_id].of(piece.ordinals))) if piece else 0

    def keep(self, pieces: Mapping[PieceKey, Piece]) -> dict[PieceKey, Piece]:
        kept = [(key, _at(piece, self.segments[key.segment_id].of(piece.ordinals))) for key, piece in pieces.items()]
        return {key: piece for key, piece in kept if piece is not None}


def _at(piece: Piece, wanted: NDArray[np.bool_]) -> Piece | None:
    if wanted.all():
        return piece
    if not wanted.any():
        return None
    return Piece.of(piece.ordinals[wanted], piece.tfs[wanted], piece.lengths[wanted])


class SeenStore:
    """The segments that this process has read, and what was counted for sets of versions. Safe for threads."""

    def __init__(self) -> None:
        self._segments: OrderedDict[SegmentKey, _Segment] = OrderedDict()
        self._seen: OrderedDict[bytes, dict[SegmentKey, _SeenSegment]] = OrderedDict()
        self._lock = threading.Lock()

    def seen(self, versions: NDArray[np.int64], keys: Sequence[SegmentKey]) -> Seen:
        """Return what segments that a query of the same snapshot named say of some versions. Up to two queries."""
        segments = self._segments_of(keys)
        versions = np.sort(versions)
        packed = versions.tobytes()
        with self._lock:
            known = dict(self._seen.get(packed, {}))
        of_keys = {}
        for key, segment in segments.items():
            one = known.get(key)
            of_keys[key] = one if one and one.segment is segment else segment.seen(versions)
        with self._lock:
            self._seen[packed] = of_keys
            self._seen.move_to_end(packed)
            if len(self._seen) > KEPT_SETS:
                self._seen.popitem(last=False)
        return Seen(segments={key.segment_id: one for key, one in of_keys.items()})

    def clear(self) -> None:
        with self._lock:
            self._segments.clear()
            self._seen.clear()

    def _segments_of(self, keys: Sequence[SegmentKey]) -> dict[SegmentKey, _Segment]:
        with self._lock:
            here = {key: self._segments[key] for key in keys if key in self._segments}
        missing = [key for key in keys if key not in here]
        if not missing:
            return here
        read = _read_segments(missing)
        written = _versions_of(read.values())
        # Who writes a version's passages again gives them new numbers, in a new segment.
        again = np.intersect1d(written, _versions_of(here.values()))
        live = _live_numbers(again)
        known = {key: segment.without(again, live) for key, segment in here.items()} | read
        self._keep(known)
        return known

    def _keep(self, known: Mapping[SegmentKey, _Segment]) -> None:
        with self._lock:
            for key, segment in known.items():
                self._segments[key] = segment
                self._segments.move_to_end(key)
            named = sum(one.ordinals.size for one in known.values())
            passages = sum(one.ordinals.size for one in self._segments.values())
            while passages > 2 * named + KEPT_PASSAGES:
                _key, oldest = self._segments.popitem(last=False)
                passages -= oldest.ordinals.size


def _versions_of(segments: Iterable[_Segment]) -> NDArray[np.int64]:
    versions = np.unique(np.concatenate([np.zeros(0, np.int64), *(one.versions for one in segments)]))
    real: NDArray[np.int64] = versions[versions != _NOBODYS]
    return real


def _live_numbers(versions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Read the numbers of the passages of versions that are in the index. One query, none for no versions."""
    if not versions.size:
        return versions
    columns = read_columns(_OF_VERSIONS, [array_literal(versions.tolist())], {"ordinals": INTEGER})
    live: NDArray[np.int64] = columns["ordinals"]
    return live


def _read_segments(keys: Sequence[SegmentKey]) -> dict[SegmentKey, _Segment]:
    names = ("segments", "ordinals", "versions", "words", "bigrams")
    columns = read_columns(_ENTRIES, [array_literal(key.segment_id for key in keys)], dict.fromkeys(names, INTEGER))
    found: dict[SegmentKey, _Segment] = {}
    for key in keys:
        start, end = np.searchsorted(columns["segments"], [key.segment_id, key.segment_id + 1])
        if start == end:
            continue
        # With the number of nobody's version always at place 0.
        versions, places = np.unique(np.append(_NOBODYS, columns["versions"][start:end]), return_inverse=True)
        found[key] = _Segment(
            ordinals=columns["ordinals"][start:end].astype(np.int32),
            places=places[1:].astype(np.int32),
            versions=versions,
            lengths={
                LexicalField.WORD.value: columns["words"][start:end].astype(np.int32),
                LexicalField.BIGRAM.value: columns["bigrams"][start:end].astype(np.int32),
            },
        )
    return found


store = SeenStore()
