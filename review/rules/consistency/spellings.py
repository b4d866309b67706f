"""Occurrences of words grouped by what is the same word, so that different spellings of it come together."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from knowledge.text.folding import normalise
from knowledge.types.documents import Block
from review.rules.consistency.lexemes import HIRAGANA, KANJI, Occurrence, by_lexeme
from review.rules.findings import shipped
from review.rules.morphology import read_words
from review.rules.prose import Prose, read_prose

_KATAKANA_WORD = re.compile(r"[ァ-ヴヷ-ヺー・･ｦ-ﾟ]{2,}")
_LATIN_WORD = re.compile(r"[A-Za-zＡ-Ｚａ-ｚ]+(?:[-‐－][A-Za-zＡ-Ｚａ-ｚ]+)*")
# Parts of file names, paths, variables, versions and markup are names of things, not words.
_PART_OF_NAME = re.compile(r"[A-Za-z0-9_./\\@:#$%&+=<>{}\[\]\-－＿]")
_FOLDED_KANA = str.maketrans("ァィゥェォヵヶッャュョヮヴ", "アイウエオカケツヤユヨワブ", "ー・")
_SHORTEST_KATAKANA = 3


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


def variants(text: str, blocks: tuple[Block, ...], synonyms: Iterable[tuple[str, ...]]) -> tuple[Spellings, ...]:
    """Return the words that this document spells in more than one way, ordered by their first occurrence.

    Quotations in 「」, code, links and identifiers are not looked at; neither are proper names.
    """
    prose = read_prose(text, blocks)
    words = [word for word in read_words(text, blocks) if not _is_quoted(word.start, prose)]
    found = [
        *_collect(by_lexeme(words)),
        *_collect(_katakana(prose)),
        *_collect(_latin(prose)),
        *_named(prose, Kind.SYNONYM, synonyms),
        *_named(prose, Kind.KANA_KANJI, (tuple(forms) for forms in shipped("terminology")["pairs"]["forms"])),
    ]
    return tuple(sorted(_distinct(found), key=lambda each: min(places[0].start for _, places in each.forms)))


def _katakana(prose: Prose) -> Iterator[tuple[str, Occurrence]]:
    """Key runs of katakana without long vowel marks, middle dots, small kana and half width."""
    for match in _KATAKANA_WORD.finditer(prose.masked):
        word = match.group().strip("・･")
        key = normalise(word).translate(_FOLDED_KANA)
        if len(key) >= _SHORTEST_KATAKANA and not _is_quoted(match.start(), prose):
            start = match.start() + match.group().index(word)
            yield key, Occurrence(form=word, start=start, end=start + len(word))


def _latin(prose: Prose) -> Iterator[tuple[str, Occurrence]]:
    """Key Latin words without case, width and hyphens; only those that stand alone beside Japanese.

    In a run of English words capitals follow the rules of titles, parts of names are spelled as the name is, and a
    word alone in a cell may be a value.
    """
    ignored = set(shipped("terminology")["latin"]["ignore"])
    for match in _LATIN_WORD.finditer(prose.masked):
        word = match.group()
        key = re.sub(r"[-‐－]", "", normalise(word)).casefold()
        if (
            len(key) > 1
            and key not in ignored
            and _stands_alone(prose.masked, match)
            and not _is_quoted(match.start(), prose)
        ):
            yield key, Occurrence(form=word, start=match.start(), end=match.end())


def _stands_alone(masked: str, match: re.Match[str]) -> bool:
    before, after = masked[max(0, match.start() - 2) : match.start()], masked[match.end() : match.end() + 2]
    if _PART_OF_NAME.match(before[-1:]) or _PART_OF_NAME.match(after[:1]):
        return False
    beside = f"{before.strip()[-1:]}{after.strip()[:1]}"
    return bool(re.search(r"[ぁ-ヿ一-龯々]", beside)) and not re.search(r"[A-Za-z0-9]", beside)


def _named(prose: Prose, kind: Kind, groups: Iterable[tuple[str, ...]]) -> Iterator[Spellings]:
    for names in groups:
        places: dict[str, list[Occurrence]] = defaultdict(list)
        pattern = _names_pattern(names)
        for match in pattern.finditer(prose.masked):
            if not _is_quoted(match.start(), prose) and not _is_gloss(prose.masked, match, names):
                places[match.group()].append(Occurrence(form=match.group(), start=match.start(), end=match.end()))
        # ユーザ beside ユーザー is a matter of the long vowel mark, found as such.
        if len({name.replace("ー", "") for name in places}) > 1:
            yield _ranked(kind, places)


@lru_cache(maxsize=256)
def _names_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Match whole names only: ユーザ is not in ユーザビリティ, nor e-mail in e-mailing."""
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    katakana, latin = "[ァ-ヴー]", "[A-Za-z]"
    return re.compile(
        rf"(?<!{katakana})(?<!{latin})(?:{alternatives})"
        rf"(?:(?<={katakana})(?!{katakana})|(?<={latin})(?!{latin})|(?<!{katakana})(?<!{latin}))"
    )


def _is_gloss(masked: str, match: re.Match[str], names: tuple[str, ...]) -> bool:
    """In 単体テスト（ユニットテスト） the second name explains the first; that is no mixing."""
    before = masked[: match.start()].rstrip()
    if before[-1:] not in ("（", "("):
        return False
    return any(before[:-1].rstrip().endswith(name) for name in names)


def _collect(keyed: Iterable[tuple[str, Occurrence]]) -> Iterator[Spellings]:
    groups: dict[str, dict[str, list[Occurrence]]] = defaultdict(lambda: defaultdict(list))
    for key, occurrence in keyed:
        groups[key][occurrence.form].append(occurrence)
    for forms in groups.values():
        if len(forms) > 1:
            yield _ranked(_kind(tuple(forms)), forms)


def _ranked(kind: Kind, places: dict[str, list[Occurrence]]) -> Spellings:
    ordered = sorted(places.items(), key=lambda item: (-len(item[1]), item[1][0].start))
    return Spellings(kind=kind, forms=tuple((form, tuple(where)) for form, where in ordered))


def _kind(forms: tuple[str, ...]) -> Kind:
    folded = {normalise(form) for form in forms}
    if len(folded) == 1:
        return Kind.WIDTH
    if all(form.replace("-", "").isascii() for form in folded):
        return Kind.CASE if len({form.replace("-", "") for form in folded}) == len(folded) else Kind.HYPHEN
    if len({form.replace("ー", "") for form in folded}) == 1:
        return Kind.LONG_VOWEL
    if all(_KATAKANA_WORD.fullmatch(form) for form in folded):
        return Kind.KATAKANA
    if len({HIRAGANA.sub("", form) for form in folded}) == 1:
        return Kind.OKURIGANA
    return Kind.KANA_KANJI if any(not KANJI.search(form) for form in folded) else Kind.OTHER


def _distinct(found: list[Spellings]) -> Iterator[Spellings]:
    """Drop a group that only repeats places of a larger one: ユーザ/ユーザー inside ユーザID/ユーザーID."""
    covered: set[int] = set()
    for group in sorted(found, key=lambda each: (-each.count, each.forms[0][0])):
        places = {position for _, where in group.forms for each in where for position in range(each.start, each.end)}
        rarer = {each.start for _, where in group.forms[1:] for each in where}
        if not rarer <= covered:
            covered |= places
            yield group


def _is_quoted(offset: int, prose: Prose) -> bool:
    index = bisect_right(prose.quoted, offset, key=lambda stretch: stretch[0]) - 1
    return index >= 0 and offset < prose.quoted[index][1]
