"""敬体と常体: polite and plain style in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from hub.core.texts import Text
from review.rules.style.base import Mark, Params, text_rule
from review.rules.style.reading import Sentence, Token, Unit, UnitKind

_KIND_NAMES = {
    UnitKind.BODY: Text(ja="本文", en="running text"),
    UnitKind.LIST: Text(ja="箇条書き", en="lists"),
    UnitKind.CELL: Text(ja="表", en="tables"),
    UnitKind.CAPTION: Text(ja="図表のキャプション", en="captions"),
    UnitKind.HEADING: Text(ja="見出し", en="headings"),
}
_FINAL_PARTICLES = frozenset({"ね", "よ", "か", "な", "ぞ", "さ", "わ"})
_PLAIN_FORMS = re.compile("終止形|意志推量形")


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

Ending = tuple[Unit, Mark, Tone]


@text_rule(
    "style.mixed_tone",
    defaults={"prefer": "", "plain_ends": "all", "by_group": False},
    kinds=(UnitKind.BODY, UnitKind.LIST, UnitKind.CELL, UnitKind.CAPTION, UnitKind.HEADING),
)
def mixed_tone(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
    """Mark the sentence ends of the rarer style.

    Params: ``prefer`` (ですます or である; the more frequent one when empty), ``plain_ends`` (``all`` ends in plain
    style, or only the ``copula`` である・だ), ``by_group`` (each list by itself).
    """
    groups: dict[object, list[Ending]] = {}
    for unit in units:
        key = (unit.kind, unit.group) if params["by_group"] else unit.kind
        groups.setdefault(key, []).extend(_endings(unit, copula_only=params["plain_ends"] == "copula"))
    for endings in groups.values():
        yield from _minority(endings, _PREFERENCES.get(params["prefer"]))


def tone_of(sentence: Sentence, *, copula_only: bool = False) -> tuple[Tone, Token] | None:
    """Tell the style of a sentence's end and the word that shows it; None when it ends in a noun or says neither."""
    words = [word for word in sentence.words if not (word.pos[0] == "助詞" and word.surface in _FINAL_PARTICLES)]
    if not words:
        return None
    last = words[-1]
    before = words[-2] if len(words) > 1 else None
    if _is_polite(last, before):
        return Tone.POLITE, last
    if _is_copula(words):
        return Tone.PLAIN, last
    is_plain = last.pos[0] in ("動詞", "形容詞", "助動詞") and bool(_PLAIN_FORMS.search(last.pos[5]))
    return (Tone.PLAIN, last) if is_plain and not copula_only else None


def _endings(unit: Unit, *, copula_only: bool) -> Iterator[Ending]:
    for sentence in unit.sentences:
        found = tone_of(sentence, copula_only=copula_only)
        if found and not unit.is_named(found[1].start, found[1].end):
            yield unit, Mark(found[1].start, found[1].end), found[0]


def _minority(endings: list[Ending], preferred: Tone | None) -> Iterator[tuple[Unit, Mark]]:
    polite = sum(1 for _, _, tone in endings if tone is Tone.POLITE)
    # A tie goes to the polite style, which readers of official writing expect.
    wanted = preferred or (Tone.POLITE if 2 * polite >= len(endings) else Tone.PLAIN)
    for unit, mark, tone in endings:
        if tone is not wanted:
            kind = _KIND_NAMES.get(unit.kind, _KIND_NAMES[UnitKind.BODY])
            message = Text(
                ja=f"{kind.ja}は{_NAMES[wanted].ja}に統一します。「{{found}}」は{_NAMES[tone].ja}です。",
                en=f"Keep {kind.en} in {_NAMES[wanted].en}; “{{found}}” is {_NAMES[tone].en}.",
            )
            yield unit, Mark(mark.start, mark.end, message=message)


def _is_polite(last: Token, before: Token | None) -> bool:
    if last.lemma in ("です", "ます"):
        return last.pos[0] == "助動詞"
    if before is not None and before.lemma in ("です", "ます") and last.pos[0] == "助動詞":
        return True
    return last.surface in ("ください", "下さい", "ましょう", "でしょう")


def _is_copula(words: list[Token]) -> bool:
    last = words[-1]
    tail = "".join(word.surface for word in words[-4:])
    if last.lemma == "だ" and last.pos[0] == "助動詞" and last.surface in ("だ", "だろう", "だろ"):
        return True
    return bool(re.search(r"(?:で(?:は|も)?ある|であろう|であった|だった|だろう)$", tail)) and last.pos[0] != "名詞"
