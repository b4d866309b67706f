"""Whether texts hold a phrase, in SQL: after NFKC, whatever the case of letters, and however lines are broken.

White space counts only between two letters or digits of ASCII, as between English words. What has no width (soft
hyphens, variation selectors) does not. Bringing a text to that form costs ten times as much as looking for a letter, so
texts without one of the phrase's letters, in any spelling that NFKC knows, are left out before. A phrase may begin in
one passage and end in the next: only the texts are read of which the postings of both (`phrase_postings.py`) allow it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from unicodedata import normalize

import numpy as np
from django.db.models import BooleanField, F, Func, Q, QuerySet, TextField, Value

from hub.core.routing import read_connection
from knowledge.models import Chunk
from knowledge.search.phrase_postings import LEAST_DIVIDED, Halves, find_halves, rarest
from knowledge.search.postings import array_literal
from knowledge.search.weighing import KnownTerm, visible_pieces
from knowledge.text.folding import NO_WIDTH, normalise

# Brings a text to the form in which phrases are compared.
SQUEEZED = (
    r"regexp_replace(regexp_replace(lower(normalize({}, NFKC)), '\s+', ' ', 'g'), "
    rf"'(?<![a-z0-9]) | (?![a-z0-9])|[{NO_WIDTH}]', '', 'g')"
)
# Of a phrase so many letters are looked for first, and of all phrases together no more than PostgreSQL can keep
# expressions for in one connection (32).
MOST_LETTERS = 6
LETTERS_OF_ALL = 16
# Letters of which every spelling is known here. Those of later editions of Unicode are outside of its first plane, of
# which any character may be one.
_LETTER = re.compile("[0-9a-z\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff]")
# What NFKC leaves as it is, whatever is around it: kanji make up no other character with what follows.
_STAYS = re.compile(
    "[0-9A-Za-z\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff]*[\u3400-\u4dbf\u4e00-\u9fff]"
)
_FIRST_PLANE = 0x10000
_OTHER_PLANES = "\U00010000-\U0010ffff"
_SURROGATES = range(0xD800, 0xE000)
_HANGUL = range(0xAC00, 0xD7A4)


class _Squeezed(Func):
    arity = 1
    output_field = TextField()
    template = SQUEEZED.format("%(expressions)s")


class _Contains(Func):
    arity = 2
    output_field = BooleanField()
    template = "strpos(%(expressions)s) > 0"


def chunks_holding(chunks: QuerySet[Chunk], phrases: Sequence[str]) -> QuerySet[Chunk]:
    for phrase in phrases:
        # PostgreSQL asks what is cheap first.
        for pattern in letter_patterns(phrase, among=len(phrases)):
            chunks = chunks.filter(content__regex=pattern)
        holds = Q(_Contains(_Squeezed(F("content")), _Squeezed(Value(phrase))))
        if _STAYS.fullmatch(phrase):
            holds = Q(_Contains(F("content"), Value(phrase))) | holds
        chunks = chunks.filter(holds)
    return chunks


def letter_patterns(phrase: str, *, among: int) -> list[str]:
    """Return regular expressions that match every text which holds a phrase: for some of its letters, any spelling.

    Those that are spelt in the fewest ways come first, hiragana, which most texts have, last. Fewer are given of a
    phrase that is one ``among`` several.
    """
    letters = dict.fromkeys(_LETTER.findall(normalise(phrase).lower()))
    # the characters of which one must be in a text that NFKC gives the letter, of either case
    firsts = {letter: normalize("NFKD", letter)[0] for letter in letters}
    spelt = {letter: first + _decomposed().get(first, "") for letter, first in firsts.items()}
    most = min(MOST_LETTERS, max(1, LETTERS_OF_ALL // among))
    chosen = sorted(letters, key=lambda letter: ("\u3041" <= letter <= "\u3096", len(spelt[letter])))[:most]
    return [f"[{spelt[letter]}{_OTHER_PLANES}]" for letter in chosen]


@cache
def _decomposed() -> Mapping[str, str]:
    """Return for each part of others, of either case, which characters it is a part of."""
    found: dict[str, list[str]] = {}
    for point in range(_FIRST_PLANE):
        if point in _SURROGATES or point in _HANGUL:
            continue
        letter = chr(point)
        parts = normalize("NFKD", letter)
        lower = parts.lower()
        if parts == lower == letter:
            continue
        for part in {*parts, *normalize("NFKD", lower)} - {letter}:
            found.setdefault(part, []).append(letter)
    return {part: "".join(letters) for part, letters in found.items()}


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


def chunks_sharing(
    phrases: Sequence[str], groups: Sequence[Sequence[str]], known: Mapping[str, KnownTerm]
) -> list[int]:
    """Find neighbours that have the phrases together, one of them over the border, among what ``known`` was counted in.

    ``groups`` are the terms of phrases in their order, ``known`` those that chunks have. Gives both neighbours. Up to
    three queries.
    """
    halves = _fewest_halves([terms for terms in groups if len(set(terms)) >= LEAST_DIVIDED], known)
    pairs = _neighbours(halves) if halves else []
    return _holding_together(phrases, pairs) if pairs else []


def _fewest_halves(groups: Sequence[Sequence[str]], known: Mapping[str, KnownTerm]) -> Halves | None:
    """Find what may have a half of a phrase, of the one of which the fewest may; None where nothing may."""
    pieces = visible_pieces([term for terms in groups for term in rarest(terms, known)])
    found = [find_halves(terms, known, pieces) for terms in sorted(groups, key=len, reverse=True)]
    fewest = min(found, key=len, default=None)
    return fewest if fewest is not None and len(fewest) else None


def _neighbours(halves: Halves) -> list[tuple[int, int]]:
    """Return the keys of the neighbours of which postings allow that they have the phrase together. One query."""
    with read_connection().cursor() as cursor:
        cursor.execute(_NEIGHBOURS, [array_literal(some.tolist()) for some in (halves.firsts, halves.seconds)])
        rows = np.array(cursor.fetchall(), np.int64).reshape(-1, 4)
    allowed = halves.may_be_pair[halves.terms_of(rows[:, 0]), halves.terms_of(rows[:, 1])]
    return [(first, second) for first, second in rows[allowed, 2:].tolist()]


def _holding_together(phrases: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the keys of those neighbours that have every phrase, one of them over the border. One query."""
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
    with read_connection().cursor() as cursor:
        cursor.execute(sql, [list(phrases), letters, *(array_literal(column) for column in zip(*pairs, strict=True))])
        return sorted({chunk_id for pair in cursor.fetchall() for chunk_id in pair})


def _joined(first: str, *more: str) -> str:
    """Two neighbours' texts as one, without what the second one repeats of the first."""
    rest = ", ".join(["two.content", "greatest(one.end_offset - two.start_offset, 0) + 1", *more])
    between = r"CASE WHEN two.start_offset > one.end_offset THEN E'\n' ELSE '' END"
    return f"({first} || {between} || substr({rest}))"
