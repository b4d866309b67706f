"""Phrases that begin in one passage and end in the next one.

Postings say which passages may have a half (`phrase_split.py`). Their neighbours are asked of PostgreSQL, and only the
texts are read of which the postings of both allow it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
from django.db import connection

from knowledge.search.phrase_postings import rarest
from knowledge.search.phrase_split import LEAST_DIVIDED, Halves, find_halves
from knowledge.search.phrase_sql import SQUEEZED, letter_patterns
from knowledge.search.postings import array_literal
from knowledge.search.weighing import KnownTerm, visible_pieces

MARGIN = 40
_TWO_NEIGHBOURS = """
SELECT a.ordinal, b.ordinal, a.chunk_id, b.chunk_id FROM unnest(%s::integer[]) AS given (ordinal)
JOIN knowledge_lexicalentry {given} ON {given}.ordinal = given.ordinal
JOIN knowledge_chunk here ON here.id = {given}.chunk_id
JOIN knowledge_chunk there
  ON there.version_id = here.version_id AND there.policy_id = here.policy_id AND there.index = here.index {step}
JOIN knowledge_lexicalentry {other} ON {other}.chunk_id = there.id
"""
_NEIGHBOURS = " UNION ".join(
    [
        _TWO_NEIGHBOURS.format(given="a", other="b", step="+ 1"),
        _TWO_NEIGHBOURS.format(given="b", other="a", step="- 1"),
    ]
)
# They are told by the text around their border; those that share a phrase are read whole, for the other phrases.
_HAVING = """
WITH phrase (text, letters) AS MATERIALIZED (
  SELECT {phrase}, ARRAY(SELECT jsonb_array_elements_text(given.letters))
  FROM unnest(%s::text[], %s::jsonb[]) AS given (text, letters)
)
SELECT one.id, two.id FROM unnest(%s::bigint[], %s::bigint[]) AS pair (first, second)
JOIN knowledge_chunk one ON one.id = pair.first JOIN knowledge_chunk two ON two.id = pair.second
WHERE CASE WHEN EXISTS (
    SELECT FROM phrase WHERE CASE WHEN {border} ~ ALL (phrase.letters) THEN strpos({squeezed}, phrase.text) > 0 END
  ) THEN (SELECT bool_and(strpos({together}, phrase.text) > 0) FROM phrase) END
"""


def chunks_sharing(phrases: Sequence[str], told: Sequence[Sequence[str]], known: Mapping[str, KnownTerm]) -> list[int]:
    """Find neighbours that have the phrases together, one of them over the border, among what ``known`` was counted in.

    ``told`` are the terms of phrases in their order, ``known`` those that chunks have. Both neighbours are given. Up to
    three queries.
    """
    halves = _fewest_halves([terms for terms in told if len(set(terms)) >= LEAST_DIVIDED], known)
    pairs = _neighbours(halves) if halves else []
    return _having(phrases, pairs) if pairs else []


def _fewest_halves(told: Sequence[Sequence[str]], known: Mapping[str, KnownTerm]) -> Halves | None:
    """Find what may have a half of a phrase, of the one of which the fewest may; None where nothing may."""
    pieces = visible_pieces([term for terms in told for term in rarest(terms, known)])
    found = [find_halves(terms, known, pieces) for terms in sorted(told, key=len, reverse=True)]
    fewest = min(found, key=len, default=None)
    return fewest if fewest is not None and len(fewest) else None


def _neighbours(halves: Halves) -> list[tuple[int, int]]:
    """Give the keys of the neighbours of which postings allow that they have the phrase together. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_NEIGHBOURS, [array_literal(some.tolist()) for some in (halves.firsts, halves.seconds)])
        rows = np.array(cursor.fetchall(), np.int64).reshape(-1, 4)
    allowed = halves.may_be_pair[halves.terms_of(rows[:, 0]), halves.terms_of(rows[:, 1])]
    return [(first, second) for first, second in rows[allowed, 2:].tolist()]


def _having(phrases: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Give the keys of those neighbours that have every phrase, one of them over the border. One query."""
    # White space that does not count may stretch a phrase in its text.
    width = str(2 * max(map(len, phrases)) + MARGIN)
    border = _joined(f"right(one.content, {width})", width)
    sql = _HAVING.format(
        phrase=SQUEEZED.format("given.text"),
        border=border,
        squeezed=SQUEEZED.format(border),
        together=SQUEEZED.format(_joined("one.content")),
    )
    letters = [json.dumps(letter_patterns(phrase, among=len(phrases))) for phrase in phrases]
    with connection.cursor() as cursor:
        cursor.execute(sql, [list(phrases), letters, *(array_literal(column) for column in zip(*pairs, strict=True))])
        return sorted({chunk_id for pair in cursor.fetchall() for chunk_id in pair})


def _joined(first: str, *more: str) -> str:
    """Two neighbours' texts as one, without what the second one repeats of the first."""
    rest = ", ".join(["two.content", "greatest(one.end_offset - two.start_offset, 0) + 1", *more])
    between = r"CASE WHEN two.start_offset > one.end_offset THEN E'\n' ELSE '' END"
    return f"({first} || {between} || substr({rest}))"
