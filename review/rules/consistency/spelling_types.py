"""Spellings of one word that stand side by side in a document."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum

from review.rules.prose import Prose


class Kind(StrEnum):
    """In what way spellings differ."""

    LONG_VOWEL = "long_vowel"
    KANA_KANJI = "kana_kanji"
    OKURIGANA = "okurigana"
    WIDTH = "width"
    CASE = "case"
    HYPHEN = "hyphen"
    KATAKANA = "katakana"
    SYNONYM = "synonym"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spellings:
    """Spellings of one word: each form with its occurrences, the most frequent form first, ties by first place."""

    kind: Kind
    forms: tuple[tuple[str, tuple[Occurrence, ...]], ...]

    @property
    def count(self) -> int:
        return sum(len(places) for _, places in self.forms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One spelling at ``[start, end)``."""

    form: str
    start: int
    end: int


def ranked(kind: Kind, places: dict[str, list[Occurrence]]) -> Spellings:
    ordered = sorted(places.items(), key=lambda item: (-len(item[1]), item[1][0].start))
    return Spellings(kind=kind, forms=tuple((form, tuple(where)) for form, where in ordered))


def is_quoted(offset: int, prose: Prose) -> bool:
    index = bisect_right(prose.quoted, offset, key=lambda stretch: stretch[0]) - 1
    return index >= 0 and offset < prose.quoted[index][1]
