"""Brackets and quotation marks: every one has its partner, and stands in the width of the text around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from review.rules.style.base import Mark, Params, unit_rule
from review.rules.style.reading import JAPANESE_LETTER, Unit, UnitKind

_PAIRS = ("「」", "『』", "（）", "()", "［］", "[]", "【】", "〈〉", "《》", "〔〕", "{}", "<>", '""', "''", "“”")
_WIDE = {"(": "（", ")": "）", "[": "［", "]": "］"}
_APOSTROPHE = re.compile(r"(?<=[A-Za-z0-9])'(?=[A-Za-z])|(?<=s)'(?=\s)|'(?=\d0s)")
# Greater and less as signs of comparison or arrows are no brackets.
_NO_ANGLE = re.compile(r"<=|>=|<-|->|=>|<<|>>|(?<=\s)[<>](?=\s)|(?<=\d)\s*[<>]\s*(?=\d)|(?<=\S)\s*[<>]\s*(?=\d)")
# A number or letter in front of a list entry is closed only: 1) a) 例).
_ENTRY = re.compile(r"^[^\S\n]*[0-9０-９A-Za-zａ-ｚア-ン一-十①-⑳]{1,2}[)）]", re.M)


@dataclass(frozen=True, slots=True)
class _Bracket:
    opening: int | None
    closing: int | None


@unit_rule(
    "style.bracket_pair",
    defaults={"pairs": tuple(pair for pair in _PAIRS if pair not in ("''", "“”"))},
    kinds=(UnitKind.BODY, UnitKind.LIST, UnitKind.CELL, UnitKind.CAPTION, UnitKind.HEADING),
    skips_named=True,
)
def bracket_pair(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark brackets without a partner. ``pairs``: those looked at, each as its two characters."""
    text = _without_other_uses(unit.plain)
    for pair in params["pairs"]:
        if pair[0] in text or pair[1] in text:
            for bracket in _match(text, pair):
                at = bracket.opening if bracket.opening is not None else bracket.closing
                if at is not None and (bracket.opening is None or bracket.closing is None):
                    yield Mark(at, at + 1)


@unit_rule("style.bracket_width", defaults={"brackets": ("()", "[]")}, skips_named=True)
def bracket_width(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark half-width brackets whose inside holds Japanese, and single ones next to it. ``brackets``: which."""
    for pair in params["brackets"]:
        for bracket in _match(unit.plain, pair):
            yield from _narrow(unit.plain, bracket)


def _narrow(text: str, bracket: _Bracket) -> Iterator[Mark]:
    if bracket.opening is not None and bracket.closing is not None:
        is_wrong = bool(JAPANESE_LETTER.search(text, bracket.opening, bracket.closing))
    else:
        at = bracket.opening if bracket.opening is not None else bracket.closing or 0
        is_wrong = bool(JAPANESE_LETTER.search(text[max(0, at - 1) : at] + text[at + 1 : at + 2]))
    for position in (bracket.opening, bracket.closing):
        if is_wrong and position is not None:
            yield Mark(position, position + 1, _WIDE[text[position]])


def _match(text: str, pair: str) -> Iterator[_Bracket]:
    if pair[0] == pair[1]:
        places = [match.start() for match in re.finditer(re.escape(pair[0]), text)]
        for index in range(0, len(places), 2):
            yield _Bracket(places[index], places[index + 1] if index + 1 < len(places) else None)
        return
    open_at: list[int] = []
    for match in re.finditer(f"[{re.escape(pair)}]", text):
        if match[0] == pair[0]:
            open_at.append(match.start())
        else:
            yield _Bracket(open_at.pop() if open_at else None, match.start())
    yield from (_Bracket(position, None) for position in open_at)


def _without_other_uses(text: str) -> str:
    for pattern in (_APOSTROPHE, _NO_ANGLE, _ENTRY):
        text = pattern.sub(lambda match: re.sub(r"[<>'()（）]", " ", match[0]), text)
    return text
