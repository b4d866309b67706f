"""Polite and plain style in one text: what the writer says, and what a screen says to its user."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from hub.core.texts import Text
from review.rules.style.base import WITH_HEADINGS, Mark, Params, text_rule
from review.rules.style.reading import Sentence, Token, Unit, UnitKind, repeated

_KIND_NAMES = {
    UnitKind.BODY: Text(ja="本文", en="running text"),
    UnitKind.LIST: Text(ja="箇条書き", en="lists"),
    UnitKind.CELL: Text(ja="表", en="tables"),
    UnitKind.CAPTION: Text(ja="図表のキャプション", en="captions"),
    UnitKind.HEADING: Text(ja="見出し", en="headings"),
}
_FINAL_PARTICLES = frozenset({"ね", "よ", "か", "な", "ぞ", "さ", "わ"})
_PLAIN_FORMS = re.compile("終止形|意志推量形")
_POLITE_LEMMAS = ("です", "ます")
_QUOTED = re.compile(r"「(?:[^「」]|「[^「」]*+」)*+」|『[^『』]*』|“[^“”]*”|\"[^\"]*\"")
# What a program fills in: {itemId}, {品目名}.
_FILLED = re.compile(r"\{[^{}\s]{1,40}\}")
_ASKED = re.compile(r"ください|下さい|(?:ます|ません|です|ました)か(?=[。？?]|$)")
_TOLD = re.compile(rf"ました|ません|ましょう|でした|{_ASKED.pattern}")


class Tone(StrEnum):
    POLITE = "polite"
    PLAIN = "plain"


_NAMES = {
    Tone.POLITE: Text(ja="敬体（です・ます調）", en="polite style"),
    Tone.PLAIN: Text(ja="常体（である調）", en="plain style"),
}
# What a caller may write for the parameter ``prefer``.
_PREFERENCES = {"ですます": Tone.POLITE, "敬体": Tone.POLITE, "である": Tone.PLAIN, "常体": Tone.PLAIN} | {
    tone.value: tone for tone in Tone
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    unit: Unit
    mark: Mark
    tone: Tone
    is_told: bool
    """What a screen tells its user: a report, a request, a question, or polite words without a full stop."""


@text_rule("style.mixed_tone", defaults={"prefer": "", "plain_ends": "all", "by_group": False}, kinds=WITH_HEADINGS)
def mixed_tone(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark the sentence ends of the rarer style, among the writer's own.

    Params: ``prefer`` (ですます or である; the more frequent one when empty), ``plain_ends`` (``all`` ends in plain
    style, or only the ``copula`` である・だ), ``by_group`` (each list by itself).
    """
    groups: dict[object, list[_Ending]] = {}
    for unit, endings in _by_writer(units, copula_only=params["plain_ends"] == "copula"):
        key = (unit.kind, unit.group) if params["by_group"] else unit.kind
        groups.setdefault(key, []).extend(endings)
    for endings in groups.values():
        yield from _minority(endings, _PREFERENCES.get(params["prefer"]))


def tone_of(sentence: Sentence, *, copula_only: bool = False) -> tuple[Tone, Mark] | None:
    """Return the style of a sentence's end and the words that show it; None when it ends in a noun or says neither."""
    words = [word for word in sentence.words if not (word.pos[0] == "助詞" and word.surface in _FINAL_PARTICLES)]
    if not words:
        return None
    last = words[-1]
    before = words[-2] if len(words) > 1 else None
    if _is_polite(last, before):
        first = before if before is not None and before.lemma in _POLITE_LEMMAS else last
        return Tone.POLITE, Mark(first.start, last.end)
    if _is_copula(words):
        return Tone.PLAIN, Mark(last.start, last.end)
    is_plain = last.pos[0] in ("動詞", "形容詞", "助動詞") and bool(_PLAIN_FORMS.search(last.pos[5]))
    return (Tone.PLAIN, Mark(last.start, last.end)) if is_plain and not copula_only else None


def _by_writer(units: tuple[Unit, ...], *, copula_only: bool) -> Iterator[tuple[Unit, list[_Ending]]]:
    """Yield the units with the ends of their sentences, those apart that a screen says to its user.

    Of a table whose polite cells mostly are such messages, all are. What is said word for word again and again is one.
    """
    names = repeated(units)
    read = [(unit, list(_endings(unit, copula_only=copula_only))) for unit in units if unit.plain.strip() not in names]
    polite: Counter[int] = Counter()
    messages: Counter[int] = Counter()
    for unit, endings in read:
        if unit.kind is UnitKind.CELL and endings and all(each.tone is Tone.POLITE for each in endings):
            polite[unit.group] += 1
            messages[unit.group] += _is_message(unit, endings)
    for unit, endings in read:
        is_among_messages = 2 * messages[unit.group] > polite[unit.group]
        if is_among_messages and all(each.tone is Tone.POLITE for each in endings):
            continue
        if not _is_message(unit, endings):
            yield unit, endings


def _is_message(unit: Unit, endings: list[_Ending]) -> bool:
    """Tell whether all of a cell, an item or a paragraph is said to a user; a heading is the writer's."""
    if unit.kind is UnitKind.HEADING or not endings or any(each.tone is not Tone.POLITE for each in endings):
        return False
    if _FILLED.search(unit.plain):
        return True
    is_asked = any(_ASKED.match(unit.plain, each.mark.start) for each in endings)
    return is_asked or (any if unit.kind is UnitKind.CELL else all)(each.is_told for each in endings)


def _endings(unit: Unit, *, copula_only: bool) -> Iterator[_Ending]:
    # What stands in quotation marks, as a message on a screen does, has not the writer's tone.
    quoted = {position for match in _QUOTED.finditer(unit.plain) for position in range(*match.span())}
    for sentence in unit.sentences:
        found = tone_of(sentence, copula_only=copula_only)
        if found and not unit.is_named(found[1].start, found[1].end) and found[1].start not in quoted:
            tone, mark = found
            said = unit.plain[mark.start : sentence.end]
            is_told = tone is Tone.POLITE and (_TOLD.match(said) is not None or "。" not in said)
            yield _Ending(unit=unit, mark=mark, tone=tone, is_told=is_told)


def _minority(endings: list[_Ending], preferred: Tone | None) -> Iterator[tuple[Unit, Mark]]:
    polite = sum(1 for each in endings if each.tone is Tone.POLITE)
    # A tie goes to the polite style, which readers of official writing expect.
    wanted = preferred or (Tone.POLITE if 2 * polite >= len(endings) else Tone.PLAIN)
    for each in endings:
        if each.tone is not wanted:
            kind = _KIND_NAMES.get(each.unit.kind, _KIND_NAMES[UnitKind.BODY])
            message = Text(
                ja=f"{kind.ja}は{_NAMES[wanted].ja}に統一します。「{{found}}」は{_NAMES[each.tone].ja}です。",
                en=f"Keep {kind.en} in {_NAMES[wanted].en}; “{{found}}” is {_NAMES[each.tone].en}.",
            )
            yield each.unit, Mark(each.mark.start, each.mark.end, message=message)


def _is_polite(last: Token, before: Token | None) -> bool:
    if last.lemma in _POLITE_LEMMAS:
        return last.pos[0] == "助動詞"
    if before is not None and before.lemma in _POLITE_LEMMAS and last.pos[0] == "助動詞":
        return True
    return last.surface in ("ください", "下さい", "ましょう", "でしょう")


def _is_copula(words: list[Token]) -> bool:
    last = words[-1]
    tail = "".join(word.surface for word in words[-4:])
    if last.lemma == "だ" and last.pos[0] == "助動詞" and last.surface in ("だ", "だろう", "だろ"):
        return True
    return bool(re.search(r"(?:で(?:は|も)?ある|であろう|であった|だった|だろう)$", tail)) and last.pos[0] != "名詞"
