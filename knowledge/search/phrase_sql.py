"""Telling in SQL whether texts hold a phrase: after NFKC, whatever the case of letters, and however lines are broken.

White space counts only between two letters or digits of ASCII, as between English words. What has no width (soft
hyphens, variation selectors) does not. Bringing a text to that form costs ten times as much as looking for a letter, so
texts without one of the phrase's letters, in any spelling that NFKC knows, are left out before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from unicodedata import normalize

from django.db.models import BooleanField, F, Func, Q, QuerySet, TextField, Value

from knowledge.models import Chunk
from knowledge.text.folding import normalise
from knowledge.text.variants import NO_WIDTH

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
# What NFKC leaves as it is, whatever stands around it: kanji make up no other character with what follows.
_STAYS = re.compile(
    "[0-9A-Za-z\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff]*[\u3400-\u4dbf\u4e00-\u9fff]"
)
_FIRST_PLANE = 0x10000
_OTHER_PLANES = "\U00010000-\U0010ffff"
_SURROGATES = range(0xD800, 0xE000)
_HANGUL = range(0xAC00, 0xD7A4)


class _Squeezed(Func):
    """A text as phrases are compared: folded, without white space but between words of ASCII."""

    arity = 1
    output_field = TextField()
    template = SQUEEZED.format("%(expressions)s")


class _Contains(Func):
    """That a text has another one in it."""

    arity = 2
    output_field = BooleanField()
    template = "strpos(%(expressions)s) > 0"


def chunks_holding(chunks: QuerySet[Chunk], phrases: Sequence[str]) -> QuerySet[Chunk]:
    """Keep the chunks whose text holds every phrase."""
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
    """Give regular expressions that match every text which holds a phrase: for some of its letters, any spelling.

    Those that are spelt in the fewest ways come first, hiragana, which most texts have, last. Fewer are given of a
    phrase that is one ``among`` several.
    """
    letters = dict.fromkeys(_LETTER.findall(normalise(phrase).lower()))
    spelt = {letter: _spellings_of(letter) for letter in letters}
    most = min(MOST_LETTERS, max(1, LETTERS_OF_ALL // among))
    chosen = sorted(letters, key=lambda letter: ("\u3041" <= letter <= "\u3096", len(spelt[letter])))[:most]
    return [f"[{spelt[letter]}{_OTHER_PLANES}]" for letter in chosen]


def _spellings_of(letter: str) -> str:
    """Give the characters of which one must be in a text that NFKC gives this letter, of either case."""
    first = normalize("NFKD", letter)[0]
    return first + _decomposed().get(first, "")


@cache
def _decomposed() -> Mapping[str, str]:
    """Give for each part of others, of either case, which characters it is a part of."""
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
