"""Words and phrases: redundant, weak, misused, over-polite, kanji for auxiliaries, one noun in two spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from hub.core.texts import Text
from knowledge.text.sentences import OPENING
from review.rules.base import shipped
from review.rules.style.base import WITH_HEADINGS, Mark, Params, text_rule, unit_rule
from review.rules.style.reading import Token, Unit

# 表示を行う is 表示する; in テストを行う and 会議を行う the noun names an event.
_KANJI_NOUN = re.compile("[\u4e00-\u9fff]{2,}")
_AND_WORDS = ("及び", "並びに")
_OR_WORDS = ("又は", "若しくは")
_IN_KANJI = re.compile("|".join((*_AND_WORDS, *_OR_WORDS)))


@lru_cache(maxsize=1)
def phrases() -> dict[str, tuple[tuple[re.Pattern[str], str | None, Text], ...]]:
    """Return the shipped phrases by class: pattern, replacement if mechanical, and what is wrong with it."""
    return {
        name: tuple(
            (re.compile(entry["pattern"]), entry.get("to"), Text(ja=entry["ja"], en=entry["en"])) for entry in entries
        )
        for name, entries in shipped("style")["phrases"].items()
    }


def _phrases(unit: Unit, name: str) -> Iterator[Mark]:
    taken: list[tuple[int, int]] = []
    for pattern, to, message in phrases()[name]:
        for match in pattern.finditer(unit.plain):
            start, end = match.span("it") if "it" in pattern.groupindex else match.span()
            if all(end <= first or last <= start for first, last in taken):
                taken.append((start, end))
                yield Mark(start, end, match.expand(to) if to is not None else None, message)


def _phrase_rule(rule_id: str, name: str) -> None:
    """Register a rule that marks one class of the shipped phrases."""

    def check(unit: Unit, params: Params) -> Iterator[Mark]:
        return _phrases(unit, name)

    unit_rule(rule_id)(check)


@unit_rule("style.redundant", defaults={"verbal_nouns": True, "event_nouns": ()})
def redundant(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark redundant phrases. ``verbal_nouns``: 〜を行う too; ``event_nouns``: nouns with which that is right."""
    yield from _phrases(unit, "redundant")
    if params["verbal_nouns"]:
        yield from _verbal_nouns(unit, frozenset(params["event_nouns"]))


@unit_rule("style.kana_preferred", defaults={"conjunctions": False, "times": False})
def kana_preferred(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark words that 公用文作成の考え方 and JTF write in kana.

    Params: ``conjunctions`` (及び, 又は and the like too: JTF writes them in kana, official writing in kanji),
    ``times`` (登録した時に too: official writing has 時 for a point of time, とき for a case).
    """
    yield from _phrases(unit, "kana")
    if params["times"]:
        yield from _phrases(unit, "kana_times")
    if params["conjunctions"]:
        yield from _phrases(unit, "kana_conjunctions")


_phrase_rule("style.weak_phrase", "weak")
_phrase_rule("style.misuse", "misused")
_phrase_rule("style.honorific", "honorific")


@text_rule("style.official_conjunction", defaults={"only_mixed": False}, by_default=False)
def official_conjunction(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark および, または and the like. ``only_mixed``: where the text has some of them in kanji, as official writing.

    A text that has all of them in kana keeps to another style guide, such as that of JTF.
    """
    if params["only_mixed"] and not any(_IN_KANJI.search(unit.plain) for unit in units):
        return
    yield from ((unit, mark) for unit in units for mark in _phrases(unit, "official_conjunctions"))


@unit_rule("style.conjunction_levels")
def conjunction_levels(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark 並びに in sentences without 及び, and 若しくは in those without 又は."""
    for sentence in unit.sentences:
        text = unit.plain[sentence.start : sentence.end]
        for base, upper in (_AND_WORDS, _OR_WORDS):
            if base not in text and (at := text.find(upper)) >= 0:
                yield Mark(sentence.start + at, sentence.start + at + len(upper), base)


def _verbal_nouns(unit: Unit, events: frozenset[str]) -> Iterator[Mark]:
    tokens = unit.tokens
    for index in range(2, len(tokens)):
        noun, particle, verb = tokens[index - 2 : index + 1]
        if verb.normal == "行う" and verb.pos[0] == "動詞" and particle.surface == "を" and _is_action(noun, events):
            message = Text(
                ja=f"「{{found}}」は冗長です。「{noun.surface}する」などと書きます。",
                en=f"“{{found}}” is redundant; write “{noun.surface}する”.",
            )
            yield Mark(noun.start, verb.end, message=message)


def _is_action(noun: Token, events: frozenset[str]) -> bool:
    if noun.surface in events or noun.surface[-1:] in OPENING:
        return False
    return noun.pos[2] == "サ変可能" and bool(_KANJI_NOUN.fullmatch(noun.surface))


@text_rule("style.noun_spelling", defaults={"allow": ()}, kinds=WITH_HEADINGS, by_default=False)
def noun_spelling(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark nouns that the text has spelled in another way before. ``allow``: spellings that may differ."""
    first: dict[str, str] = {}
    for unit in units:
        for token in unit.tokens:
            if not _counts(token) or token.surface in params["allow"]:
                continue
            known = first.setdefault(token.normal, token.surface)
            if known != token.surface:
                yield unit, Mark(token.start, token.end, values={"first": known})


def _counts(token: Token) -> bool:
    is_noun = token.is_a("名詞", "普通名詞")
    return is_noun and len(token.surface) > 1 and not any(character.isascii() for character in token.surface)
