"""Phrases that official and technical writing avoids: redundant, weak, misused, over-polite, kanji for auxiliaries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from hub.core.texts import Text
from knowledge.text.sentences import OPENING
from review.rules.style.base import Params, unit_rule
from review.rules.style.places import Mark
from review.rules.style.reading import Token, Unit

_DATA_FILE = Path(__file__).resolve().parents[2] / "data" / "style.json"
# 表示を行う is 表示する; in テストを行う and 会議を行う the noun names an event.
_KANJI_NOUN = re.compile("[\u4e00-\u9fff]{2,}")
_AND_WORDS = ("及び", "並びに")
_OR_WORDS = ("又は", "若しくは")


@lru_cache(maxsize=1)
def phrases() -> dict[str, tuple[tuple[re.Pattern[str], str | None, Text], ...]]:
    """Return the shipped phrases by class: pattern, replacement if mechanical, and what is wrong with it."""
    data = json.loads(_DATA_FILE.read_text(encoding="utf-8"))
    return {
        name: tuple(
            (re.compile(entry["pattern"]), entry.get("to"), Text(ja=entry["ja"], en=entry["en"])) for entry in entries
        )
        for name, entries in data["phrases"].items()
    }


@unit_rule(
    id="style.redundant",
    title=Text(ja="冗長な表現", en="Redundant expressions"),
    looks_at=Text(
        ja="「することができる」「であると言える」「（サ変名詞）を行う」など、省いても意味が変わらない表現",
        en="することができる, であると言える, 〜を行う: what can be left out without loss",
    ),
    message=Text(ja="「{found}」は冗長です。", en="“{found}” is redundant."),
    defaults={"verbal_nouns": True, "event_nouns": ()},
)
def redundant(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark redundant phrases. ``verbal_nouns``: 〜を行う too; ``event_nouns``: nouns with which that is right."""
    yield from _phrases(unit, "redundant")
    if params["verbal_nouns"]:
        yield from _verbal_nouns(unit, frozenset(params["event_nouns"]))


@unit_rule(
    id="style.weak_phrase",
    title=Text(ja="弱い表現", en="Weak phrases"),
    looks_at=Text(
        ja="「〜と思う」「〜かもしれない」「可能性を示唆する」などの言い切らない表現",
        en="〜と思う, 〜かもしれない and the like",
    ),
    message=Text(ja="「{found}」は言い切らない弱い表現です。", en="“{found}” is a weak phrase."),
)
def weak_phrase(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark phrases that avoid a statement."""
    yield from _phrases(unit, "weak")


@unit_rule(
    id="style.misuse",
    title=Text(ja="誤用", en="Misused words"),
    looks_at=Text(
        ja="「〜ずらい」「可変する」「（〜を）適応する」など、よくある誤用・書き誤り",
        en="common misuses and misspellings",
    ),
    message=Text(ja="「{found}」は誤用です。", en="“{found}” is a misuse."),
)
def misuse(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark misused words."""
    yield from _phrases(unit, "misused")


@unit_rule(
    id="style.honorific",
    title=Text(ja="敬語の誤り", en="Honorifics"),
    looks_at=Text(
        ja="二重敬語、「〜させていただく」の乱用、謙譲語と尊敬語の取り違え",
        en="doubled honorifics, needless させていただく",
    ),
    message=Text(ja="「{found}」は敬語の使い方を見直します。", en="Reconsider the honorific “{found}”."),
)
def honorific(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark wrong honorifics."""
    yield from _phrases(unit, "honorific")


@unit_rule(
    id="style.kana_preferred",
    title=Text(ja="仮名で書く語", en="Words to write in kana"),
    looks_at=Text(
        ja="漢字で書かれた補助動詞・形式名詞・副詞・接続詞（出来る、下さい、〜して頂く、予め、但し など）",
        en="auxiliaries, formal nouns, adverbs and conjunctions in kanji (出来る, 下さい, 予め …)",
    ),
    message=Text(ja="「{found}」は仮名で「{to}」と書きます。", en="Write “{found}” in kana: “{to}”."),
    defaults={"conjunctions": False, "times": False},
)
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


@unit_rule(
    id="style.official_conjunction",
    title=Text(ja="漢字で書く接続詞", en="Conjunctions to write in kanji"),
    looks_at=Text(
        ja="公用文で漢字で書く「及び」「並びに」「又は」「若しくは」の仮名書き",
        en="および, または and the like, which official writing has in kanji",
    ),
    message=Text(ja="公用文では「{found}」を「{to}」と書きます。", en="Official writing has “{to}” for “{found}”."),
    by_default=False,
)
def official_conjunction(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark the four conjunctions in kana."""
    yield from _phrases(unit, "official_conjunctions")


@unit_rule(
    id="style.conjunction_levels",
    title=Text(ja="並びに・若しくはの使い方", en="Levels of 並びに and 若しくは"),
    looks_at=Text(
        ja="「及び」のない文の「並びに」、「又は」のない文の「若しくは」（公用文では段階が 2 つあるときだけ使う）",
        en="並びに without 及び, 若しくは without 又は: official writing uses them for a second level only",
    ),
    message=Text(
        ja="「{found}」は「{to}」があるときの別の段階に使います。「{to}」とします。",
        en="“{found}” needs “{to}” on another level; write “{to}”.",
    ),
)
def conjunction_levels(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark 並びに in sentences without 及び, and 若しくは in those without 又は."""
    for sentence in unit.sentences:
        text = unit.plain[sentence.start : sentence.end]
        for base, upper in (_AND_WORDS, _OR_WORDS):
            if base not in text and (at := text.find(upper)) >= 0:
                yield Mark(sentence.start + at, sentence.start + at + len(upper), base)


def _phrases(unit: Unit, name: str) -> Iterator[Mark]:
    taken: list[tuple[int, int]] = []
    for pattern, to, message in phrases()[name]:
        for match in pattern.finditer(unit.plain):
            start, end = match.span("it") if "it" in pattern.groupindex else match.span()
            if all(end <= first or last <= start for first, last in taken):
                taken.append((start, end))
                yield Mark(start, end, match.expand(to) if to is not None else None, message)


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
